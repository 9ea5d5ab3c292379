"""Builders of a pull request with several iterations, and of the decision on it."""

from dataclasses import replace

from bot.pull_request.diff import FileDiff
from bot.pull_request.effects import Announce
from bot.pull_request.events import CheckEvent, ReviewState
from bot.pull_request.model import Revision
from tests import builders
from tests.builders import (
    FEEDBACK_ID,
    HEADS,
    REPOSITORY,
    RULES,
    apply_posted_comment,
    at_minute,
    issues_marker,
    make_decision_time,
    make_facts,
    make_pull_request,
    make_review,
)

PAGE = "claims/futarchy.md"


def make_patch(*lines: str) -> str:
    return "\n".join([f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)])


def make_page_diff(*lines: str, path: str = PAGE) -> FileDiff:
    text = make_patch(*lines)
    return FileDiff(path, added=len(lines), status="added", blob=f"blob {text}", patch=text)


def make_revision(number: int, **changes) -> Revision:
    """The head of this iteration, ten minutes after the one before."""
    return Revision(HEADS[number - 1], at_minute(10 * number), **changes)


def make_revised_pull_request(*heads: Revision, **changes):
    return make_pull_request(head=heads[-1].head, revisions=heads, **changes)


def make_revision_review(number: int, *tags: str, **changes):
    """Alice's review of this iteration's head."""
    state = ReviewState.CHANGES_REQUESTED if tags else ReviewState.APPROVED
    fields = {"state": state, "head": HEADS[number - 1], "submitted_at": at_minute(10 * number + 1)}
    return make_review(10 * number + 1, issues_marker(*tags) if tags else "", **{**fields, **changes})


def decide(pull_request, facts, rules=RULES, identity=FEEDBACK_ID):
    return builders.decide(pull_request, facts, rules, make_decision_time(90, identity))


def decide_and_post(pull_request, *reviews, rules=RULES):
    """The pull request with these reviews in it, and its comment written."""
    return apply_posted_comment(decide(pull_request, make_facts(*reviews), rules))


def announcements_of(decision) -> list[Announce]:
    return [effect for effect in decision.effects if isinstance(effect, Announce)]


def make_check_event(name: str, conclusion: str, number: int = 1) -> CheckEvent:
    return CheckEvent(REPOSITORY, HEADS[number - 1], name, conclusion, at_minute(50), "")


def make_three_iterations(*last: str):
    """Two blocking issues, then one warning, then whatever is given."""
    pull_request = make_revised_pull_request(make_revision(1), make_revision(2), make_revision(3))
    reviews = (
        make_revision_review(1, "date_errors", "scope_error"),
        make_revision_review(2, "near_duplicate"),
        make_revision_review(3, *last),
    )
    return decide_and_post(pull_request, *reviews)


def close_pull_request(pull_request, **changes):
    return replace(pull_request, open=False, closed_at=at_minute(80), updated_at=at_minute(80), **changes)
