"""Every cue and every structure is what its example says it is."""

from __future__ import annotations

import pytest

from bot.detection.detector import detect
from bot.detection.evidence import TYPES, gather_evidence
from bot.detection.load import load_shipped_detection
from bot.detection.rules import CueMeaning

RULES = load_shipped_detection()
CONTEXT = (CueMeaning.HARMLESS, CueMeaning.SETTLED, CueMeaning.UNRELATED, CueMeaning.NEUTRAL)


@pytest.mark.parametrize("cue", RULES.cues, ids=lambda cue: cue.name)
def test_the_example_of_a_cue_holds_the_cue(cue):
    number = RULES.cues.index(cue)
    sentences = gather_evidence(cue.example, RULES).sentences
    assert number in {cue for sentence in sentences for cue, _, _ in RULES.lexicon.find(sentence.words)}


@pytest.mark.parametrize(
    "cue", [cue for cue in RULES.cues if cue.says not in CONTEXT], ids=lambda cue: cue.name
)
def test_nothing_in_the_example_takes_the_cue_away(cue):
    matches = [match for match in gather_evidence(cue.example, RULES).matches if match.name == cue.name]
    assert any(match.points for match in matches)


@pytest.mark.parametrize("cue", [cue for cue in RULES.cues if cue.says in TYPES], ids=lambda cue: cue.name)
def test_the_example_of_a_cue_is_understood_as_what_the_cue_says(cue):
    assert detect(cue.example, RULES).type == cue.says


@pytest.mark.parametrize("structure", RULES.structures, ids=lambda structure: structure.name)
def test_the_example_of_a_structure_shows_it(structure):
    shown = gather_evidence(f"```\n{structure.example}\n```", RULES).shown
    assert structure.name in {one.structure.name for one in shown}


@pytest.mark.parametrize("cue", RULES.cues, ids=lambda cue: cue.name)
def test_every_cue_says_why_it_is_there(cue):
    assert (cue.reason[-1:], cue.phrases != ()) == (".", True)


def test_no_two_cues_have_the_same_name():
    names = [one.name for one in (*RULES.cues, *RULES.structures)]
    assert len(names) == len(set(names))


DOCUMENT = {  # the lists of document 004, word for word, and the row of each
    "document_runtime_1": "error exception failed crash traceback stacktrace segfault panic",  # row 199
    "document_runtime_2": "exit code 1|exit code 42|non-zero exit|command failed",  # row 200
    "document_runtime_3": "undefined|null pointer|type error|syntax error",  # row 201
    "document_verification_1": "test failed|tests failing|assertion failed",  # row 202
    "document_verification_greedy": "expect the total to|should be four but",  # row 202
    "document_verification_2": "validation error|schema mismatch|type check failed",  # row 203
    "document_verification_3": "build failed|compile error|lint error",  # row 204
    "document_rejection_1": "wrong|incorrect|not what I|try again|that's not|No,",  # row 205
    "document_rejection_2": "doesn't work|won't work|not working|still broken|doesn’t work",  # row 206
    "document_rejection_3": "completely wrong|misunderstood|missed the point",  # row 207
    "document_partial_1": "almost|close but|except for|mostly|nearly",  # row 208
    "document_partial_2": "just need to|one thing|small change|minor issue",  # row 209
    "document_partial_3": "good but|works but|fine except",  # row 210
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
