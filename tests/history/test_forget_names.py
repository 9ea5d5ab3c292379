"""How somebody's name and words are taken from what is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.history.forget import anonymize
from bot.pull_request.model import Item, Stance, Validator, Verdict
from bot.values import Location
from tests.builders import ALICE, BOB, HEADS, at_minute, make_pull_request

PLACE = Location("claims/futarchy.md", 5)
HERS = "her words"
TOLD = ("words", "url", "suggestion", "action", "rationale", "evidence", "metric", "reference")
AROUND = ("context_before", "context_after")
SAID = Item("date_errors", place=PLACE, severity="major", **dict.fromkeys((*TOLD, *AROUND), HERS))


def said_by(account, way="review"):
    name = Validator(f"user:{account.id}", account.login)
    return Verdict(f"{way}:{account.id}", name, Stance.REJECTS, at_minute(1), HEADS[0], (SAID,), said=HERS)


@pytest.mark.parametrize("way", ["review", "comment"])
def test_a_verdict_goes_on_standing_without_name_and_words(way):
    known = make_pull_request(verdicts=(said_by(ALICE, way), said_by(BOB)))
    hers, his = anonymize(known, ALICE.id, at_minute(9)).verdicts
    assert (hers.stance, hers.validator.name, hers.said) == (Stance.REJECTS, "ghost", "")
    assert hers.items == (Item("date_errors", place=PLACE, severity="major"),)
    assert HERS not in repr(hers)
    assert his == said_by(BOB)


def test_what_is_said_later_keeps_its_name():
    later = replace(said_by(ALICE), at=at_minute(20))
    assert anonymize(make_pull_request(verdicts=(later,)), ALICE.id, at_minute(9)).verdicts == (later,)
