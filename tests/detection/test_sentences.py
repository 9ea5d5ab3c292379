"""Sentences of our own, in the style of real reviews: how many are understood.

They are learned from too, so this guards against a broken model and measures nothing unseen; figures
on comments of sources that were left out are in docs/detection.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.detection.detector import detect

SENTENCES = Path(__file__).parent / "sentences"
LABELLED = {
    path.stem: [line.replace("\\n", "\n") for line in path.read_text("utf-8").splitlines()]
    for path in sorted(SENTENCES.glob("*.txt"))
}


def test_there_are_enough_of_them_and_half_are_harmless():
    assert (sum(map(len, LABELLED.values())) >= 400, len(LABELLED["none"]) >= 200) == (True, True)


@pytest.mark.parametrize(  # rows 195-198, 220
    ("label", "most"),
    [
        ("runtime_error", 0.15),
        ("verification_failure", 0.2),
        ("user_rejection", 1 / 3),  # a refusal in other words than usual is not guessed
        ("partial_success", 0.25),
        ("none", 0.1),  # how many harmless ones may be called a failure
    ],
)
def test_most_sentences_of_a_label_are_understood(label, most, rules):
    missed = [text for text in LABELLED[label] if (detect(text, rules).type or "none") != label]
    assert len(missed) <= most * len(LABELLED[label]), missed


def test_words_that_are_hardly_ahead_decide_only_beside_a_formal_state(rules):
    text = "When the copyright question is settled this is good to merge."
    assert (detect(text, rules).type, detect(text, rules, "approved").type) == (None, "partial_success")


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("The linter fails.", True),
        ("The tests fail on Windows.", True),
        ("The tests don't fail.", False),
        ("Do the tests fail?", False),
        ("The nightly build failed again, which has nothing to do with what you changed here.", False),
    ],
)
def test_a_failed_check_that_a_few_words_state_is_shown(text, is_shown, rules):
    assert detect(text, rules).is_shown == is_shown
