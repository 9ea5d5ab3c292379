"""What a reviewer writes beside a long paste is read, and a text without end is cut in the middle."""

from __future__ import annotations

import pytest

from bot.detection.detector import detect
from bot.detection.evidence import MAX_SENTENCES, MAX_TEXT, gather_evidence, readable_part

YAML = "".join(f"{' ' * 16}key{number}: value\n" for number in range(60))
JSON = "".join(f'{{"a": [[{number}], ["<b>", "`c`"]], "d": [1]}}\n' for number in range(60))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"With this:\n```yaml\n{YAML}```\nThe tests fail, and the build is broken.", "verification_failure"),
        (f"It writes\n~~~\n{JSON}```\n~~~\nand then it crashes with KeyError in parse().", "runtime_error"),
        ("12.5\n" * 500 + "\nThe tests fail, and the build is broken.", "verification_failure"),
    ],
)
def test_words_behind_what_was_pasted_are_read(text, kind, rules):
    assert detect(text, rules).type == kind


@pytest.mark.parametrize("fence", ["```", "~~~~"])
def test_what_a_program_printed_is_seen_behind_a_long_paste_in_the_same_fence(fence, rules):
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in b\nKeyError: 3\n'
    shown = gather_evidence(f"{fence}\n{JSON}{trace}{fence}", rules).shown
    assert "stack_trace" in {one.structure.name for one in shown}


def test_both_ends_of_a_text_without_end_are_read(rules):
    said = "The tests fail, and the build is broken."
    for text in (f"{said}\n\n{'x ' * MAX_TEXT}", f"{'x ' * MAX_TEXT}\n\n{said}"):
        assert "tests_fail" in {match.name for match in gather_evidence(text, rules).matches}
    assert len(readable_part("x" * 10 * MAX_TEXT)) <= MAX_TEXT + 2


def test_of_sentences_without_end_some_are_read(rules):
    many = " ".join(f"Word {chr(97 + number % 26) * (1 + number // 26)} is here." for number in range(300))
    assert len(gather_evidence(many, rules).sentences) == MAX_SENTENCES
