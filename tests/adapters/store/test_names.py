"""How somebody's name and words are taken from what is counted."""

from __future__ import annotations

from dataclasses import replace

from bot.adapters.store.memory_names import anonymous
from bot.domain.model import Item, Place, Stance, Validator, Verdict
from tests.builders import ALICE, BOB, HEADS, at, pull_request

PLACE = Place("claims/futarchy.md", 5)
SAID = Item(
    "date_errors",
    "month 13 is out of range",
    PLACE,
    url="https://github.com/acme/knowledge/pull/212#discussion_r7",
    suggestion="created: 2026-11-15",
    severity="major",
    action="Write the day of the extraction",
    rationale="My tool refuses it",
    evidence="exit 1",
)


def said_by(account):
    name = Validator(f"user:{account.id}", account.login)
    return Verdict(f"review:{account.id}", name, Stance.REJECTS, at(1), HEADS[0], (SAID,), said="month 13")


def test_a_verdict_goes_on_standing_without_name_and_words():
    known = pull_request(verdicts=(said_by(ALICE), said_by(BOB)))
    hers, his = anonymous(known, ALICE.id, at(9)).verdicts
    assert (hers.stance, hers.validator.name, hers.said) == (Stance.REJECTS, "ghost", "")
    assert hers.items == (Item("date_errors", place=PLACE, severity="major"),)
    assert his == said_by(BOB)


def test_what_is_said_later_keeps_its_name():
    later = replace(said_by(ALICE), at=at(20))
    assert anonymous(pull_request(verdicts=(later,)), ALICE.id, at(9)).verdicts == (later,)
