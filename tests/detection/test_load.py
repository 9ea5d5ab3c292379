"""The detector's rule files: good ones become values, bad ones are refused with every mistake and its place."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bot.detection.load import parse_detection, shipped_detection_rules
from bot.detection.rules import (
    CueMeaning,
    FeedbackType,
    LearnedModel,
    StructureMatcher,
    pack_weights,
    unpack_weights,
)
from bot.gates.problems import RuleFileError

GOOD = """\
version: 1
kinds:
  fail: fail fails
  stop: fails stops
words:
  negations: no not
  hypotheticals: if
  questions: does
  elsewhere: if
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
    signal: error message included
    example: Segmentation fault
    pattern: (?i)segmentation fault
cues:
  - cue: tests_fail
    says: verification_failure
    example: The tests fail.
    phrases: |
      tests {fail}
      failing
"""
MODEL = "#shown-from:user_rejection\t0.8\n#bias\t80808080ff\ntest\t8090807f80\n"


def parsed(rules=GOOD, model=MODEL):
    return parse_detection((rules.encode(), "detection.yml"), (model.encode(), "model.tsv"))


def problems(**changed: str) -> list[str]:
    with pytest.raises(RuleFileError) as refused:
        parsed(**changed)
    return [str(problem) for problem in refused.value.problems]


def test_a_good_file_becomes_values():
    rules = parsed()
    assert (
        rules.negations,
        [(cue.name, cue.says, cue.phrases) for cue in rules.cues],
        [structure.name for structure in rules.structures],
        [action.name for action in rules.actions[FeedbackType.RUNTIME_ERROR]],
        rules.kind_of,
        rules.model.weights,
        rules.model.shown_from,
    ) == (
        {"no", "not"},
        [("tests_fail", CueMeaning.VERIFICATION_FAILURE, ["tests {fail}", "failing"])],
        ["signal"],
        ["add_context"],
        {"fail": "{fail}", "fails": "{fail}", "stops": "{stop}"},  # a word of two kinds is of the first
        {
            "#bias": pack_weights(bytes.fromhex("80808080ff")),
            "test": pack_weights(bytes.fromhex("8090807f80")),
        },
        {FeedbackType.USER_REJECTION: 0.8},
    )


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("tests {fail}", "tests {none}", "29:5: cues[0].phrases has 'tests {none}': there is no kind {none}"),
        ("failing\n", "(fail\n", "30:5: cues[0].phrases has '(fail': a choice is not closed"),
        ("failing\n", "fail)\n", "30:5: cues[0].phrases has 'fail)': ) is outside a choice"),
        ("failing\n", "((a|b)|c)\n", "30:5: cues[0].phrases has '((a|b)|c)': a choice is inside a choice"),
        ("failing\n", "..\n", "30:5: cues[0].phrases has '..': it has no word"),
        ("(?i)segmentation fault", "(", "23:14: structures[0].pattern is not a valid RE2 expression"),
        ("says: verification_failure", "says: maybe", "26:11: cues[0].says"),
    ],
)
def test_a_mistake_is_named_with_its_place(old, new, where):
    assert problems(rules=GOOD.replace(old, new))[0].startswith(f"detection.yml:{where}")


def test_a_phrase_with_too_many_variants_is_refused():
    phrase = "(a b|c d|e f|g h|i j|k l|) " * 3
    assert "variants" in problems(rules=GOOD.replace("failing\n", f"{phrase}\n"))[0]


@pytest.mark.parametrize(
    "line",
    ["word", "word\t80", "word\t80808080zz", "word\t808080808080", "#shown-from:other\t1",
     "#shown-from:user_rejection\tx", "#shown-from:user_rejection\t0"],
)  # fmt: skip
def test_a_line_of_the_model_that_is_no_feature_is_refused(line):
    assert problems(model=f"{MODEL}{line}\n")[0].startswith("model.tsv:4:1: the line is not a feature")


@pytest.mark.parametrize("columns", ["0000000000", "ffffffffff", "8080808080", "00ff80017f"])
def test_the_weights_of_a_feature_come_back_from_one_number(columns):
    assert unpack_weights(pack_weights(bytes.fromhex(columns))).hex() == columns


def test_the_weights_of_many_features_add_up_column_by_column():
    rows = {"lowest": "0000000000", "highest": "ffffffffff", "mixed": "00ff80017f"}
    model = LearnedModel({name: pack_weights(bytes.fromhex(columns)) for name, columns in rows.items()})
    assert model.total(["mixed", "highest", "nowhere"]) == [-1, 254, 127, 0, 126]
    assert model.total(["lowest"] * 100_000) == [-12_800_000] * 5
    assert model.total(()) == [0] * 5


def test_the_shipped_model_is_small():
    assert 1_000 < len(shipped_detection_rules().model.weights) < 12_000


@pytest.mark.parametrize(
    ("raw", "confidence"), [(0.0, 0.0), (0.4, 0.3), (0.8, 0.6), (1.055, 0.775), (1.31, 0.95), (2.0, 0.95)]
)
def test_a_confidence_grows_with_the_probability_and_is_shown_from_the_types_own(raw, confidence):
    model = parsed().model
    assert model.calibrate(FeedbackType.USER_REJECTION, raw) == pytest.approx(confidence)


def test_a_process_that_sees_no_plain_words_never_loads_the_detector():
    code = (
        "import sys; from bot.turn.rule_book import build_rule_book; build_rule_book(*[None] * 4); "
        "from bot.detection.load import shipped_detection_rules; "
        "sys.exit(shipped_detection_rules.cache_info().currsize)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603


def test_every_expression_that_is_there_is_found_once_in_their_order():
    assert StructureMatcher(["b+", "x", "(?m)^a"]).find("c\nabb b") == [(0, "bb"), (2, "a")]
    assert (StructureMatcher(["b+"]).find("é"), StructureMatcher([]).find("b")) == ([], [])
    assert StructureMatcher("abcdefghijklmn").find("n g \ud800 f") == [(5, "f"), (6, "g"), (13, "n")]
