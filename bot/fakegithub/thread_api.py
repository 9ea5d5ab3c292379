"""Endpoints of issues, pull requests, reviews, comments and labels, and of the repository around them."""

from __future__ import annotations

from collections.abc import Callable
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
    Issue,
    IssueComment,
    PullRequest,
    Review,
    ReviewComment,
    forbidden_refusal,
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
    comment_json,
    full_repository_json,
    issue_json,
    label_json,
    reaction_json,
)
from bot.fakegithub.tokens import InstallationCaller

_EVENTS = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}
_CONTENTS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


def list_issues(call: ApiCall) -> ApiAnswer:
    """Issues and pull requests by state, labels and creator, newest first."""
    state, creator = call.query.get("state", "open"), call.query.get("creator")
    labels = {name for name in call.query.get("labels", "").split(",") if name}
    threads = [
        thread
        for thread in call.repository.threads.values()
        if state in {"all", thread.state}
        and (creator is None or thread.user.login.casefold() == creator.casefold())
        and labels <= {label.name for label in thread.labels}
        and thread.updated_at >= call.since
    ]
    ascending = call.query.get("direction") == "asc"
    threads.sort(key=lambda thread: thread.number, reverse=not ascending)
    return page_answer(call, threads, issue_json)


def create_issue(call: ApiCall) -> ApiAnswer:
    """A new issue."""
    names = [label if isinstance(label, str) else label["name"] for label in call.fields.get("labels", ())]
    labels = tuple(call.github.label(call.repository, name) for name in names)
    title = call.text("title", "Issue")
    issue = call.github.open_issue(call.repository, call.actor, title, call.fields.get("body"), labels)
    return ApiAnswer(issue_json(call.github, issue), status=201)


def edit_issue(call: ApiCall) -> ApiAnswer:
    """Other words, labels or another state."""
    thread, fields = call.thread, call.fields
    call.github.edit_issue(thread, call.actor, title=fields.get("title"), body=fields.get("body"))
    if "labels" in fields:
        thread.labels = [call.github.label(call.repository, label) for label in fields["labels"]]
    wanted = fields.get("state", thread.state)
    if wanted == "closed" and thread.state == "open":
        call.github.close(thread, by=call.actor)
    elif wanted == "open" and thread.state == "closed":
        call.github.reopen(thread, by=call.actor)
    return ApiAnswer(issue_json(call.github, thread))


def _comments_of_thread(call: ApiCall) -> list[IssueComment]:
    """The comments of a thread, oldest first; `since` looks at the last change."""
    comments = call.github.comments_of(call.thread)
    return [comment for comment in comments if comment.updated_at >= call.since]


def create_comment(call: ApiCall) -> ApiAnswer:
    """A new comment."""
    _check_may_write(call, call.thread)
    comment = call.github.comment(call.thread, call.actor, call.text("body", "IssueComment"))
    content = comment_json(call.github, comment)
    return ApiAnswer(content, status=201, headers={"Location": content["url"]})


def edit_comment(call: ApiCall) -> ApiAnswer:
    """Another text for a comment of the caller's own."""
    comment = _issue_comment(call)
    _check_may_change(call, comment)
    call.github.edit_comment(comment, call.text("body", "IssueComment"), by=call.actor)
    return ApiAnswer(comment_json(call.github, comment))


def react_to(find: Callable[[ApiCall], IssueComment | ReviewComment]) -> Callable[[ApiCall], ApiAnswer]:
    """Answer with a reaction to a comment; 200 where the caller had given it before."""

    def answer(call: ApiCall) -> ApiAnswer:
        to, content = find(call), call.text("content", "Reaction")
        if content not in _CONTENTS:
            raise invalid_refusal("Reaction", "content")
        before = len(to.reactions)
        shown = reaction_json(call.github, call.github.react(to, call.actor, content))
        return ApiAnswer(shown, status=201 if len(to.reactions) > before else 200)

    return answer


list_thread_labels = show_page(lambda call: call.thread.labels, label_json)


def add_labels(call: ApiCall) -> ApiAnswer:
    """More labels for a thread."""
    labels = call.body if isinstance(call.body, list) else call.fields.get("labels", ())
    for label in labels:
        call.github.add_label(call.thread, label if isinstance(label, str) else label["name"], by=call.actor)
    return list_thread_labels(call)


def remove_label(call: ApiCall) -> ApiAnswer:
    """One label less."""
    if call.params["name"] not in {label.name for label in call.thread.labels}:
        raise ApiRefusal(404, "Label does not exist")
    call.github.remove_label(call.thread, call.params["name"], by=call.actor)
    return list_thread_labels(call)


def _check_may_write(call: ApiCall, thread: Issue) -> None:
    """For an App, a pull request's thread is open with either permission, an issue's with one."""
    if isinstance(thread, PullRequest) or not isinstance(call.caller, InstallationCaller):
        return
    if call.caller.level("issues") != "write":
        raise forbidden_refusal()


def _issue_comment(call: ApiCall) -> IssueComment:
    return call.find(call.repository.comments, "comment_id")


def _check_may_change(call: ApiCall, comment: IssueComment) -> None:
    """A person may change their own comments; who may write to the repository, and Apps, all of them."""
    role = call.repository.role(call.actor)
    mighty = isinstance(call.caller, InstallationCaller) or role in {"write", "maintain", "admin"}
    if comment.user is not call.actor and not mighty:
        raise ApiRefusal(403, "Must have admin rights to Repository.")


_ISSUE = f"{REPO_ROUTE}/issues/{{issue_number}}"
_COMMENT = f"{REPO_ROUTE}/issues/comments/{{comment_id}}"
_READ, _WRITE = requires_read("issues", "pull_requests"), requires_write("issues", "pull_requests")

ISSUE_ROUTES = (
    Route("GET", f"{REPO_ROUTE}/issues", list_issues, _READ),
    Route("POST", f"{REPO_ROUTE}/issues", create_issue, requires_write("issues")),
    Route("PATCH", _COMMENT, edit_comment, _WRITE),
    Route("POST", f"{_COMMENT}/reactions", react_to(_issue_comment), _WRITE),
    Route("GET", _ISSUE, show(lambda call: call.thread, issue_json), _READ),
    Route("PATCH", _ISSUE, edit_issue, _WRITE),
    Route("GET", f"{_ISSUE}/comments", show_page(_comments_of_thread, comment_json), _READ),
    Route("POST", f"{_ISSUE}/comments", create_comment, _WRITE),
    Route("GET", f"{_ISSUE}/labels", list_thread_labels, _READ),
    Route("POST", f"{_ISSUE}/labels", add_labels, _WRITE),
    Route("DELETE", f"{_ISSUE}/labels/{{name}}", remove_label, _WRITE),
)


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
    to = _inline_comment(call)
    if to.review.pull is not call.pull:
        raise not_found_refusal()
    if call.pull.locked:
        raise ApiRefusal(403, "Unable to create comment because issue is locked.")
    comment = call.github.reply(to, call.actor, call.text("body", "PullRequestReviewComment"))
    return ApiAnswer(review_comment_json(call.github, comment), status=201)


def _head(pull: PullRequest) -> str:
    owner = pull.head_repository.owner if pull.head_repository is not None else pull.user
    return f"{owner.login}:{pull.head_ref}"


def _is_visible(call: ApiCall, review: Review) -> bool:
    return review.state != "PENDING" or review.user is call.account


def _review(call: ApiCall) -> Review:
    return call.find({review.id: review for review in _reviews(call)}, "review_id")


def _inline_comment(call: ApiCall) -> ReviewComment:
    return call.find(call.repository.review_comments, "comment_id")


def _inline(draft: dict[str, Any]) -> InlineDraft:
    side = draft.get("side", "RIGHT")
    return InlineDraft(draft["path"], draft["body"], draft.get("line"), draft.get("start_line"), side)


_PULL = f"{REPO_ROUTE}/pulls/{{pull_number}}"
_REVIEW = f"{_PULL}/reviews/{{review_id}}"
_INLINE = f"{REPO_ROUTE}/pulls/comments/{{comment_id}}"

_READ_PULLS, _WRITE_PULLS = requires_read("pull_requests"), requires_write("pull_requests")

PULL_ROUTES = (
    Route("GET", f"{REPO_ROUTE}/pulls", list_pulls, _READ_PULLS),
    Route("POST", f"{_INLINE}/reactions", react_to(_inline_comment), _WRITE_PULLS),
    Route("GET", _PULL, show(lambda call: call.pull, pull_request_json), _READ_PULLS),
    Route("GET", f"{_PULL}/files", list_files, _READ_PULLS),
    Route("GET", f"{_PULL}/reviews", show_page(_reviews, review_json), _READ_PULLS),
    Route("POST", f"{_PULL}/reviews", create_review, _WRITE_PULLS),
    Route("GET", _REVIEW, show(_review, review_json), _READ_PULLS),
    Route(
        "GET",
        f"{_REVIEW}/comments",
        show_page(lambda call: _review(call).comments, review_comment_json),
        _READ_PULLS,
    ),
    Route("GET", f"{_PULL}/comments", list_review_comments, _READ_PULLS),
    Route("POST", f"{_PULL}/comments/{{comment_id}}/replies", reply_to_review_comment, _WRITE_PULLS),
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

REPOSITORY_ROUTES = (
    Route("GET", REPO_ROUTE, get_repository, requires_read("metadata")),
    Route("GET", _PERMISSION, get_permission, requires_read("metadata")),
    Route("POST", f"{REPO_ROUTE}/labels", create_label, _WRITE),
    Route("GET", f"{REPO_ROUTE}/labels/{{name}}", get_label, _READ),
)
