"""Was the feedback followed, and what is kept of it?"""

from dataclasses import replace

from bot.pull_request.events import ReviewThreadEvent
from bot.pull_request.facts import Facts
from bot.pull_request.model import FollowUp
from bot.pull_request.record import record_event
from tests.builders import ALICE, ME, RIO, at_minute, make_facts, make_inline_comment, make_snapshot
from tests.turn.turn_builders import (
    decide,
    make_page_diff,
    make_revised_pull_request,
    make_revision,
    make_revision_review,
    make_three_iterations,
)

LINES = ("type: claim", "domain: markets", "source: x", "one more", "created: 2026-13-01")


def two_iterations(*lines, base="m1"):
    """An inline finding at line 5 of the page in iteration 1, not repeated in iteration 2 with these lines."""
    heads = (
        make_revision(1, files=(make_page_diff(*LINES),), base="m1"),
        make_revision(2, files=(make_page_diff(*lines),), base=base),
    )
    comment = make_inline_comment(71, 11, "[date_errors] month 13 is out of range")
    read = replace(
        make_facts(make_revision_review(1, "scope_error"), make_revision_review(2, "scope_error")),
        inline_comments=(comment,),
    )
    return decide(make_revised_pull_request(*heads), read).pull_request


def followed(known) -> dict:
    return {each.tag: each.followed for each in known.tracked[0].observations}


def test_an_item_whose_lines_changed_was_followed():  # row 21
    mended = two_iterations(*LINES[:4], "created: 2026-11-15")
    assert followed(mended) == {"scope_error": False, "date_errors": True}


def test_an_item_whose_lines_only_moved_was_not():
    assert followed(two_iterations("first", *LINES))["date_errors"] is False


def test_an_item_is_followed_over_a_rebase_too():
    mended = two_iterations(*LINES[:4], "created: 2026-11-15", base="m2")
    kept = two_iterations("first", *LINES, base="m2")
    assert (followed(mended)["date_errors"], followed(kept)["date_errors"]) == (True, False)


def test_improvement_and_clarity_are_kept_with_the_iteration():  # row 22 # row 23 # row 24
    known = make_three_iterations("date_errors")
    assert [each.tracking for each in known.tracked] == [
        FollowUp(followed=True, delta=0.2683, clarity=0.6),
        FollowUp(followed=True, delta=-0.2683, clarity=0.6),
    ]


def test_the_same_turn_twice_tracks_the_same():
    known = make_three_iterations("date_errors")
    assert decide(known, Facts(ME)).pull_request.tracked == known.tracked


def test_outcomes_tell_what_has_a_place_from_what_has_none():  # row 53 # row 54
    known = [two_iterations(*LINES[:4], "created: 2026-11-15"), two_iterations("first", *LINES)]
    outcomes = [
        outcome
        for pull_request in known
        for tracked in pull_request.tracked
        for outcome in tracked.observations
    ]
    followed = sorted((outcome.placed, outcome.followed) for outcome in outcomes)
    assert followed == [(False, False), (False, False), (True, False), (True, True)]
    assert {outcome.at for outcome in outcomes} == {at_minute(21)}


def after_thread(known, action: str, by, minute: int):
    event = ReviewThreadEvent(action, make_snapshot(), 71, by, at_minute(minute))
    return decide(record_event(known, event, at_minute(minute)), Facts(ME)).pull_request


def test_a_finding_whose_thread_its_reviewer_resolved_was_followed():
    known = two_iterations(*LINES)
    resolved = after_thread(known, "resolved", ALICE, 60)
    assert (followed(known)["date_errors"], followed(resolved)["date_errors"]) == (False, True)
    reopened = after_thread(resolved, "unresolved", ALICE, 61)
    assert followed(reopened)["date_errors"] is False


def test_a_finding_whose_thread_only_the_author_resolved_is_pending():
    resolved = after_thread(two_iterations(*LINES), "resolved", RIO, 60)
    assert "date_errors" not in followed(resolved)
