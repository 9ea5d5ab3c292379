"""Comments of our own that training never saw: how many are understood, and how few raise a false alarm."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.detection.detector import detect

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TAUGHT = (BENCHMARKS / "sentences", Path(__file__).parent / "sentences")


def lines(path: Path) -> list[str]:
    return [line.replace("\\n", "\n") for line in path.read_text("utf-8").splitlines()]


def plain(text: str) -> str:
    """Leave case and signs aside, as the detector does; a text of signs alone is its own."""
    return " ".join(re.findall(r"\w+", text.lower())) or text


LABELLED = [
    (path.stem, text) for path in sorted((BENCHMARKS / "unseen").glob("*.txt")) for text in lines(path)
]


@pytest.fixture(scope="module")
def understood(rules):
    return [(label, str(detect(text, rules).type or "none")) for label, text in LABELLED]


def test_training_never_sees_them():
    taught = {
        plain(text) for directory in TAUGHT for path in directory.rglob("*.txt") for text in lines(path)
    }
    assert [text for _, text in LABELLED if plain(text) in taught] == []


def test_nearly_nine_in_ten_are_understood(understood):
    assert sum(label == found for label, found in understood) >= 0.88 * len(understood)


def test_at_most_one_harmless_one_in_twenty_raises_an_alarm(understood):
    harmless = [found for label, found in understood if label == "none"]
    assert sum(found != "none" for found in harmless) <= 0.05 * len(harmless)
