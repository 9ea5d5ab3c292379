"""The comments beside the sticky one: the request to decide, and what is left of it at the end."""

from dataclasses import replace

from inline_snapshot import snapshot

from bot.feedback.announcements import close_announcements, decide_announcements, escalate, render_escalation
from bot.feedback.status_text import escalation_reason
from bot.pull_request.effects import AnnouncementKind, CloseAnnouncement
from bot.pull_request.model import Escalation
from bot.store.codec import STORED_EFFECTS
from tests.builders import RIO, at_minute, make_decision_time
from tests.feedback.comment_builders import CODE, CommentStory, make_remark
from tests.findings.ledger_builders import sha


def make_escalated_story() -> CommentStory:
    """A tag and a remark without one, each open in three iterations."""
    story = CommentStory(author=RIO)
    for letter in "bcd":
        remark = make_remark(1, "src/cart.py", 5, "this is quadratic")
        story.push(letter, {9: letter}).reject(remark, "tests_missing")
    return story


def test_an_escalation_counts_findings_without_a_tag():
    feedback = make_escalated_story().feedback()
    text = render_escalation(feedback, "an-id", escalation_reason(feedback))
    assert text.split("\n\n", 1)[1] == snapshot("""\
**Stop: needs a human decision** — `f1` and `tests_missing` keep coming back, and 2 blocking issues are open at `ddddddd`: `tests_missing`, `f1`.

If you are an agent: push nothing more until a person with `write` access has answered here, or the feedback comment says **Resolved**.

If you are that person: approve it, close it, or say what to change.
""")


def make_closed(*, merged: bool, **facts):
    story = make_escalated_story()
    escalation = Escalation(at_minute(6), sha("d"))
    return story.change(open=False, merged=merged, escalation=escalation, **facts).pull_request


def test_a_merge_closes_the_request_to_decide_once():
    closing, recorded = close_announcements(make_closed(merged=True))
    assert closing == (
        CloseAnnouncement(
            recorded.repository,
            212,
            AnnouncementKind.ESCALATION,
            at_minute(6),
            "No longer open: the pull request was merged.\n",
        ),
    )
    assert close_announcements(recorded) == ((), recorded)


def test_closing_it_closes_the_request_too():
    (closing,), _ = close_announcements(make_closed(merged=False))
    assert closing.body == "No longer open: the pull request was closed.\n"


def test_a_merge_closes_the_selection_report_of_an_earlier_close():
    closing, recorded = close_announcements(make_closed(merged=True, reported=sha("d")))
    assert [effect.kind for effect in closing] == [AnnouncementKind.ESCALATION, AnnouncementKind.SELECTION]
    assert recorded.reported is None


def test_while_it_is_open_nothing_is_closed():
    open_again = replace(make_closed(merged=False), open=True)
    assert close_announcements(open_again) == ((), open_again)


def test_what_was_not_sent_yet_is_replaced_by_closing_it():
    feedback = make_escalated_story().feedback()
    escalated = replace(feedback, pull_request=escalate(feedback, CODE))
    (asked,), _ = decide_announcements(feedback.pull_request, escalated, CODE, make_decision_time())
    (closing,), _ = close_announcements(make_closed(merged=True))
    assert asked.target == closing.target
    assert STORED_EFFECTS["CloseAnnouncement"] is CloseAnnouncement
