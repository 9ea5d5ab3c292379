"""Endpoints of pull requests, reviews and repositories."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from bot.fakegithub.calls import (
    REPO_ROUTE,
    ApiAnswer,
    ApiCall,
    Route,
    page_answer,
    requires_read,
    requires_write,
    show,
    show_page,
)
from bot.fakegithub.model import (
    ApiRefusal,
    PullRequest,
    Review,
    ReviewComment,
    invalid_refusal,
    not_found_refusal,
)
from bot.fakegithub.pull_actions import InlineDraft
from bot.fakegithub.pull_shapes import (
    file_change_json,
    pull_changes,
    pull_request_json,
    review_comment_json,
    review_json,
    simple_pull_json,
)
from bot.fakegithub.shapes import (
    collaborator_permission_json,
    full_repository_json,
    label_json,
    reaction_json,
)

_EVENTS = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}


def list_pulls(call: ApiCall) -> ApiAnswer:
    """The pull requests of a state, newest first; `head` is `owner:branch`."""
    state, head, base = call.query.get("state", "open"), call.query.get("head"), call.query.get("base")
    pulls = [thread for thread in call.repository.threads.values() if isinstance(thread, PullRequest)]
    matching = [
        pull
        for pull in pulls
        if state in {"all", pull.state}
        and (head is None or head == _head(pull))
        and (base is None or base == pull.base_ref)
    ]
    ascending = call.query.get("direction") == "asc"
    by_change = call.query.get("sort") == "updated"
    matching.sort(
        key=lambda pull: (pull.updated_at if by_change else pull.created_at, pull.number),
        reverse=not ascending,
    )
    return page_answer(call, matching, simple_pull_json)


def list_files(call: ApiCall) -> ApiAnswer:
    """What a pull request changes."""
    pull = call.pull
    return page_answer(
        call,
        pull_changes(pull),
        lambda github, change: file_change_json(github, pull.repository, pull.head_sha, change),
    )


def _reviews(call: ApiCall) -> list[Review]:
    """The submitted reviews, oldest first, and the caller's own pending one."""
    return [review for review in call.pull.reviews.values() if _is_visible(call, review)]


def create_review(call: ApiCall) -> ApiAnswer:
    """A review by the caller; without an event it stays pending."""
    event = call.fields.get("event")
    if event is not None and event not in _EVENTS:
        raise invalid_refusal("PullRequestReview", "event")
    if event in {"APPROVE", "REQUEST_CHANGES"} and call.actor is call.pull.user:
        raise ApiRefusal(422, "Unprocessable Entity", errors=["Can not review your own pull request"])
    state = "PENDING" if event is None else _EVENTS[event]
    comments = [_inline(draft) for draft in call.fields.get("comments", ())]
    body = call.fields.get("body") or ""
    review = call.github.submit_review(call.pull, call.actor, state, body, comments)
    return ApiAnswer(review_json(call.github, review))


def list_review_comments(call: ApiCall) -> ApiAnswer:
    """The inline comments of a pull request."""
    pull, sort = call.pull, call.query.get("sort")
    comments = [
        comment
        for comment in call.repository.review_comments.values()
        if comment.review.pull is pull
        and _is_visible(call, comment.review)
        and comment.updated_at >= call.since
    ]
    if sort in {"created", "updated"}:
        comments.sort(key=attrgetter(f"{sort}_at"))
    if call.query.get("direction") == "desc":
        comments.reverse()
    return page_answer(call, comments, review_comment_json)


def reply_to_review_comment(call: ApiCall) -> ApiAnswer:
    """An answer to an inline comment."""
    to = _comment(call)
    if to.review.pull is not call.pull:
        raise not_found_refusal()
    if call.pull.locked:
        raise ApiRefusal(403, "Unable to create comment because issue is locked.")
    comment = call.github.reply(to, call.actor, call.text("body", "PullRequestReviewComment"))
    return ApiAnswer(review_comment_json(call.github, comment), status=201)


def react_to_review_comment(call: ApiCall) -> ApiAnswer:
    """A reaction to an inline comment; 200 where the caller had given it before."""
    to = _comment(call)
    before = len(to.reactions)
    reaction = call.github.react_to_review_comment(to, call.actor, call.text("content", "Reaction"))
    return ApiAnswer(reaction_json(call.github, reaction), status=201 if len(to.reactions) > before else 200)


def _head(pull: PullRequest) -> str:
    owner = pull.head_repository.owner if pull.head_repository is not None else pull.user
    return f"{owner.login}:{pull.head_ref}"


def _is_visible(call: ApiCall, review: Review) -> bool:
    return review.state != "PENDING" or review.user is call.account


def _review(call: ApiCall) -> Review:
    return call.find({review.id: review for review in _reviews(call)}, "review_id")


def _comment(call: ApiCall) -> ReviewComment:
    return call.find(call.repository.review_comments, "comment_id")


def _inline(draft: dict[str, Any]) -> InlineDraft:
    side = draft.get("side", "RIGHT")
    return InlineDraft(draft["path"], draft["body"], draft.get("line"), draft.get("start_line"), side)


_PULL = f"{REPO_ROUTE}/pulls/{{pull_number}}"
_REVIEW = f"{_PULL}/reviews/{{review_id}}"
_COMMENT = f"{REPO_ROUTE}/pulls/comments/{{comment_id}}"

_READ, _WRITE = requires_read("pull_requests"), requires_write("pull_requests")

PULL_ROUTES = (
    Route("GET", f"{REPO_ROUTE}/pulls", list_pulls, _READ),
    Route("POST", f"{_COMMENT}/reactions", react_to_review_comment, _WRITE),
    Route("GET", _PULL, show(lambda call: call.pull, pull_request_json), _READ),
    Route("GET", f"{_PULL}/files", list_files, _READ),
    Route("GET", f"{_PULL}/reviews", show_page(_reviews, review_json), _READ),
    Route("POST", f"{_PULL}/reviews", create_review, _WRITE),
    Route("GET", _REVIEW, show(_review, review_json), _READ),
    Route(
        "GET",
        f"{_REVIEW}/comments",
        show_page(lambda call: _review(call).comments, review_comment_json),
        _READ,
    ),
    Route("GET", f"{_PULL}/comments", list_review_comments, _READ),
    Route("POST", f"{_PULL}/comments/{{comment_id}}/replies", reply_to_review_comment, _WRITE),
)


def get_permission(call: ApiCall) -> ApiAnswer:
    """An account's permission in the repository."""
    account = call.github.find_account(call.params["username"])
    if account is None or account.deleted:
        raise not_found_refusal()
    if account.type == "Bot":
        raise ApiRefusal(404, f"{account.login} is not a user")
    return ApiAnswer(collaborator_permission_json(call.github, call.repository, account))


def get_label(call: ApiCall) -> ApiAnswer:
    """One label."""
    label = call.repository.labels.get(call.params["name"])
    if label is None:
        raise not_found_refusal()
    return ApiAnswer(label_json(call.github, label))


def create_label(call: ApiCall) -> ApiAnswer:
    """A new label."""
    name = call.text("name", "Label")
    if name in call.repository.labels:
        errors = [{"resource": "Label", "code": "already_exists", "field": "name"}]
        raise ApiRefusal(422, "Validation Failed", errors=errors)
    label = call.github.label(call.repository, name, color=call.fields.get("color") or "ededed")
    label.description = call.fields.get("description")
    return ApiAnswer(label_json(call.github, label), status=201)


def get_repository(call: ApiCall) -> ApiAnswer:
    """One repository."""
    return ApiAnswer(full_repository_json(call.github, call.repository, call.account))


_PERMISSION = f"{REPO_ROUTE}/collaborators/{{username}}/permission"
_READ_LABELS = requires_read("issues", "pull_requests")

REPOSITORY_ROUTES = (
    Route("GET", REPO_ROUTE, get_repository, requires_read("metadata")),
    Route("GET", _PERMISSION, get_permission, requires_read("metadata")),
    Route("POST", f"{REPO_ROUTE}/labels", create_label, requires_write("issues", "pull_requests")),
    Route("GET", f"{REPO_ROUTE}/labels/{{name}}", get_label, _READ_LABELS),
)
