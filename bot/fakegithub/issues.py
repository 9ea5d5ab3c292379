"""Issues, comments, labels and reactions: what they are, what people do with them, endpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal

from bot.fakegithub.calls import REPO_ROUTE, ApiAnswer, ApiCall, Route, requires_read, requires_write
from bot.fakegithub.model import (
    Account,
    ApiRefusal,
    App,
    Json,
    Node,
    Repository,
    addresses,
    fields,
    forbidden_refusal,
    invalid_refusal,
    same,
    show,
)
from bot.fakegithub.world import Actor, World

REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")


@dataclass(slots=True, eq=False)
class Label(Node):
    """A label of a repository."""

    prefix = "LA"
    api = "{0.repository.url}/labels/{0.path}"
    shown = "id node_id name color description url"
    fixed: ClassVar[Json] = {"default": False}
    repository: Repository
    name: str
    color: str = "ededed"
    description: str | None = None

    @property
    def path(self) -> str:
        """The name as a part of an address."""
        return self.name.replace(" ", "%20")


@dataclass(slots=True, eq=False)
class Reaction(Node):
    """One account's reaction to a text."""

    prefix = "REA"
    shown = "id node_id content created_at user"
    user: Account
    content: str


@dataclass(slots=True, eq=False)
class Post(Node):
    """A text of an account in a repository."""

    repository: Repository
    user: Account
    updated_at: datetime = field(init=False)
    reactions: list[Reaction] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        Node.__post_init__(self)
        self.updated_at = self.created_at

    @property
    def author_association(self) -> str:
        """How the author belongs to the repository."""
        return self.repository.association(self.user)

    @property
    def performed_via_github_app(self) -> App | None:
        """The App, where its bot wrote the text."""
        return self.world.app if self.user is self.world.app.bot else None

    def count_reactions(self, url: str) -> Json:
        """How many reactions of each kind the text at this address has."""
        contents = [reaction.content for reaction in self.reactions]
        counts = {content: contents.count(content) for content in REACTIONS}
        return {"url": f"{url}/reactions", "total_count": len(contents)} | counts


@dataclass(slots=True, eq=False)
class Issue(Post):
    """A thread: an issue, or the part of a pull request that it shares with one."""

    prefix = "I"
    api = "{0.repository.url}/issues/{0.number}"
    page = "{0.repository.html_url}/issues/{0.number}"
    number: int
    title: str
    body: str | None
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    closed_at: datetime | None = None
    closed_by: Account | None = None
    locked: bool = False
    labels: list[Label] = field(default_factory=list)

    @property
    def issue_url(self) -> str:
        """The thread's address as an issue."""
        return Issue.api.format(self)

    @property
    def common_fields(self) -> Json:
        """What an issue and a pull request show alike."""
        names = "number state title body locked created_at updated_at closed_at html_url author_association"
        return (
            fields(self, f"{names} labels")
            | same(None, "assignee milestone active_lock_reason")
            | {"assignees": []}
        )

    @property
    def json(self) -> Json:
        """The issue in full."""
        return self.as_issue

    @property
    def as_issue(self) -> Json:
        """The thread as an issue, which a pull request is, too."""
        comments = sum(comment.issue is self for comment in self.repository.comments.values())
        return (
            self.common_fields
            | fields(self, "id node_id state_reason user closed_by performed_via_github_app")
            | addresses(self.issue_url, "labels{/name} comments events timeline")
            | {
                "url": self.issue_url,
                "repository_url": self.repository.url,
                "comments": comments,
                "reactions": self.count_reactions(self.issue_url),
            }
        )


@dataclass(slots=True, eq=False)
class IssueComment(Post):
    """A comment in the thread of an issue or pull request."""

    prefix = "IC"
    api = "{0.repository.url}/issues/comments/{0.id}"
    page = "{0.issue.html_url}#issuecomment-{0.id}"
    shown = (
        "id node_id body created_at updated_at url html_url user author_association performed_via_github_app"
    )
    issue: Issue
    body: str
    minimized: str | None = None  # GitHub's classifier, in lower case

    def _more(self) -> Json:
        return {"issue_url": self.issue.issue_url, "reactions": self.count_reactions(self.url)}


_LONGEST_BODY = 65_536
_LONGEST_TITLE = 256


class CommentActions(World):
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
        if not title or len(title) > _LONGEST_TITLE:
            raise invalid_refusal(
                "Issue", "title", "custom", message="title is too long (maximum is 256 characters)"
            )
        _check_length("Issue", body or "")
        issue = Issue(self, repository, self.account(by), len(repository.threads) + 1, title, body)
        issue.labels.extend(labels)
        repository.threads[issue.number] = issue
        self.emit("issues", repository, issue.user, action="opened", issue=issue)
        return issue

    def edit_issue(self, issue: Issue, by: Actor, body: str) -> None:
        """Change an issue's text."""
        _check_length("Issue", body)
        before, issue.body = issue.body or "", body
        if body != before:
            issue.updated_at = self.now()
            self.emit(
                "issues",
                issue.repository,
                self.account(by),
                action="edited",
                issue=issue,
                changes={"body": {"from": before}},
            )

    def comment(self, thread: Issue, by: Actor, body: str) -> IssueComment:
        """Comment in a thread."""
        account = self.account(by)
        if thread.locked:
            raise ApiRefusal(403, "Unable to create comment because issue is locked.")
        _check_length("IssueComment", body)
        comment = IssueComment(self, thread.repository, account, thread, body)
        thread.repository.comments[comment.id] = comment
        thread.updated_at = comment.created_at
        self._emit_comment(comment, "created", account)
        return comment

    def edit_comment(self, comment: IssueComment, body: str, *, by: Actor | None = None) -> None:
        """Change a comment's text."""
        _check_length("IssueComment", body)
        changes = {"body": {"from": comment.body}}
        comment.body, comment.updated_at = body, self.now()
        self._emit_comment(comment, "edited", self.account(by or comment.user), changes=changes)

    def minimize(self, comment: IssueComment, reason: str | None) -> None:
        """Fold a comment away for a reason, or show it again; GitHub sends no webhook for this."""
        comment.minimized = reason
        self.changed()

    def react(self, to: Post, by: Actor, content: str) -> Reaction:
        """Put a reaction on a text; a second one of the same kind is the first."""
        account = self.account(by)
        for previous in to.reactions:
            if previous.user is account and previous.content == content:
                return previous
        to.reactions.append(Reaction(self, account, content))
        self.changed()
        return to.reactions[-1]

    def comments_of(self, thread: Issue) -> list[IssueComment]:
        """The thread's comments, oldest first."""
        return [comment for comment in thread.repository.comments.values() if comment.issue is thread]

    def _emit_comment(self, comment: IssueComment, action: str, account: Account, **more: Any) -> None:
        # Here a deleted author is shown as the ghost, not as null.
        issue = comment.issue.as_issue | {"user": comment.issue.user.or_ghost}
        self.emit(
            "issue_comment", comment.repository, account, action=action, issue=issue, comment=comment, **more
        )


def _check_length(resource: str, body: str) -> None:
    if len(body) > _LONGEST_BODY:
        raise invalid_refusal(
            resource, "body", "custom", message=f"body is too long (maximum is {_LONGEST_BODY} characters)"
        )


def _list_issues(call: ApiCall) -> list[Json]:
    """Issues and pull requests by state, labels and creator, newest first."""
    state, creator = call.query.get("state", "open"), call.query.get("creator")
    labels = {name for name in call.query.get("labels", "").split(",") if name}
    threads = [
        thread.as_issue
        for thread in call.repository.threads.values()
        if state in {"all", thread.state}
        and (creator is None or thread.user.login.casefold() == creator.casefold())
        and labels <= {label.name for label in thread.labels}
        and thread.updated_at >= call.since
    ]
    return threads if call.query.get("direction") == "asc" else threads[::-1]


def _create_issue(call: ApiCall) -> Issue:
    labels = tuple(call.github.label(call.repository, name) for name in call.fields.get("labels", ()))
    title = call.text("title", "Issue")
    return call.github.open_issue(call.repository, call.actor, title, call.fields.get("body"), labels)


def _edit_issue(call: ApiCall) -> Json:
    call.github.edit_issue(call.thread, call.actor, call.text("body", "Issue"))
    return call.thread.as_issue


def _list_comments(call: ApiCall) -> list[IssueComment]:
    """The comments of a thread, oldest first; `since` looks at the last change."""
    return [item for item in call.github.comments_of(call.thread) if item.updated_at >= call.since]


def _create_comment(call: ApiCall) -> IssueComment:
    # For an App, a pull request's thread is open with either permission, an issue's with one.
    is_issue = call.thread.url == call.thread.issue_url
    if is_issue and call.caller.installation is not None and not call.caller.may("write", "issues"):
        raise forbidden_refusal()
    return call.github.comment(call.thread, call.actor, call.text("body", "IssueComment"))


def _edit_comment(call: ApiCall) -> IssueComment:
    comment = _find_comment(call)
    call.github.edit_comment(comment, call.text("body", "IssueComment"), by=call.actor)
    return comment


def _find_comment(call: ApiCall) -> IssueComment:
    return call.find(call.repository.comments, "comment_id")


def react_to(find: Callable[[ApiCall], Post]) -> Callable[[ApiCall], ApiAnswer]:
    """Answer with a reaction to a text; 200 where the caller had given it before."""

    def answer(call: ApiCall) -> ApiAnswer:
        to, content = find(call), call.text("content", "Reaction")
        if content not in REACTIONS:
            raise invalid_refusal("Reaction", "content")
        before = len(to.reactions)
        shown = show(call.github.react(to, call.actor, content))
        return ApiAnswer(shown, status=201 if len(to.reactions) > before else 200)

    return answer


def _create_label(call: ApiCall) -> Label:
    name = call.text("name", "Label")
    if name in call.repository.labels:
        raise invalid_refusal("Label", "name", "already_exists")
    label = call.github.label(call.repository, name, color=call.fields.get("color") or "ededed")
    label.description = call.fields.get("description")
    return label


_ISSUE = f"{REPO_ROUTE}/issues/{{issue_number}}"
_COMMENT = f"{REPO_ROUTE}/issues/comments/{{comment_id}}"
_READ, _WRITE = requires_read("issues", "pull_requests"), requires_write("issues", "pull_requests")

ISSUE_ROUTES = (
    Route("GET", f"{REPO_ROUTE}/issues", _READ, _list_issues),
    Route("POST", f"{REPO_ROUTE}/issues", requires_write("issues"), _create_issue, 201),
    Route("PATCH", _COMMENT, _WRITE, _edit_comment),
    Route("POST", f"{_COMMENT}/reactions", _WRITE, react_to(_find_comment)),
    Route("GET", _ISSUE, _READ, lambda call: call.thread.as_issue),
    Route("PATCH", _ISSUE, _WRITE, _edit_issue),
    Route("GET", f"{_ISSUE}/comments", _READ, _list_comments),
    Route("POST", f"{_ISSUE}/comments", _WRITE, _create_comment, 201),
    Route("POST", f"{REPO_ROUTE}/labels", _WRITE, _create_label, 201),
    Route(
        "GET", f"{REPO_ROUTE}/labels/{{name}}", _READ, lambda call: call.find(call.repository.labels, "name")
    ),
)
