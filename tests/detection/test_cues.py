"""Every cue and every structure is what its example says it is."""

from __future__ import annotations

import pytest

from bot.detection.evidence import gather_evidence
from bot.detection.load import shipped_detection_rules
from bot.detection.rules import FeedbackType

RULES = shipped_detection_rules()


@pytest.mark.parametrize("cue", RULES.cues, ids=lambda cue: cue.name)
def test_the_example_of_a_cue_holds_the_cue(cue):
    matches = [match for match in gather_evidence(cue.example, RULES).matches if match.name == cue.name]
    assert [match.note for match in matches][:1] == [""]


@pytest.mark.parametrize("structure", RULES.structures, ids=lambda structure: structure.name)
def test_the_example_of_a_structure_shows_it(structure):
    shown = gather_evidence(f"```\n{structure.example}\n```", RULES).shown
    assert structure.name in {one.structure.name for one in shown}


def test_no_two_cues_have_the_same_name():
    names = [one.name for one in (*RULES.cues, *RULES.structures)]
    assert len(names) == len(set(names))


def test_every_type_has_its_actions():
    assert {kind: len(RULES.actions[kind]) for kind in FeedbackType} == dict.fromkeys(FeedbackType, 3)


DOCUMENT = {  # the lists of document 004, word for word, and the row of each
    "document_runtime_1": "error exception failed crash traceback stacktrace segfault panic",  # row 199
    "document_runtime_2": "exit code 1|exit code 42|non-zero exit|command failed",  # row 200
    "document_runtime_3": "undefined|null pointer|type error|syntax error",  # row 201
    "document_verification": "test failed|tests failing|assertion failed|validation error|schema mismatch"
    "|type check failed|build failed|compile error|lint error",  # rows 202 to 204
    "document_verification_greedy": "expect the total to|should be four but",  # row 202
    "document_rejection_1": "wrong|incorrect|not what I|try again|that's not|No,",  # row 205
    "not_working": "doesn't work|won't work|not working|still broken|doesn’t work",  # row 206
    "misunderstood": "completely wrong|misunderstood|missed the point",  # row 207
    "document_partial": "almost|close but|except for|mostly|nearly|just need to|one thing|small change"
    "|minor issue",  # rows 208 and 209
    "almost_there": "good but|works but|fine except",  # row 210
}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (name, words)
        for name, listed in DOCUMENT.items()
        for words in (listed.split("|") if "|" in listed else listed.split())
    ],
)
def test_the_documents_own_patterns_are_base_cues(name, words):
    assert name in {match.name for match in gather_evidence(words, RULES).matches}
