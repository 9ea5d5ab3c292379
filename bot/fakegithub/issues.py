"""Issues, comments, labels and reactions: JSON, actions, endpoints."""

from __future__ import annotations

from collections.abc import Callable
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
    Account,
    ApiRefusal,
    Issue,
    IssueComment,
    Label,
    PullRequest,
    Reaction,
    Repository,
    Review,
    ReviewComment,
    forbidden_refusal,
    invalid_refusal,
    not_found_refusal,
)
from bot.fakegithub.repositories import Actions, Actor
from bot.fakegithub.shapes import (
    REACTIONS,
    THREAD_FIELDS,
    ShapeJson,
    addresses,
    app_json,
    author_association,
    fields,
    optional_user_json,
    page_url,
    reactions_json,
    repository_url,
    user_json,
)
from bot.fakegithub.tokens import InstallationCaller
from bot.fakegithub.world import World


def label_json(world: World, label: Label) -> ShapeJson:
    """A label."""
    api = f"{repository_url(world, label.repository)}/labels/{label.name.replace(' ', '%20')}"
    return fields(label, "id", "node_id", "name", "color", "description") | {"url": api, "default": False}


def issue_url(world: World, issue: Issue) -> str:
    """The thread's address as an issue."""
    return f"{repository_url(world, issue.repository)}/issues/{issue.number}"


def issue_json(world: World, issue: Issue) -> ShapeJson:
    """An issue, or a pull request seen as one."""
    api = issue_url(world, issue)
    kind = "pull" if isinstance(issue, PullRequest) else "issues"
    comments = sum(comment.issue is issue for comment in issue.repository.comments.values())
    return (
        fields(issue, *THREAD_FIELDS, "id", "node_id", "state_reason")
        | dict.fromkeys(("assignee", "milestone", "active_lock_reason"))
        | addresses(api, "labels{/name}", "comments", "events", "timeline")
        | {
            "url": api,
            "repository_url": repository_url(world, issue.repository),
            "html_url": f"{page_url(world, issue.repository)}/{kind}/{issue.number}",
            "user": optional_user_json(world, issue.user),
            "labels": [label_json(world, label) for label in issue.labels],
            "assignees": [],
            "comments": comments,
            "closed_by": optional_user_json(world, issue.closed_by),
            "author_association": author_association(issue.repository, issue.user),
            "performed_via_github_app": app_json(world, world.app) if issue.via_app else None,
            "reactions": reactions_json(f"{api}/reactions", ()),
        }
        | _pull_part(world, issue)
    )


def _pull_part(world: World, issue: Issue) -> ShapeJson:
    if not isinstance(issue, PullRequest):
        return {}
    page = f"{page_url(world, issue.repository)}/pull/{issue.number}"
    api = f"{repository_url(world, issue.repository)}/pulls/{issue.number}"
    links = {"url": api, "html_url": page, "diff_url": f"{page}.diff", "patch_url": f"{page}.patch"}
    return {"draft": issue.draft, "pull_request": links | fields(issue, "merged_at")}


def comment_json(world: World, comment: IssueComment) -> ShapeJson:
    """A comment in a thread."""
    repository = comment.issue.repository
    api = f"{repository_url(world, repository)}/issues/comments/{comment.id}"
    kind = "pull" if isinstance(comment.issue, PullRequest) else "issues"
    page = f"{page_url(world, repository)}/{kind}/{comment.issue.number}"
    return fields(comment, "id", "node_id", "body", "created_at", "updated_at") | {
        "url": api,
        "html_url": f"{page}#issuecomment-{comment.id}",
        "issue_url": issue_url(world, comment.issue),
        "user": optional_user_json(world, comment.user),
        "author_association": author_association(repository, comment.user),
        "performed_via_github_app": app_json(world, world.app) if comment.via_app else None,
        "reactions": reactions_json(f"{api}/reactions", comment.reactions),
    }


def reaction_json(world: World, reaction: Reaction) -> ShapeJson:
    """One reaction."""
    user = optional_user_json(world, reaction.user)
    return fields(reaction, "id", "node_id", "content", "created_at") | {"user": user}


_LONGEST_BODY = 65_536
_LONGEST_TITLE = 256


class CommentActions(Actions):
    """Issues, comments and reactions."""

    def open_issue(
        self,
        repository: Repository,
        by: Actor,
        title: str,
        body: str | None = None,
        labels: tuple[Label, ...] = (),
    ) -> Issue:
        """Open an issue."""
        account, moment = self.account(by), self.now()
        if not title or len(title) > _LONGEST_TITLE:
            raise invalid_refusal(
                "Issue", "title", "custom", message="title is too long (maximum is 256 characters)"
            )
        _check_length("Issue", body or "")
        issue = Issue(
            self.new_id(), repository, len(repository.threads) + 1, title, body, account, moment, moment
        )
        issue.labels.extend(labels)
        issue.via_app = account is self.app.bot
        repository.threads[issue.number] = issue
        self.emit("issues", repository, account, {"action": "opened", "issue": issue_json(self, issue)})
        return issue

    def edit_issue(self, issue: Issue, by: Actor, body: str) -> None:
        """Change an issue's text."""
        _check_length("Issue", body)
        before, issue.body = issue.body or "", body
        if body != before:
            issue.updated_at = self.now()
            changes = {"body": {"from": before}}
            payload = {"action": "edited", "issue": issue_json(self, issue), "changes": changes}
            self.emit("issues", issue.repository, self.account(by), payload)

    def comment(self, thread: Issue, by: Actor, body: str) -> IssueComment:
        """Comment in a thread."""
        account, moment = self.account(by), self.now()
        if thread.locked:
            raise ApiRefusal(403, "Unable to create comment because issue is locked.")
        _check_length("IssueComment", body)
        comment = IssueComment(
            self.new_id(), thread, account, body, moment, moment, via_app=account is self.app.bot
        )
        thread.repository.comments[comment.id] = comment
        thread.updated_at = moment
        self._emit_comment(comment, "created", account)
        return comment

    def edit_comment(self, comment: IssueComment, body: str, *, by: Actor | None = None) -> None:
        """Change a comment's text."""
        _check_length("IssueComment", body)
        before, comment.body, comment.updated_at = comment.body, body, self.now()
        self._emit_comment(
            comment, "edited", self.account(by or comment.user), changes={"body": {"from": before}}
        )

    def minimize(self, comment: IssueComment, reason: str | None) -> None:
        """Fold a comment away for a reason, or show it again; GitHub sends no webhook for this."""
        comment.minimized = reason
        self.changed()

    def react(self, to: IssueComment | Review | ReviewComment, by: Actor, content: str) -> Reaction:
        """Put a reaction on a text; a second one of the same kind is the first."""
        account = self.account(by)
        for previous in to.reactions:
            if previous.user is account and previous.content == content:
                return previous
        to.reactions.append(Reaction(self.new_id(), account, content, self.now()))
        self.changed()
        return to.reactions[-1]

    def comments_of(self, thread: Issue) -> list[IssueComment]:
        """The thread's comments, oldest first."""
        return [comment for comment in thread.repository.comments.values() if comment.issue is thread]

    def _emit_comment(self, comment: IssueComment, action: str, account: Account, **more: Any) -> None:
        payload = {
            "action": action,
            # Here a deleted author is shown as the ghost, not as null.
            "issue": issue_json(self, comment.issue) | {"user": user_json(self, comment.issue.user)},
            "comment": comment_json(self, comment),
        } | more
        self.emit("issue_comment", comment.issue.repository, account, payload)


def _check_length(resource: str, body: str) -> None:
    if len(body) > _LONGEST_BODY:
        raise invalid_refusal(
            resource, "body", "custom", message=f"body is too long (maximum is {_LONGEST_BODY} characters)"
        )


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
    labels = tuple(call.github.label(call.repository, name) for name in call.fields.get("labels", ()))
    title = call.text("title", "Issue")
    issue = call.github.open_issue(call.repository, call.actor, title, call.fields.get("body"), labels)
    return ApiAnswer(issue_json(call.github, issue), status=201)


def edit_issue(call: ApiCall) -> ApiAnswer:
    """Another description."""
    call.github.edit_issue(call.thread, call.actor, call.text("body", "Issue"))
    return ApiAnswer(issue_json(call.github, call.thread))


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
    call.github.edit_comment(comment, call.text("body", "IssueComment"), by=call.actor)
    return ApiAnswer(comment_json(call.github, comment))


def react_to(find: Callable[[ApiCall], IssueComment | ReviewComment]) -> Callable[[ApiCall], ApiAnswer]:
    """Answer with a reaction to a comment; 200 where the caller had given it before."""

    def answer(call: ApiCall) -> ApiAnswer:
        to, content = find(call), call.text("content", "Reaction")
        if content not in REACTIONS:
            raise invalid_refusal("Reaction", "content")
        before = len(to.reactions)
        shown = reaction_json(call.github, call.github.react(to, call.actor, content))
        return ApiAnswer(shown, status=201 if len(to.reactions) > before else 200)

    return answer


list_thread_labels = show_page(lambda call: call.thread.labels, label_json)


def add_labels(call: ApiCall) -> ApiAnswer:
    """More labels for a thread."""
    for label in call.fields.get("labels", ()):
        call.github.add_label(call.thread, label, by=call.actor)
    return list_thread_labels(call)


def remove_label(call: ApiCall) -> ApiAnswer:
    """One label less."""
    if call.params["name"] not in {label.name for label in call.thread.labels}:
        raise ApiRefusal(404, "Label does not exist")
    call.github.remove_label(call.thread, call.params["name"], by=call.actor)
    return list_thread_labels(call)


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


def _check_may_write(call: ApiCall, thread: Issue) -> None:
    """For an App, a pull request's thread is open with either permission, an issue's with one."""
    is_pull = isinstance(thread, PullRequest)
    if not is_pull and isinstance(call.caller, InstallationCaller) and call.caller.level("issues") != "write":
        raise forbidden_refusal()


def _issue_comment(call: ApiCall) -> IssueComment:
    return call.find(call.repository.comments, "comment_id")


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
    Route("POST", f"{REPO_ROUTE}/labels", create_label, _WRITE),
    Route("GET", f"{REPO_ROUTE}/labels/{{name}}", get_label, _READ),
)
