"""Sentences of our own, in the style of real reviews: what each is understood as."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.detection.detector import detect

SENTENCES = Path(__file__).parent / "sentences"
LABELLED = [
    (path.stem, line.replace("\\n", "\n"))
    for path in sorted(SENTENCES.glob("*.txt"))
    for line in path.read_text("utf-8").splitlines()
]


def test_there_are_enough_of_them_and_half_are_harmless():
    harmless = sum(label == "none" for label, _ in LABELLED)
    assert (len(LABELLED) >= 400, harmless >= 200) == (True, True)


@pytest.mark.parametrize(("label", "sentence"), LABELLED, ids=lambda part: part[:40])  # rows 195-198, 220
def test_a_sentence_is_understood(label, sentence, rules):
    assert (detect(sentence, rules).type or "none") == label
