"""A turn decides once, renders once, builds one document and runs the detector once."""

import sys
from collections import Counter
from contextlib import contextmanager

from bot.detection.detector import detect
from bot.fakegithub.reviews import InlineDraft
from bot.feedback.document import build_document
from bot.feedback.render import render_comment
from bot.turn.decide import conclude

REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
PAGE = "claims/first.md"
COUNTED = {
    conclude.__code__: "decisions",
    render_comment.__code__: "renderings",
    build_document.__code__: "documents",
    detect.__code__: "detections",
}
ONCE = {"decisions": 1, "renderings": 1, "documents": 1}


@contextmanager
def counting():
    """How often each of the four was called in this block; the bot runs on the test's own thread."""
    calls = Counter()

    def count(frame, event, _argument):
        if event == "call" and frame.f_code in COUNTED:
            calls[COUNTED[frame.f_code]] += 1

    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(None)


async def test_a_rejecting_review_with_an_inline_comment_is_decided_once(journey, pull):
    await journey.wait_until_idle()
    with counting() as calls:
        remark = InlineDraft(PAGE, "[date_errors] month 13 is out of range", line=1)
        journey.github.submit_review(pull, "alice", REJECT, "You forgot the date, so it crashes.", [remark])
        await journey.wait_until_idle()
    assert calls == {**ONCE, "detections": 1}
    assert len(journey.comments(pull)) == 1


async def test_an_approval_is_decided_once(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: date_errors -->")
    await journey.wait_until_idle()
    journey.github.push(pull, {PAGE: "# Better\n"})
    await journey.wait_until_idle()
    with counting() as calls:
        journey.github.submit_review(pull, "alice", APPROVE, "Good now.")
        await journey.wait_until_idle()
    # The words of an approval are read once, for what they say besides.
    assert calls == {**ONCE, "detections": 1}
    assert "**Resolved**" in journey.comments(pull)[0]


async def test_a_command_that_changes_the_verdict_is_decided_once(journey, pull):
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: date_errors, scope_error -->")
    await journey.wait_until_idle()
    journey.advance_clock()
    with counting() as calls:
        journey.github.comment(pull, "bob", "/feedback-dismiss date_errors reason: the date is right")
        await journey.wait_until_idle()
    assert {name: calls[name] for name in ONCE} == ONCE
    assert journey.markers(pull)[0]["blocking"] == ["scope_error"]


async def test_a_long_review_is_decided_on_a_thread_so_that_others_do_not_wait(journey, pull):
    await journey.wait_until_idle()
    with counting() as calls:
        journey.github.submit_review(
            pull, "alice", REJECT, "[date_errors] month 13\n" + "- a name is odd\n" * 3_000
        )
        await journey.wait_until_idle()
    assert calls == {}
    assert "month 13" in journey.comments(pull)[0]
