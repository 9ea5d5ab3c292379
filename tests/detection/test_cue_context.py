"""What the words around a cue make of it, and which part of a long text is read."""

from __future__ import annotations

import pytest

from bot.detection.automaton import MAX_REPETITIONS
from bot.detection.evidence import _BREAKS, _breaks_at_most, gather_evidence, readable_part
from bot.detection.rules import CueMeaning
from bot.markdown.blocks import SpanKind


@pytest.mark.parametrize("one", _BREAKS)
def test_the_quick_count_misses_no_kind_of_break(one):
    assert _breaks_at_most(one * 3) >= sum(map((one * 3).count, _BREAKS))


def test_a_text_whose_two_ends_meet_is_left_whole():
    text = "so, " * 25 + "\n```\n" + "[1]," * 100 + "\n```\n" + "no, " * 25
    assert readable_part(text) == text


def test_the_middle_of_a_short_text_is_heard_however_it_is_broken_up(rules):
    assert "middle" in gather_evidence(f"{'so, ' * 25}MIDDLE {'so, ' * 25}", rules).sentences[0].words


def test_a_cue_is_heard_a_few_times_in_a_text_of_few_sentences(rules):
    text = " ".join(f"The tests fail in {letter * 2}." for letter in "abcdefgh")
    assert (
        sum(match.name == "tests_fail" for match in gather_evidence(text, rules).matches) == MAX_REPETITIONS
    )


def test_what_is_harmless_stays_so_however_often_it_is_said(rules):
    text = " ".join(
        f"In {where} this can {what}."
        for what in ("crash", "fail")
        for where in ("prod", "docker", "linux", "windows")
    )
    assert (
        len({match.sentence for match in gather_evidence(text, rules).matches if match.note == "harmless"})
        == 8
    )


def test_a_failure_with_a_time_beside_it_counts_a_little(rules):
    found = gather_evidence("The daemon crashes, last week it did not.", rules).matches
    assert {(match.note, match.points) for match in found if match.name == "crashes"} == {("past", 1)}


@pytest.mark.parametrize("text", ["Why is this a bad idea?", "Hey, so why is this a bad idea?"])
def test_who_asks_whether_it_is_bad_refuses_a_little(text, rules):
    found = gather_evidence(text, rules).matches
    asked = {(match.note, match.points) for match in found if match.says is CueMeaning.USER_REJECTION}
    assert asked == {("question", 1)}


def test_an_exception_before_the_consent_takes_nothing_away(rules):
    found = gather_evidence("Except for the docs, which look good, I don't like it.", rules).matches
    assert {match.note for match in found if match.says is CueMeaning.USER_REJECTION} == {""}


def test_what_is_pasted_by_indenting_it_is_pasted(rules):
    assert (
        gather_evidence("It dies:\n\n    Segmentation fault (core dumped)\n", rules).shown[0].where
        is SpanKind.FENCE
    )
