"""Files that hold no keys and values at all, and the exact lines that each gets."""

# name of the mistake: (the file, the lines without the file's name)
FILES = {
    "an empty file": (
        "",
        ["1:1: the file is empty; write keys with values, such as `version: 1`"],
    ),
    "only a comment": (
        "# nothing yet\n",
        ["1:1: the file is empty; write keys with values, such as `version: 1`"],
    ),
    "a list": (
        "- comment\n",
        ["1:1: the file is not a mapping; write keys with values, such as `version: 1`"],
    ),
    "a single word": (
        "comment\n",
        ["1:1: the file is not a mapping; write keys with values, such as `version: 1`"],
    ),
    "too large": (
        "#" * 65_537,
        ["1:1: the file is too large; at most 65536 bytes"],
    ),
    "not UTF-8": (
        b"version: 1\ncomment: \xff\n",
        ["2:10: byte 0xff is not UTF-8; save the file as UTF-8"],
    ),
    "a NUL": (
        "version: 1\nextends: [\0]\n",
        ["2:11: the character U+0000 is not printable; remove it"],
    ),
    "an escaped NUL": (
        'gates:\n  date_errors: {guide: "a\\0"}\n',
        ["2:24: the character U+0000 is not printable; remove it"],
    ),
    "a tab": (
        "comment:\n\tenabled: true\n",
        ["2:1: a tab indents this line; indent with spaces"],
    ),
    "an open list": (
        "extends: [knowledge-base\n",
        ["2:1: not valid YAML: did not find expected ',' or ']'; check indentation, quotes and colons"],
    ),
    "an open quote": (
        'weekly:\n  time: "09:00\n',
        ["3:1: not valid YAML: found unexpected end of stream; check indentation, quotes and colons"],
    ),
    "two values": (
        "weekly: time: 09:00\n",
        [
            "1:13: not valid YAML: mapping values are not allowed in this context; check indentation, quotes and colons"
        ],
    ),
    "two documents": (
        "version: 1\n---\nversion: 1\n",
        ["2:1: a second YAML document starts here; use one document per file"],
    ),
    "too deep": (
        "gates: " + "[" * 20 + "]" * 20,
        ["1:23: nested too deeply; use at most 16 levels"],
    ),
    "an alias": (
        "comment: &off {enabled: false}\ncheck: *off\n",
        [
            "1:10: the anchor &off is not supported; write the value out where it is used",
            "2:8: the alias *off is not supported; write the value out",
        ],
    ),
    "a merge key": (
        "comment:\n  <<: {enabled: false}\n",
        ["2:3: the merge key << is not supported; write the keys out"],
    ),
    "a type": (
        "version: !!int 1\n",
        ["1:10: the YAML tag !!int is not supported; remove it"],
    ),
    "a list as key": (
        "? [comment]\n: {}\n",
        ["1:3: a key can't be a list or a mapping; use a string as the key"],
    ),
    "a key twice": (
        "comment: {enabled: true}\ncheck: {enabled: true}\ncomment: {enabled: false}\n",
        ["3:1: comment is set twice; keep one (first set in line 1)"],
    ),
    "a nested key twice": (
        "gates:\n  date_errors:\n    severity: warning\n    severity: blocking\n",
        ["4:5: gates.date_errors.severity is set twice; keep one (first set in line 3)"],
    ),
}
