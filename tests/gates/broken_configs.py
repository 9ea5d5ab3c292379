"""Configs with mistakes in their keys and values, and the exact lines that each gets."""

# name of the mistake: (the file, the lines without the file's name)
CONFIGS = {
    "an unknown section": (
        "comments:\n  enabled: true\n",
        [
            "1:1: comments is unknown; did you mean comment? One of version, extends, gates, validators, authors, overrides, comment, check, history, weekly, iterations, grounding, quality, detection"
        ],
    ),
    "an unknown key": (
        "comment:\n  sugestions: true\n",
        [
            "2:3: comment.sugestions is unknown; did you mean suggestions? One of enabled, when, repost, suggestions, labels, document"
        ],
    ),
    "a key without likeness": (
        "check:\n  colour: red\n",
        ["2:3: check.colour is unknown; use one of when, enabled"],
    ),
    "another version": (
        "version: 2\n",
        ["1:10: version is 2; use 1"],
    ),
    "true for one": (
        "version: true\n",
        ["1:10: version is true; use 1"],
    ),
    "nought for off": (
        "gates: {date_errors: 0}\n",
        ["1:22: gates.date_errors is 0; use off, or a mapping with keys of the gate"],
    ),
    "too many entries": (
        f"history: {{periods: {list(range(1, 7))}}}",
        ["1:11: history.periods has 6 entries; at most 5"],
    ),
    "yes for true": (
        "comment:\n  enabled: yes\n",
        ['2:12: comment.enabled is "yes"; use true or false'],
    ),
    "quoted truth": (
        'check:\n  enabled: "true"\n',
        ['2:12: check.enabled is "true"; use true or false'],
    ),
    "an empty section": (
        "comment:\n",
        ["1:9: comment is empty; use a mapping"],
    ),
    "a section that is a list": (
        "comment: [enabled]\n",
        ["1:10: comment is a list; use a mapping"],
    ),
    "a word for a number": (
        "iterations:\n  max: five\n",
        ['2:8: iterations.max is "five"; use an integer from 1 to 50'],
    ),
    "a number out of range": (
        "iterations:\n  max: 0\n",
        ["2:8: iterations.max is 0; use an integer from 1 to 50"],
    ),
    "a fraction": (
        "iterations:\n  max: 2.5\n",
        ["2:8: iterations.max is 2.5; use an integer from 1 to 50"],
    ),
    "an octal number": (
        "grounding:\n  reads: 010\n",
        ['2:10: grounding.reads is "010"; use an integer from 0 to 50'],
    ),
    "a share above one": (
        "iterations:\n  threshold: 70\n",
        ["2:14: iterations.threshold is 70; use a number from 0 to 1"],
    ),
    "a wrong choice": (
        "validators:\n  permission: owner\n",
        ['2:15: validators.permission is "owner"; use one of read, triage, write, maintain, admin'],
    ),
    "a wrong day": (
        "weekly:\n  day: Monday\n",
        [
            '2:8: weekly.day is "Monday"; did you mean monday? One of monday, tuesday, wednesday, thursday, friday, saturday, sunday'
        ],
    ),
    "a time without zero": (
        "weekly:\n  time: 9:00\n",
        ['2:9: weekly.time is "9:00"; use hours and minutes, such as "09:00"'],
    ),
    "no time zone": (
        "weekly:\n  timezone: Berlin\n",
        [
            '2:13: weekly.timezone is "Berlin", which is not a known time zone; use an IANA name, such as UTC or Europe/Berlin'
        ],
    ),
    "a mention": (
        "authors:\n  agents: ['@rio']\n",
        ['2:12: authors.agents[0] is "@rio"; use a login without @'],
    ),
    "a mention twice": (
        "authors:\n  agents: ['@rio', '@rio']\n",
        [
            '2:12: authors.agents[0] is "@rio"; use a login without @',
            '2:20: authors.agents[1] is "@rio"; use a login without @',
            '2:20: authors.agents[1] repeats "@rio"; list each value once',
        ],
    ),
    "a login twice": (
        "validators:\n  users: [alice, alice]\n",
        ['2:18: validators.users[1] repeats "alice"; list each value once'],
    ),
    "no periods": (
        "history:\n  periods: []\n",
        ["2:3: history.periods has 0 entries; at least 1"],
    ),
    "an unknown pack": (
        "extends: [knowledge_base]\n",
        [
            "1:11: extends[0] is knowledge_base, which is not a pack; did you mean knowledge-base? One of code-review, knowledge-base"
        ],
    ),
    "a tag of one word": (
        "gates:\n  style: off\n",
        [
            '2:3: gates: the key is "style"; use at least two lower-case words joined by _, at most 64 characters, such as tests_missing'
        ],
    ),
    "an unknown gate switched off": (
        "gates:\n  date_error: off\n",
        ["2:3: gates.date_error is not in any pack; did you mean date_errors?"],
    ),
    "half a new gate": (
        "gates:\n  licence_missing:\n    gate: Licence\n    severity: blocking\n",
        [
            "2:3: gates.licence_missing is not in any pack and lacks description, fix, auto_fixable; a new gate needs gate, description, fix, severity, auto_fixable"
        ],
    ),
    "neither off nor keys": (
        "gates:\n  date_errors: disabled\n",
        ['2:16: gates.date_errors is "disabled"; use off, or a mapping with keys of the gate'],
    ),
    "a wrong severity": (
        "gates:\n  date_errors:\n    severity: hi\n",
        ['3:15: gates.date_errors.severity is "hi"; use one of blocking, warning'],
    ),
    "a short fix": (
        "gates:\n  date_errors:\n    fix: Fix it.\n",
        ["3:10: gates.date_errors.fix has 7 characters; use one line of 20 to 1000 characters"],
    ),
    "a fix of two lines": (
        "gates:\n  date_errors:\n    fix: |\n      Write the date as YYYY-MM-DD.\n      Then push.\n",
        [
            '3:10: gates.date_errors.fix is "Write the date as YYYY-MM-DD.\\nThen push…"; use one line of 20 to 1000 characters'
        ],
    ),
    "a guide outside": (
        "gates:\n  date_errors:\n    guide: https://example.org/guide\n",
        [
            '3:12: gates.date_errors.guide is "https://example.org/guide"; use a path in the repository, such as CONTRIBUTING.md#tests'
        ],
    ),
    "look-around": (
        "gates:\n  date_errors:\n    phrases: ['/date(?!s)/']\n",
        [
            "3:15: gates.date_errors.phrases[0] is not a valid RE2 regular expression (invalid perl operator: (?!); RE2 has no look-around, back-references or long repeats"
        ],
    ),
    "a bomb": (
        "gates:\n  date_errors:\n    phrases: ['/((a{100}){100}){100}/']\n",
        [
            "3:15: gates.date_errors.phrases[0] is not a valid RE2 regular expression (invalid repetition size: {100}); RE2 has no look-around, back-references or long repeats"
        ],
    ),
    "a check for a tag of no gate": (
        "validators:\n  checks:\n    validate: [date_error]\n",
        [
            "3:16: validators.checks.validate[0] is date_error, which is not the tag of any gate; did you mean date_errors?"
        ],
    ),
    "a check without tags": (
        "validators:\n  checks:\n    validate: date_errors\n",
        [
            '3:15: validators.checks.validate is "date_errors"; use a list of tags, or the keys tags, annotations, kind'
        ],
    ),
    "an annotation for a tag of no gate": (
        "validators:\n  checks:\n    lint: {annotations: {line too long: line_length}}\n",
        [
            "3:41: validators.checks.lint.annotations.line too long is line_length, which is not the tag of any gate; use an existing tag, or add a gate for it under gates"
        ],
    ),
    "a tool's rule for a tag of no gate, and an unknown choice": (
        "validators:\n  rules: {E501: code_styles}\n  unmapped: fail\n",
        [
            "2:17: validators.rules.E501 is code_styles, which is not the tag of any gate; did you mean code_style?",
            '3:13: validators.unmapped is "fail"; use one of warn, block, ignore',
        ],
    ),
    "SARIF for a tag of no gate": (
        "validators:\n  sarif: {E501: code_styles}\n",
        [
            "2:17: validators.sarif.E501 is code_styles, which is not the tag of any gate; did you mean code_style?"
        ],
    ),
    "a band upside down": (
        "iterations:\n  diff_size: {min: 500, max: 100}\n",
        ["2:15: iterations.diff_size.min is 500, iterations.diff_size.max is 100; min must not exceed max"],
    ),
    "a claim in two lists": (
        "grounding:\n  grounding_rules:\n    mandatory_grounding: [git_state]\n    recommended_grounding: [git_state]\n",
        ["4:29: recommended_grounding and mandatory_grounding both name git_state; list it in one of them"],
    ),
    "a cue without a type": (
        "detection:\n  cues:\n    - phrase: not in scope\n",
        ["3:7: detection.cues[0] is missing type; required: type, phrase"],
    ),
    "an example without its phrase": (
        "detection:\n  cues:\n    - type: user_rejection\n      phrase: back to the drawing board\n      example: This has not got it.\n",
        [
            '5:16: detection.cues[0].example does not contain its phrase "back to the drawing board"; write a sentence that contains the phrase, outside code and quotes'
        ],
    ),
    "an example that is part of a longer word": (
        "detection:\n  cues: [{type: user_rejection, phrase: out of scope, example: Out of scopes.}]\n",
        [
            '2:64: detection.cues[0].example does not contain its phrase "out of scope"; write a sentence that contains the phrase, outside code and quotes'
        ],
    ),
    "an example that the expression does not match": (
        "detection:\n  cues:\n    - {type: runtime_error, phrase: '/goes? kaputt/', example: It goes kaputt.}\n    - {type: runtime_error, phrase: '/goes? kaputt/', example: It went kaputt.}\n",
        [
            '4:64: detection.cues[1].example does not contain its phrase "/goes? kaputt/"; write a sentence that contains the phrase, outside code and quotes'
        ],
    ),
    "an example that quotes its phrase": (
        "detection:\n  cues:\n    - {type: runtime_error, phrase: goes kaputt, example: It says `goes kaputt`.}\n",
        [
            '3:59: detection.cues[0].example does not contain its phrase "goes kaputt"; write a sentence that contains the phrase, outside code and quotes'
        ],
    ),
    "an example of a phrase that can't be looked for": (
        "detection:\n  cues:\n    - {type: runtime_error, phrase: '/(a/', example: It goes kaputt.}\n",
        [
            "3:37: detection.cues[0].phrase is not a valid RE2 regular expression (missing ): (a); RE2 has no look-around, back-references or long repeats"
        ],
    ),
    "several at once": (
        "version: two\ncomment: {enabled: on}\nweekly: {day: mon}\ngates: {date_erors: off}\n",
        [
            '1:10: version is "two"; use 1',
            '2:20: comment.enabled is "on"; use true or false',
            '3:15: weekly.day is "mon"; use one of monday, tuesday, wednesday, thursday, friday, saturday, sunday',
            "4:9: gates.date_erors is not in any pack; did you mean date_errors?",
        ],
    ),
}
