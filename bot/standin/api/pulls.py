"""What does GitHub tell about pull requests and their reviews, and what may be added to them?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.standin.acts.reviews import Inline
from bot.standin.api.call import REPO, Answer, Call, Route, reads, writes
from bot.standin.api.paging import page
from bot.standin.model import PullRequest, Review, ReviewComment
from bot.standin.refusal import Refused, invalid, not_found
from bot.standin.shapes.issues import reaction
from bot.standin.shapes.pulls import (
    file_change,
    pull_changes,
    pull_request,
    review,
    review_comment,
    simple_pull,
)

_EVENTS = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


def list_pulls(call: Call) -> Answer:
    """The pull requests of a state, newest first; `head` is `owner:branch`."""
    state, head, base = call.query.get("state", "open"), call.query.get("head"), call.query.get("base")
    pulls = [each for each in call.repository.threads.values() if isinstance(each, PullRequest)]
    found = [
        each
        for each in pulls
        if state in {"all", each.state}
        and (head is None or head == _head(each))
        and (base is None or base == each.base_ref)
    ]
    ascending = call.query.get("direction") == "asc"
    by_change = call.query.get("sort") == "updated"
    found.sort(
        key=lambda each: (each.updated_at if by_change else each.created_at, each.number),
        reverse=not ascending,
    )
    return page(call, found, lambda each: simple_pull(call.github, each))


def get_pull(call: Call) -> Answer:
    """One pull request."""
    return Answer(pull_request(call.github, call.pull))


def list_files(call: Call) -> Answer:
    """What a pull request changes."""
    pull = call.pull
    return page(
        call, pull_changes(pull), lambda each: file_change(call.github, pull.repository, pull.head_sha, each)
    )


def list_reviews(call: Call) -> Answer:
    """The submitted reviews, oldest first, and the caller's own pending one."""
    shown = [each for each in call.pull.reviews.values() if _is_visible(call, each)]
    return page(call, shown, lambda each: review(call.github, each))


def get_review(call: Call) -> Answer:
    """One review."""
    return Answer(review(call.github, _review(call)))


def list_comments_of_review(call: Call) -> Answer:
    """The inline comments of one review."""
    return page(call, _review(call).comments, lambda each: review_comment(call.github, each))


def create_review(call: Call) -> Answer:
    """A review by the caller; without an event it stays pending."""
    event = call.fields.get("event")
    if event is not None and event not in _EVENTS:
        raise invalid("PullRequestReview", "event")
    if event in {"APPROVE", "REQUEST_CHANGES"} and call.actor is call.pull.user:
        raise Refused(422, "Unprocessable Entity", errors=["Can not review your own pull request"])
    state = "PENDING" if event is None else _EVENTS[event]
    comments = [_inline(each) for each in call.fields.get("comments", ())]
    body = call.fields.get("body") or ""
    made = call.github.submit_review(call.pull, call.actor, state, body, comments)
    return Answer(review(call.github, made))


def list_comments(call: Call) -> Answer:
    """The inline comments of a pull request."""
    pull, since = call.pull, call.since() or _LONG_AGO
    found = [
        each for each in _visible_comments(call) if each.review.pull is pull and each.updated_at >= since
    ]
    if call.query.get("sort") in {"created", "updated"}:
        by_time = call.query["sort"]
        found.sort(key=lambda each: each.created_at if by_time == "created" else each.updated_at)
    if call.query.get("direction") == "desc":
        found.reverse()
    return page(call, found, lambda each: review_comment(call.github, each))


def get_comment(call: Call) -> Answer:
    """One inline comment."""
    return Answer(review_comment(call.github, _comment(call)))


def reply(call: Call) -> Answer:
    """An answer to an inline comment."""
    to = _comment(call)
    if to.review.pull is not call.pull:
        raise not_found()
    if call.pull.locked:
        raise Refused(403, "Unable to create comment because issue is locked.")
    made = call.github.reply(to, call.actor, call.text("body", "PullRequestReviewComment"))
    return Answer(review_comment(call.github, made), status=201)


def react(call: Call) -> Answer:
    """A reaction to an inline comment; 200 where the caller had given it before."""
    to = _comment(call)
    before = len(to.reactions)
    made = call.github.react_to_review_comment(to, call.actor, call.text("content", "Reaction"))
    return Answer(reaction(call.github, made), status=201 if len(to.reactions) > before else 200)


def _head(pull: PullRequest) -> str:
    owner = pull.head_repository.owner if pull.head_repository is not None else pull.user
    return f"{owner.login}:{pull.head_ref}"


def _is_visible(call: Call, made: Review) -> bool:
    return made.state != "PENDING" or made.user is call.account


def _visible_comments(call: Call) -> list[ReviewComment]:
    return [each for each in call.repository.review_comments.values() if _is_visible(call, each.review)]


def _review(call: Call) -> Review:
    found = call.pull.reviews.get(call.number("review_id"))
    if found is None or not _is_visible(call, found):
        raise not_found()
    return found


def _comment(call: Call) -> ReviewComment:
    found = call.repository.review_comments.get(call.number("comment_id"))
    if found is None:
        raise not_found()
    return found


def _inline(asked: dict[str, Any]) -> Inline:
    side = asked.get("side", "RIGHT")
    return Inline(asked["path"], asked["body"], asked.get("line"), asked.get("start_line"), side)


_PULL = f"{REPO}/pulls/{{pull_number}}"
_COMMENT = f"{REPO}/pulls/comments/{{comment_id}}"

ROUTES = (
    Route("GET", f"{REPO}/pulls", list_pulls, reads("pull_requests")),
    Route("GET", _COMMENT, get_comment, reads("pull_requests")),
    Route("POST", f"{_COMMENT}/reactions", react, writes("pull_requests")),
    Route("GET", _PULL, get_pull, reads("pull_requests")),
    Route("GET", f"{_PULL}/files", list_files, reads("pull_requests")),
    Route("GET", f"{_PULL}/reviews", list_reviews, reads("pull_requests")),
    Route("POST", f"{_PULL}/reviews", create_review, writes("pull_requests")),
    Route("GET", f"{_PULL}/reviews/{{review_id}}", get_review, reads("pull_requests")),
    Route("GET", f"{_PULL}/reviews/{{review_id}}/comments", list_comments_of_review, reads("pull_requests")),
    Route("GET", f"{_PULL}/comments", list_comments, reads("pull_requests")),
    Route("POST", f"{_PULL}/comments/{{comment_id}}/replies", reply, writes("pull_requests")),
)
