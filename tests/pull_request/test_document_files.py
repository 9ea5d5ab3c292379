"""Reading a feedback file: the value, and where each part of it stands."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.pull_request.documents import (
    MAX_DOCUMENT_SIZE,
    TextPosition,
    UnreadableDocument,
    parse_json,
    read_feedback_file,
)

JSON = """{
  "feedback_items": [
    {"issue": "naïve; maybe `maybe` \\u2014 maybe"}
  ]
}
"""
YAML = """\
# a comment
feedback_items:
- issue: plain words
  suggestion:
    action: >-
      You
      might rename it
  when: 2026-01-25T15:00:00Z
  answer: no
  number: 42
  share: 0.5
  tagged: !!str 42
  quoted: "42"
  nothing: ~
  truth: true
"""
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def problem(data, name="f"):
    with pytest.raises(UnreadableDocument) as caught:
        read_feedback_file(data if isinstance(data, bytes) else data.encode(), name)
    return str(caught.value)


def paths(value, path=()):
    yield path, value
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from paths(part, (*path, key))


@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_json_is_read_as_python_reads_it_with_the_place_of_every_part(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    parsed = parse_json(text)
    assert parsed.value == value
    assert {path: json.loads(text[slice(*parsed.spans[path])]) for path in parsed.spans} == dict(paths(value))


def test_a_part_of_json_has_its_line_and_column():
    file = read_feedback_file(JSON.encode(), "f.json")
    assert file.position(("feedback_items", 0, "issue")) == TextPosition(3, 15)


def test_a_missing_part_stands_where_it_would_belong():
    file = read_feedback_file(JSON.encode(), "f.json")
    assert file.position(("feedback_items", 0, "location", "reference")) == TextPosition(3, 5)


def test_words_have_their_own_column_also_when_they_occur_more_than_once():
    file = read_feedback_file(JSON.encode(), "f.json")
    path = ("feedback_items", 0, "issue")
    places = [file.words(path, start, start + 5) for start in (7, 14, 23)]
    assert places == [TextPosition(3, 23), TextPosition(3, 30), TextPosition(3, 44)]


def test_words_that_the_file_spells_otherwise_stand_where_their_text_starts():
    file = read_feedback_file(rb'{"a": "m\u0061ybe"}', "f.json")
    assert file.words(("a",), 0, 5) == TextPosition(1, 7)


def test_yaml_is_read_with_the_plain_words_of_its_newer_version():
    file = read_feedback_file(YAML.encode(), "f.yml")
    assert file.value == {
        "feedback_items": [
            {
                "issue": "plain words",
                "suggestion": {"action": "You might rename it"},
                "when": "2026-01-25T15:00:00Z",
                "answer": "no",
                "number": 42,
                "share": 0.5,
                "tagged": "42",
                "quoted": "42",
                "nothing": None,
                "truth": True,
            }
        ]
    }


def test_words_folded_over_two_lines_of_yaml_have_their_place():
    file = read_feedback_file(YAML.encode(), "f.yml")
    assert file.words(("feedback_items", 0, "suggestion", "action"), 0, 9) == TextPosition(6, 7)
    assert file.position(("feedback_items", 0, "issue")) == TextPosition(3, 10)


def test_windows_line_ends_and_a_byte_order_mark_count_as_nothing():
    file = read_feedback_file(b"\xef\xbb\xbf" + YAML.replace("\n", "\r\n").encode(), "f.yml")
    assert file.position(("feedback_items", 0, "number")) == TextPosition(10, 11)


@pytest.mark.parametrize(("name", "text"), [("stdin", "{a: 1}"), ("f.JSON", "a: 1")])
def test_json_is_known_by_its_name_or_its_first_sign(name, text):
    assert problem(text, name).startswith(f"{name}:1:")


def test_yaml_may_start_like_json_where_the_name_says_so():
    assert read_feedback_file(b"{a: 1}", "f.yaml").value == {"a": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "f: empty; write an actionable-feedback document in JSON or YAML"),
        (" \n ", "f: empty; write an actionable-feedback document in JSON or YAML"),
        (b"\xff", "f: not UTF-8 text (byte 1)"),
        (
            b" " * (MAX_DOCUMENT_SIZE + 1),
            "f: 1,048,577 bytes are too many; use at most 1,048,576",
        ),
        ('{"a": 1,}', "f:1:8: a comma before the closing bracket"),
        ("[1\n,,]", "f:2:2: expected a value: an object, a list, a text in double quotes, a number"),
        ('{"a" 1}', "f:1:6: expected ':'"),
        ('{"a": 1 "b": 2}', "f:1:9: expected ','"),
        ('{"a": "x}', "f:1:7: unterminated string starting"),
        ('{"a": 01}', "f:1:7: expected a value: an object, a list, a text in double quotes, a number"),
        ('{"a": NaN}', "f:1:7: expected a value: an object, a list, a text in double quotes, a number"),
        ("{a: 1}", "f:1:2: expected a key in double quotes, or }"),
        ('{"a": 1, "a": 2}', "f:1:10: the key 'a' appears twice"),
        ('{"a": 1} {', "f:1:10: more text after the end of the document"),
        ("[" * 100_000, "f:1:52: nested more than 50 levels deep"),
        (
            '{"a": ' + "9" * 5000 + "}",
            "f:1:7: expected a value: an object, a list, a text in double quotes, a number",
        ),
        ("# nothing", "f:1:1: nothing but comments"),
        ("a: b: c", "f:1:5: mapping values are not allowed in this context"),
        ("a: &x 1\nb: *x", "f:2:4: aliases are not supported; write the value out"),
        ("a: !!python/object:os.system x", "f:1:4: tags are not supported; write the plain value"),
        ("a: 1\na: 2", "f:2:1: the key 'a' appears twice"),
        ("? [a]\n: b", "f:1:3: a key must be a plain word"),
        ("--- 1\n--- 2\n", "f:2:1: a second document; use one per file"),
        ("a: " + "[" * 100_000, "f:1:54: nested more than 50 levels deep"),
        ('a: "\x01"', "f:1:5: a character that YAML does not allow"),
    ],
)
def test_what_can_not_be_read_says_where_and_why(text, words):
    assert problem(text) == words
