"""Packs with mistakes, and the exact lines that each gets."""

GATE = """\
pack: house
gates:
  tests_missing:
    gate: Tests
    description: There is no test for this behaviour
    fix: Add a test that fails without the change.
    severity: blocking
    auto_fixable: false
"""

# name of the mistake: (the file, the lines without the file's name)
PACK_FILES = {
    "no gates": (
        "pack: house\n",
        ["1:1: the file is missing gates; required: pack, gates"],
    ),
    "no gate at all": (
        "pack: house\ngates: {}\n",
        ["2:1: gates has 0 entries; at least 1"],
    ),
    "another name": (
        GATE.replace("pack: house", "pack: home"),
        ['1:7: pack is "home"; use the file\'s name, house'],
    ),
    "a name with a space": (
        GATE.replace("pack: house", "pack: My house"),
        [
            '1:7: pack is "My house"; use the file\'s name, house',
            '1:7: pack is "My house"; use lower-case words joined by -',
        ],
    ),
    "a missing key": (
        GATE.replace("    severity: blocking\n", ""),
        [
            "3:3: gates.tests_missing is missing severity; required: gate, description, fix, severity, auto_fixable"
        ],
    ),
    "a key of a config": (
        GATE + "validators: {}\n",
        ["9:1: validators is unknown; use one of pack, gates"],
    ),
    "an unknown key": (
        GATE + "    exmples: []\n",
        [
            "9:5: gates.tests_missing.exmples is unknown; did you mean examples? One of gate, subject, description, fix, lesson, severity, auto_fixable, aspect, guide, phrases, examples, priority"
        ],
    ),
    "a switched off gate": (
        "pack: house\ngates:\n  tests_missing: off\n",
        ['3:18: gates.tests_missing is "off"; use a mapping'],
    ),
    "a wrong aspect": (
        GATE + "    aspect: testing\n",
        [
            '9:13: gates.tests_missing.aspect is "testing"; use one of correctness, completeness, clarity, consistency, efficiency, security, style, documentation, testability, maintainability'
        ],
    ),
    "a priority of none": (
        GATE + "    priority: 0\n",
        ["9:15: gates.tests_missing.priority is 0; use an integer from 1 to 10"],
    ),
    "half an example": (
        GATE + "    examples:\n      - bad: assert True\n",
        ["10:9: gates.tests_missing.examples[0] is missing good; required: bad, good"],
    ),
    "a phrase of two letters": (
        GATE + "    phrases: [no]\n",
        [
            "9:15: gates.tests_missing.phrases[0] has 2 characters; use 3 to 200 characters in one line: plain words, or a regular expression between slashes"
        ],
    ),
    "an upper case tag": (
        GATE.replace("tests_missing", "Tests_Missing"),
        [
            '3:3: gates: the key is "Tests_Missing"; use at least two lower-case words joined by _, at most 64 characters, such as tests_missing'
        ],
    ),
    "no truth value": (
        GATE.replace("false", "no"),
        ['8:19: gates.tests_missing.auto_fixable is "no"; use true or false'],
    ),
    "two gates wrong": (
        GATE.replace("blocking", "fatal") + "  docs_missing: {gate: Docs}\n",
        [
            '7:15: gates.tests_missing.severity is "fatal"; use one of blocking, warning',
            "9:3: gates.docs_missing is missing description, fix, severity, auto_fixable; required: gate, description, fix, severity, auto_fixable",
        ],
    ),
}
