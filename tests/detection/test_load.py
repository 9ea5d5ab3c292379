"""The detector's rule files: good ones become values, bad ones are refused with every mistake and its place."""

from __future__ import annotations

import pytest

from bot.detection.load import load_detection, load_shipped_detection, parse_detection
from bot.detection.rules import CueMeaning, FeedbackType, unpack_weights
from bot.gates.packs import rules_directory
from bot.gates.problems import RuleFileError

GOOD = """\
version: 1
lists:
  fails: fail fails
words:
  negations: no not
  hypotheticals: if
  questions: does
actions:
  runtime_error:
    - action: add_context
      description: Add the error
      template: "Given the error: {error_message}"
  verification_failure: []
  user_rejection: []
  partial_success: []
structures:
  - structure: signal
    says: runtime_error
    strength: strong
    signal: error message included
    reason: It was killed.
    example: Segmentation fault
    pattern: (?i)segmentation fault
cues:
  - cue: tests_fail
    says: verification_failure
    strength: weak
    reason: It says so.
    example: The tests fail.
    phrases: |
      tests {fails}
      failing
kinds:
  fail: fail fails
  stop: fails stops
"""
MORE = "version: 1\ncues: []\n"
TABLE = "#bias\t0\t0\t0\t0\t150\n"


def parsed(main=GOOD, more=MORE, table=TABLE):
    return parse_detection(
        [(main.encode(), "detection.yml"), (more.encode(), "more.yml")], (table.encode(), "w.tsv")
    )


def problems(**changed: str) -> list[str]:
    with pytest.raises(RuleFileError) as refused:
        parsed(**changed)
    return [str(problem) for problem in refused.value.problems]


def test_a_good_file_becomes_values():
    rules = parsed()
    assert (
        rules.lists,
        rules.negations,
        [(cue.name, cue.says, cue.strong, cue.phrases) for cue in rules.cues],
        [structure.name for structure in rules.structures],
        [action.name for action in rules.actions[FeedbackType.RUNTIME_ERROR]],
        rules.learnt.kinds,
        unpack_weights(rules.learnt.facts["#bias"]),
    ) == (
        {"fails": ("fail", "fails")},
        {"no", "not"},
        [("tests_fail", CueMeaning.VERIFICATION_FAILURE, False, ("tests {fails}", "failing"))],
        ["signal"],
        ["add_context"],
        {"fail": "{fail}", "fails": "{fail}", "stops": "{stop}"},
        (0, 0, 0, 0, 150),
    )


def test_a_further_file_adds_cues():
    cues = GOOD[GOOD.index("  - cue:") : GOOD.index("kinds:")]
    more = MORE.replace("[]", "\n" + cues.replace("tests_fail", "again"))
    assert [cue.name for cue in parsed(more=more).cues] == ["tests_fail", "again"]


def test_the_shipped_rules_have_the_documents_twelve_actions():  # rows 221-236
    assert {
        kind: [action.name for action in listed] for kind, listed in load_shipped_detection().actions.items()
    } == {
        "runtime_error": ["add_context", "add_constraint", "request_approach"],
        "verification_failure": ["add_test_context", "specify_behavior", "request_validation"],
        "user_rejection": ["request_clarification", "narrow_scope", "offer_alternatives"],
        "partial_success": ["focus_on_gap", "add_targeted_constraint", "request_incremental_fix"],
    }


def test_the_shipped_rules_are_those_of_the_directory():
    assert load_shipped_detection() == load_detection(rules_directory())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "strength: weak",
            "strength: big",
            'detection.yml:27:15: cues[0].strength is "big"; use one of strong, weak',
        ),
        (
            "reason: It says so.",
            "reasons: x",
            "detection.yml:28:5: cues[0].reasons is unknown; did you mean reason?",
        ),
        (
            "tests {fails}",
            "tests {nothing}",
            "detection.yml:31:5: cues[0].phrases has 'tests {nothing}': there is no list {nothing}; see the language",
        ),
        (
            "(?i)segmentation",
            "(?<=a)seg",
            "detection.yml:23:14: structures[0].pattern is no expression of RE2",
        ),
        (
            "fails: fail fails",
            "fails: [a]",
            "detection.yml:3:10: lists.fails is a list; write words, with spaces between",
        ),
        ("version: 1\nlists", "version: 2\nlists", "detection.yml:1:10: version is 2; use 1"),
        (
            "  user_rejection: []\n",
            "",
            "detection.yml:8:1: actions is missing user_rejection; required: runtime_error,",
        ),
        (
            "  user_rejection: []",
            "  user_rejection: 3",
            "detection.yml:14:19: actions.user_rejection is 3; give each entry action, description, template",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place_and_what_is_allowed(old, new, said):
    assert any(problem.startswith(said) for problem in problems(main=GOOD.replace(old, new)))


def test_every_mistake_is_named_at_once():
    bad = GOOD.replace("strength: weak", "strength: big").replace("tests {fails}", "(")
    assert [problem.split(":")[1] for problem in problems(main=bad, table="bias\t1\n")] == ["27", "31", "1"]


@pytest.mark.parametrize("column", ["x", "1.5", "1_0", " 5 ", "+5", "٣", "9999999", "", "1\t2"])
def test_a_broken_table_names_its_line(column):
    assert problems(table=f"bias\t0\t0\t0\t0\t0\nword\t0\t0\t0\t0\t{column}\n") == [
        "w.tsv:2:1: the line is no feature with its weights; a feature and 5 whole numbers, with tabs between"
    ]
