"""What a webhook's payload says to us, or why it says nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from bot.adapters.feedback_items import items_in
from bot.adapters.payloads import chores, commits, jobs, things, validations
from bot.adapters.payloads.fields import Json, Odd, find, identifier, mapping, moment, optional_moment, text
from bot.domain.events import (
    CommentSeen,
    Event,
    Ignored,
    InlineCommentSeen,
    PullRequestSeen,
    ReviewSeen,
    ThreadSeen,
)
from bot.domain.snapshots import ReviewState
from bot.ports import Delivery

OWN_EVENT = "whetstone"
"""The event that our own commands sign and send to a running server."""


def read(delivery: Delivery) -> Event | Ignored:
    """What a delivery says; `ports.Parse`."""
    try:
        payload = msgspec.json.decode(delivery.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Ignored(f"{delivery.event}: the body is not JSON")
    return parse(delivery.event, payload)


def parse(event: str, payload: Mapping[str, Any]) -> Event | Ignored:
    """The payload as a value; anything unknown, incomplete or misshapen is ignored with its reason."""
    if event not in _ALL_READERS:
        return Ignored(f"{event} is not read")
    reader, actions = _ALL_READERS[event]
    action = find(payload, "action")
    if actions and (not isinstance(action, str) or action not in actions):
        return Ignored(f"{event} is read for {', '.join(sorted(actions))} only")
    try:
        return reader(str(action), payload)
    except Odd as reason:
        return Ignored(f"{event}: {reason}")


def _pull_request(action: str, payload: Json) -> Event | Ignored:
    if action in _LABEL_ACTIONS:
        return commits.label(action, payload)
    fork = find(payload, "pull_request.head.repo.id") != find(payload, "repository.id")
    return PullRequestSeen(action, things.pull_request(payload), fork)


def _review(action: str, payload: Json) -> Event | Ignored:
    review = things.review(mapping(payload, "review"))
    if review.state is ReviewState.PENDING:
        return Ignored("the review is not submitted yet")
    return ReviewSeen(action, things.pull_request(payload), review)


def _inline_comment(action: str, payload: Json) -> Event | Ignored:
    comment = things.inline_comment(mapping(payload, "comment"))
    return InlineCommentSeen(action, things.pull_request(payload), comment)


def _thread(action: str, payload: Json) -> Event | Ignored:
    comments = find(payload, "thread.comments")
    urls = [text(each, "html_url") for each in comments] if isinstance(comments, list) else []
    return ThreadSeen(action, things.pull_request(payload), tuple(url for url in urls if url))


def _comment(action: str, payload: Json) -> Event | Ignored:
    if not find(payload, "issue.pull_request"):
        return Ignored("a comment on an issue, not on a pull request")
    created = moment(payload, "comment.created_at")
    return CommentSeen(
        action=action,
        repository=things.repository(payload),
        number=identifier(payload, "issue.number"),
        comment_id=identifier(payload, "comment.id"),
        author=things.account(payload, "comment.user"),
        sender=things.account(payload, "sender"),
        body=text(payload, "comment.body"),
        created_at=created,
        updated_at=optional_moment(payload, "comment.updated_at") or created,
        url=text(payload, "comment.html_url"),
        documents=items_in(text(payload, "comment.body"), text(payload, "comment.html_url")),
    )


_PULL_REQUEST_ACTIONS = frozenset(
    {"opened", "edited", "synchronize", "closed", "reopened", "ready_for_review", "converted_to_draft"}
)
_ANY: frozenset[str] = frozenset()  # a push and a status have no action
_LABEL_ACTIONS = frozenset({"labeled", "unlabeled"})
_REVIEW_ACTIONS = frozenset({"submitted", "edited", "dismissed"})
_COMMENT_ACTIONS = frozenset({"created", "edited", "deleted"})

_REPOSITORY_ACTIONS = frozenset({"renamed", "transferred", "privatized", "publicized", "deleted", "edited"})

_Reader = Callable[[str, Json], Event | Ignored]
_READERS: Mapping[str, tuple[_Reader, frozenset[str]]] = {
    "check_run": (commits.check_run, frozenset({"completed"})),
    "issue_comment": (_comment, _COMMENT_ACTIONS),
    "pull_request": (_pull_request, _PULL_REQUEST_ACTIONS | _LABEL_ACTIONS),
    "pull_request_review": (_review, _REVIEW_ACTIONS),
    "pull_request_review_comment": (_inline_comment, _COMMENT_ACTIONS),
    "pull_request_review_thread": (_thread, frozenset({"resolved", "unresolved"})),
    "push": (commits.push, _ANY),
    "repository": (chores.repository, _REPOSITORY_ACTIONS),
    "status": (commits.status, _ANY),
}
_UNASKED_READERS: Mapping[str, tuple[_Reader, frozenset[str]]] = {
    "installation": (
        chores.installation,
        frozenset({"created", "deleted", "unsuspend", "new_permissions_accepted"}),
    ),
    "installation_repositories": (chores.installation, frozenset({"added", "removed"})),
}


def _own(action: str, payload: Json) -> Event | Ignored:
    if action == validations.VALIDATION:
        return validations.read_validation(payload)
    if action in _JOBS:
        return jobs.read(action, payload)
    return (chores.week if action == chores.WEEKLY else commits.own)(action, payload)


_JOBS = frozenset({jobs.BACKFILL, jobs.PAST, jobs.RETRY, jobs.HEADS, jobs.HEAD})
_OWN_ACTIONS = frozenset({commits.CONFIG_BROKEN, chores.WEEKLY, validations.VALIDATION}) | _JOBS
_ALL_READERS = {**_READERS, **_UNASKED_READERS, OWN_EVENT: (_own, _OWN_ACTIONS)}

EVENTS = frozenset(_READERS)
"""The events that `app.yml` subscribes to: exactly those that are read here."""

UNASKED = frozenset(_UNASKED_READERS)
"""What GitHub tells every App without being asked."""
