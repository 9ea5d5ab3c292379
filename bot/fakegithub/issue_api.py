"""Endpoints of issues, comments, reactions and labels."""

from __future__ import annotations

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
    forbidden_refusal,
    invalid_refusal,
)
from bot.fakegithub.shapes import comment_json, issue_json, label_json, reaction_json
from bot.fakegithub.tokens import InstallationCaller

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


def react_to_comment(call: ApiCall) -> ApiAnswer:
    """A reaction to a comment; 200 where the caller had given it before."""
    to, content = _issue_comment(call), call.text("content", "Reaction")
    if content not in _CONTENTS:
        raise invalid_refusal("Reaction", "content")
    before = len(to.reactions)
    reaction = call.github.react(to, call.actor, content)
    return ApiAnswer(reaction_json(call.github, reaction), status=201 if len(to.reactions) > before else 200)


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
    Route("POST", f"{_COMMENT}/reactions", react_to_comment, _WRITE),
    Route("GET", _ISSUE, show(lambda call: call.thread, issue_json), _READ),
    Route("PATCH", _ISSUE, edit_issue, _WRITE),
    Route("GET", f"{_ISSUE}/comments", show_page(_comments_of_thread, comment_json), _READ),
    Route("POST", f"{_ISSUE}/comments", create_comment, _WRITE),
    Route("GET", f"{_ISSUE}/labels", list_thread_labels, _READ),
    Route("POST", f"{_ISSUE}/labels", add_labels, _WRITE),
    Route("DELETE", f"{_ISSUE}/labels/{{name}}", remove_label, _WRITE),
)
