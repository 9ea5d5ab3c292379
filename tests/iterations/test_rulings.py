"""Which tags are held against a pull request, iteration by iteration, once dismissals are heard."""

from __future__ import annotations

from dataclasses import replace

from bot.findings.ledger import build_ledger
from bot.iterations.model import current_dismissals, list_iterations
from bot.pull_request.model import Item, Revision, Ruling, RulingAction, Stance, Validator, Verdict
from tests.builders import BOB, HEADS, at_minute, make_pull_request

ALICE = Validator("user:1", "alice")
CAROL = Validator("user:3", "carol")


def said(number, *tags, by=ALICE):
    """What was said about the head of this iteration, one minute after its push."""
    items = tuple(Item(tag) for tag in tags)
    minute = at_minute(10 * number + 1)
    return Verdict(f"review:{number}", by, Stance.REJECTS, minute, HEADS[number - 1], items)


def dismissed(tag, number, minute=5):
    """Bob's dismissal, so many minutes after the push of this iteration's head."""
    when = at_minute(10 * number + minute)
    return Ruling(
        RulingAction.DISMISS, tag, BOB.id, "bob", when, HEADS[number - 1], "it is right", f"comment:{number}"
    )


def pushed(heads, verdicts, *rulings):
    revisions = tuple(Revision(HEADS[number - 1], at_minute(10 * number)) for number in range(1, heads + 1))
    return make_pull_request(
        head=HEADS[heads - 1], revisions=revisions, verdicts=tuple(verdicts), rulings=rulings
    )


def tags(known):
    return [iteration.tags for iteration in list_iterations(known)]


def dismissals(known):
    return current_dismissals(known, build_ledger(known))


def test_a_dismissal_leaves_earlier_iterations_as_they_were():
    verdicts = [said(1, "date_errors", "scope_error"), said(2, "scope_error"), said(3, "date_errors")]
    known = pushed(3, verdicts, dismissed("date_errors", 3))
    assert tags(known) == [("date_errors", "scope_error"), ("scope_error",), ()]


def test_a_dismissal_stays_with_its_iteration_when_the_next_one_is_reviewed():
    verdicts = [said(1, "date_errors", "scope_error"), said(2, "date_errors")]
    known = pushed(2, verdicts, dismissed("date_errors", 1))
    assert tags(known) == [("scope_error",), ("date_errors",)]


def test_what_was_dismissed_does_not_come_back_with_the_next_push():
    verdicts = [said(1, "date_errors", "scope_error"), said(2, "near_duplicate", by=CAROL)]
    known = pushed(2, verdicts, dismissed("date_errors", 1))
    assert tags(known) == [("scope_error",), ("scope_error", "near_duplicate")]


def test_a_verdict_of_an_earlier_head_is_dismissed_from_the_head_on_that_was_seen():
    verdicts = [said(1, "date_errors", "scope_error"), said(2, "near_duplicate", by=CAROL)]
    known = pushed(2, verdicts, dismissed("date_errors", 2))
    assert tags(known) == [("date_errors", "scope_error"), ("scope_error", "near_duplicate")]


def test_a_tag_that_is_dismissed_twice_is_gone_at_both_revisions():
    verdicts = [said(1, "date_errors", "scope_error"), said(2, "date_errors", "near_duplicate")]
    twice = dismissed("date_errors", 1), dismissed("date_errors", 2)
    known = pushed(2, verdicts, *twice)
    assert tags(known) == [("scope_error",), ("near_duplicate",)]
    assert dismissals(known) == twice[1:]


def test_a_dismissal_is_named_until_its_tag_is_reported_at_a_later_head():
    ruling = dismissed("date_errors", 1)
    first = said(1, "date_errors", "scope_error")
    assert dismissals(pushed(1, [first], ruling)) == (ruling,)
    assert dismissals(pushed(2, [first, said(2, "scope_error")], ruling)) == (ruling,)
    assert dismissals(pushed(2, [first, said(2, "date_errors")], ruling)) == ()


def test_a_verdict_no_longer_rejects_once_its_own_last_tag_is_dismissed():
    verdicts = [said(1, "date_errors"), said(1, "scope_error", by=CAROL)]
    one = pushed(1, verdicts, dismissed("date_errors", 1))
    assert [v.validator for v in list_iterations(one)[0].rejecting] == [CAROL]
    both = pushed(1, verdicts, dismissed("date_errors", 1), dismissed("scope_error", 1, minute=7))
    assert list_iterations(both)[0].rejecting == ()


def test_tags_that_were_too_many_to_keep_keep_a_verdict_standing():
    cut_off = replace(said(1, "date_errors"), more=3)
    known = pushed(1, [cut_off], dismissed("date_errors", 1))
    assert [iteration.standing for iteration in list_iterations(known)] == [(replace(cut_off, items=()),)]
