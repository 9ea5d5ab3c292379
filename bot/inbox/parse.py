"""Parse deliveries into events, and name the lane of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from bot.github import payloads
from bot.github.payloads import (
    JsonObject,
    PayloadError,
    get_integer,
    get_path,
    get_text,
    get_time,
    require_id,
    require_object,
    require_text,
    require_time,
)
from bot.inbox.internal_deliveries import INTERNAL_EVENT, INTERNAL_PARSERS, parse_internal
from bot.pull_request.documents import parse_documents_in
from bot.pull_request.events import (
    CommentEvent,
    Event,
    IgnoredEvent,
    InlineCommentEvent,
    InstallationEvent,
    PullRequestEvent,
    RepositoryEvent,
    ReviewEvent,
    ReviewState,
    ReviewThreadEvent,
)
from bot.store.model import Delivery
from bot.values import Repository


def parse_repository_event(action: str, payload: JsonObject) -> Event | IgnoredEvent:
    """A repository was renamed, transferred, deleted, or changed its visibility."""
    return RepositoryEvent(action, payloads.parse_repository(payload))


def parse_installation_event(action: str, payload: JsonObject) -> Event | IgnoredEvent:
    """The App was installed in repositories, or removed from them."""
    installation_id = require_id(payload, "installation.id")
    removed = (get_integer(item, "id") for item in _items(payload, "repositories_removed"))
    items = _items(payload, "repositories" if action == "created" else "repositories_added")
    added = (_listed_repository(item, installation_id) for item in items)
    return InstallationEvent(
        action, installation_id, tuple(filter(None, removed)), tuple(filter(None, added))
    )


def _items(payload: JsonObject, path: str) -> list[Any]:
    items = get_path(payload, path)
    return items if isinstance(items, list) else []


def _listed_repository(tree: object, installation_id: int) -> Repository | None:
    """A repository as the events of an installation name it."""
    identity, (owner, _, name) = get_integer(tree, "id"), get_text(tree, "full_name").partition("/")
    if not identity or not owner or not name:
        return None
    private = get_path(tree, "private") is True
    return Repository(identity, owner, name, installation_id, private, default_branch="")


def parse_delivery(delivery: Delivery) -> Event | IgnoredEvent:
    """Parse a delivery into an event; what can't be used is ignored with its reason."""
    try:
        payload = msgspec.json.decode(delivery.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return IgnoredEvent(f"{delivery.event}: the body is not JSON")
    return parse_event(delivery.event, payload)


def parse_event(event: str, payload: Mapping[str, Any]) -> Event | IgnoredEvent:
    """Parse a payload into an event; unknown, incomplete or malformed ones are ignored with the reason."""
    if event not in _ALL_PARSERS:
        return IgnoredEvent(f"{event} is not processed")
    parser, actions = _ALL_PARSERS[event]
    action = get_path(payload, "action")
    if actions and (not isinstance(action, str) or action not in actions):
        return IgnoredEvent(f"{event} is processed for {', '.join(sorted(actions))} only")
    try:
        return parser(str(action), payload)
    except PayloadError as reason:
        return IgnoredEvent(f"{event}: {reason}")


def _pull_request(action: str, payload: JsonObject) -> Event | IgnoredEvent:
    if action in _LABEL_ACTIONS:
        return payloads.parse_label(action, payload)
    fork = get_path(payload, "pull_request.head.repo.id") != get_path(payload, "repository.id")
    requested = payloads.parse_account(payload, "requested_reviewer") if action in _REQUEST_ACTIONS else None
    return PullRequestEvent(action, payloads.parse_payload_pull_request(payload), fork, requested)


def _review(action: str, payload: JsonObject) -> Event | IgnoredEvent:
    review = payloads.parse_review(require_object(payload, "review"))
    if review.state is ReviewState.PENDING:
        return IgnoredEvent("the review has not been submitted")
    return ReviewEvent(action, payloads.parse_payload_pull_request(payload), review)


def _inline_comment(action: str, payload: JsonObject) -> Event | IgnoredEvent:
    comment = payloads.parse_inline_comment(require_object(payload, "comment"))
    return InlineCommentEvent(action, payloads.parse_payload_pull_request(payload), comment)


def _thread(action: str, payload: JsonObject) -> Event | IgnoredEvent:
    comments = _items(payload, "thread.comments")
    return ReviewThreadEvent(
        action,
        payloads.parse_payload_pull_request(payload),
        comment_id=require_id(comments[0], "id") if comments else 0,
        sender=payloads.parse_account(payload, "sender"),
        at=get_time(payload, "updated_at"),
    )


def _comment(action: str, payload: JsonObject) -> Event | IgnoredEvent:
    if not get_path(payload, "issue.pull_request"):
        return IgnoredEvent("a comment on an issue, not on a pull request")
    created = require_time(payload, "comment.created_at")
    return CommentEvent(
        action=action,
        repository=payloads.parse_repository(payload),
        number=require_id(payload, "issue.number"),
        comment_id=require_id(payload, "comment.id"),
        author=payloads.parse_account(payload, "comment.user"),
        sender=payloads.parse_account(payload, "sender"),
        body=get_text(payload, "comment.body"),
        created_at=created,
        updated_at=get_time(payload, "comment.updated_at") or created,
        url=get_text(payload, "comment.html_url"),
        documents=parse_documents_in(
            get_text(payload, "comment.body"), get_text(payload, "comment.html_url")
        ),
    )


_PULL_REQUEST_ACTIONS = frozenset(
    {"opened", "edited", "synchronize", "closed", "reopened", "ready_for_review", "converted_to_draft"}
)
_ANY: frozenset[str] = frozenset()  # a push and a status have no action
_LABEL_ACTIONS = frozenset({"labeled", "unlabeled"})
_REQUEST_ACTIONS = frozenset({"review_requested"})
_REVIEW_ACTIONS = frozenset({"submitted", "edited", "dismissed"})
_COMMENT_ACTIONS = frozenset({"created", "edited", "deleted"})

_REPOSITORY_ACTIONS = frozenset({"renamed", "transferred", "privatized", "publicized", "deleted", "edited"})

_EventParser = Callable[[str, JsonObject], Event | IgnoredEvent]
_PARSERS: Mapping[str, tuple[_EventParser, frozenset[str]]] = {
    "check_run": (payloads.parse_check_run, frozenset({"created", "completed"})),
    "issue_comment": (_comment, _COMMENT_ACTIONS),
    "pull_request": (_pull_request, _PULL_REQUEST_ACTIONS | _LABEL_ACTIONS | _REQUEST_ACTIONS),
    "pull_request_review": (_review, _REVIEW_ACTIONS),
    "pull_request_review_comment": (_inline_comment, _COMMENT_ACTIONS),
    "pull_request_review_thread": (_thread, frozenset({"resolved", "unresolved"})),
    "push": (payloads.parse_push, _ANY),
    "repository": (parse_repository_event, _REPOSITORY_ACTIONS),
    "status": (payloads.parse_status, _ANY),
}
_UNSUBSCRIBED_PARSERS: Mapping[str, tuple[_EventParser, frozenset[str]]] = {
    "installation": (
        parse_installation_event,
        frozenset({"created", "deleted", "unsuspend", "new_permissions_accepted"}),
    ),
    "installation_repositories": (parse_installation_event, frozenset({"added", "removed"})),
}


_ALL_PARSERS = {
    **_PARSERS,
    **_UNSUBSCRIBED_PARSERS,
    INTERNAL_EVENT: (parse_internal, frozenset(INTERNAL_PARSERS)),
}

SUBSCRIBED_EVENTS = frozenset(_PARSERS)
"""The events that `app.yml` subscribes to: exactly those that are read here."""

UNSUBSCRIBED_EVENTS = frozenset(_UNSUBSCRIBED_PARSERS)
"""The events that GitHub sends to every App without a subscription."""


_MAX_LANE = 200


def lane_of_payload(event: str, payload: JsonObject) -> str | None:
    """The lane of a delivery; None if the payload names none."""
    try:
        return _LANES[event](payload) if event in _LANES else None
    except PayloadError:
        return None


def _pull_request_lane(payload: JsonObject) -> str:
    return f"pr:{require_id(payload, 'repository.id')}:{require_id(payload, 'pull_request.number')}"


def _issue(payload: JsonObject) -> str:
    # The envelope keeps none of its addresses: it is empty there.
    kind = "issue" if get_path(payload, "issue.pull_request") is None else "pr"
    return f"{kind}:{require_id(payload, 'repository.id')}:{require_id(payload, 'issue.number')}"


def _commit(path: str) -> Callable[[JsonObject], str]:
    return lambda payload: f"commit:{require_id(payload, 'repository.id')}:{_short_lane(payload, path)}"


def _installation(payload: JsonObject) -> str:
    return f"installation:{require_id(payload, 'installation.id')}"


def _repository(payload: JsonObject) -> str:
    return f"repository:{require_id(payload, 'repository.id')}"


def _internal_lane(payload: JsonObject) -> str:
    return _short_lane(payload, "lane")


def _short_lane(payload: JsonObject, path: str) -> str:
    value = require_text(payload, path)
    if len(value) > _MAX_LANE:
        raise PayloadError(path, "short")
    return value


_LANES: Mapping[str, Callable[[JsonObject], str]] = {
    "pull_request": _pull_request_lane,
    "pull_request_review": _pull_request_lane,
    "pull_request_review_comment": _pull_request_lane,
    "pull_request_review_thread": _pull_request_lane,
    "issue_comment": _issue,
    "check_run": _commit("check_run.head_sha"),
    "check_suite": _commit("check_suite.head_sha"),
    "status": _commit("sha"),
    "push": _commit("after"),
    "repository": _repository,
    "installation": _installation,
    "installation_repositories": _installation,
    INTERNAL_EVENT: _internal_lane,
}
