"""Reviews and inline comments, and what only GraphQL offers: what people do with them, endpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import Any, Literal, TypeVar

import re2

from bot.fakegithub import git
from bot.fakegithub.calls import REPO_ROUTE, ApiCall, Route, requires_read, requires_write
from bot.fakegithub.issues import Post, react_to
from bot.fakegithub.model import (
    Account,
    ApiRefusal,
    Json,
    Repository,
    fields,
)
from bot.fakegithub.pulls import PullRequest
from bot.fakegithub.world import Actor, World


@dataclass(slots=True, eq=False)
class Review(Post):
    """A review; `submitted_at` is None while it is pending."""

    prefix = "PRR"
    page = "{0.pull.html_url}#pullrequestreview-{0.id}"
    shown = "id node_id body state commit_id html_url user author_association"
    pull: PullRequest
    state: str
    body: str
    commit_id: str
    submitted_at: datetime | None
    comments: list[ReviewComment] = field(default_factory=list)

    def _more(self) -> Json:
        links = {"html": self.html_url, "pull_request": self.pull.url}
        return (fields(self, "submitted_at") if self.submitted_at else {}) | {
            "pull_request_url": self.pull.url,
            "_links": {name: {"href": address} for name, address in links.items()},
        }


@dataclass(slots=True, eq=False)
class ReviewComment(Post):
    """An inline comment; no line where it is on the whole file, or outdated."""

    prefix = "PRRC"
    api = "{0.repository.url}/pulls/comments/{0.id}"
    page = "{0.review.pull.html_url}#discussion_r{0.id}"
    shown = (
        "id node_id body path diff_hunk created_at updated_at subject_type side url html_url user"
        " author_association"
    )
    review: Review
    path: str
    body: str
    line: int | None
    start_line: int | None
    side: str
    diff_hunk: str
    position: int
    in_reply_to: ReviewComment | None = None
    outdated: bool = False

    @property
    def subject_type(self) -> Literal["line", "file"]:
        """What the comment is on."""
        return "file" if self.line is None else "line"

    @property
    def commit_id(self) -> str:
        """The head that was reviewed."""
        return self.review.commit_id

    def _more(self) -> Json:
        # An outdated one has lost its line, but keeps the original one.
        pull, outdated = self.review.pull, self.outdated
        links = {"self": self.url, "html": self.html_url, "pull_request": pull.url}
        content = {
            "pull_request_url": pull.url,
            "pull_request_review_id": self.review.id,
            "commit_id": self.commit_id if outdated else pull.head_sha,
            "original_commit_id": self.commit_id,
            "start_side": None if self.start_line is None else self.side,
            "line": None if outdated else self.line,
            "start_line": None if outdated else self.start_line,
            "original_line": self.line or 1,
            "original_start_line": self.start_line,
            "position": None if outdated else self.position,
            "original_position": self.position,
            "reactions": self.count_reactions(self.url),
            "_links": {name: {"href": address} for name, address in links.items()},
        }
        return content | ({"in_reply_to_id": self.in_reply_to.id} if self.in_reply_to else {})


@dataclass(frozen=True, slots=True)
class InlineDraft:
    """An inline comment to be made; without a line it is on the whole file."""

    path: str
    body: str
    line: int | None = None
    start_line: int | None = None
    side: str = "RIGHT"


class ReviewActions(World):
    """Reviews and their inline comments."""

    def submit_review(
        self,
        pull: PullRequest,
        reviewer: Actor,
        state: str,
        body: str = "",
        comments: Sequence[InlineDraft] = (),
    ) -> Review:
        """Review the pull request's head; `PENDING` keeps the review to its author."""
        account = self.account(reviewer)
        anchors = [_anchor_of(pull, comment) for comment in comments]
        moment = self.now() if state != "PENDING" else None
        review = self._review(pull, account, state.upper(), body, moment)
        for inline, anchor in zip(comments, anchors, strict=True):
            self._attach(review, inline, anchor)
        if moment is not None:
            self._emit_submitted(review)
        return review

    def _review(
        self, pull: PullRequest, account: Account, state: str, body: str, moment: datetime | None
    ) -> Review:
        review = Review(self, pull.repository, account, pull, state, body, pull.head_sha, moment)
        pull.reviews[review.id] = review
        return review

    def _attach(self, review: Review, inline: InlineDraft, anchor: git.DiffAnchor) -> ReviewComment:
        comment = ReviewComment(
            self,
            review.repository,
            review.user,
            review,
            inline.path,
            inline.body,
            inline.line,
            inline.start_line,
            inline.side,
            anchor.hunk,
            anchor.position,
        )
        review.comments.append(comment)
        review.repository.review_comments[comment.id] = comment
        return comment

    def _emit_submitted(self, review: Review) -> None:
        if review.user in review.pull.requested_reviewers:  # a review answers the request, without a webhook
            review.pull.requested_reviewers.remove(review.user)
        self._emit_review(review, "submitted", review.user)
        for comment in review.comments:
            self._emit_inline(comment, "created", review.user)

    def _emit_review(self, review: Review, action: str, account: Account, **more: Any) -> None:
        # In a webhook the state is in lower case and an empty body is null; in the API neither is so.
        shown = review.json | {"state": review.state.lower(), "body": review.body or None}
        more |= {"action": action, "review": shown, "pull_request": review.pull}
        self.emit("pull_request_review", review.repository, account, **more)

    def _emit_inline(self, comment: ReviewComment, action: str, account: Account, **more: Any) -> None:
        more |= {"action": action, "comment": comment, "pull_request": comment.review.pull}
        self.emit("pull_request_review_comment", comment.repository, account, **more)


def _anchor_of(pull: PullRequest, inline: InlineDraft) -> git.DiffAnchor:
    change = next((item for item in pull.changes if item.path == inline.path), None)
    if change is None:
        raise ApiRefusal(422, "Unprocessable Entity", errors=["Path could not be resolved"])
    if inline.line is None:
        return git.DiffAnchor(change.patch or "", 1)
    anchor = git.find_anchor(change, inline.side, inline.line)
    begins = inline.line if inline.start_line is None else inline.start_line
    if anchor is None or git.find_anchor(change, inline.side, begins) is None:
        raise ApiRefusal(422, "Unprocessable Entity", errors=["Line could not be resolved"])
    return anchor


def _list_reviews(call: ApiCall) -> list[Review]:
    """The submitted reviews, oldest first, and the caller's own pending one."""
    return [review for review in call.pull.reviews.values() if _is_visible(call, review)]


def _list_comments(call: ApiCall) -> list[ReviewComment]:
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
    return comments[::-1] if call.query.get("direction") == "desc" else comments


def _is_visible(call: ApiCall, review: Review) -> bool:
    return review.state != "PENDING" or review.user is call.caller.account


def find_review_comment(call: ApiCall) -> ReviewComment:
    """The inline comment in the path."""
    return call.find(call.repository.review_comments, "comment_id")


_PULL = f"{REPO_ROUTE}/pulls/{{pull_number}}"
_INLINE = f"{REPO_ROUTE}/pulls/comments/{{comment_id}}"
_READ, _WRITE = requires_read("pull_requests"), requires_write("pull_requests")

REVIEW_ROUTES = (
    Route("POST", f"{_INLINE}/reactions", _WRITE, react_to(find_review_comment)),
    Route("GET", f"{_PULL}/reviews", _READ, _list_reviews),
    Route("GET", f"{_PULL}/comments", _READ, _list_comments),
)


_ARGUMENT = re2.compile(r'(\w+)\s*:\s*(\$?\w+|"[^"]*")')
_WORD = re2.compile(r"\w+")
AnyPost = TypeVar("AnyPost", bound=Post)


def answer_graphql(call: ApiCall) -> Json:
    """Answer one of the operations that REST does not offer; whatever is wrong is a 200 with errors."""
    if call.caller.account is None:
        raise ApiRefusal(401, "This endpoint requires you to be authenticated.")
    query, variables = str(call.fields.get("query", "")), call.fields.get("variables") or {}
    words = set(_WORD.findall(query))
    arguments = {
        name: variables.get(value[1:]) if value.startswith("$") else value.strip('"')
        for name, value in _ARGUMENT.findall(query)
    }
    name = next((name for name in _OPERATIONS if name in words), None)
    if name is None:
        return {"errors": [_error("undefinedField", "The field doesn't exist on this type")]}
    try:
        return {"data": {name: _only(_OPERATIONS[name](call, arguments), words)}}
    except _GraphqlRefusal as refusal:
        return {"data": {name: None}, "errors": [_error(*refusal.args) | {"path": [name]}]}


class _GraphqlRefusal(Exception):
    """GitHub's type for what is wrong, and its words."""


def _error(kind: str, message: str) -> Json:
    return {"type": kind, "message": message, "locations": [{"line": 1, "column": 1}]}


def _only(content: Json, words: set[str]) -> Json:
    """The fields that were asked for, and no others."""
    return {
        name: _only(value, words) if isinstance(value, dict) else value
        for name, value in content.items()
        if name in words
    }


def _viewer(call: ApiCall, _arguments: Mapping[str, Any]) -> Json:
    """The caller; an installation gets to know its App's account here and nowhere else."""
    return {"login": call.actor.login, "databaseId": call.actor.id}


def _minimize_comment(call: ApiCall, arguments: Mapping[str, Any]) -> Json:
    comment = _find_node(call, arguments, lambda repository: repository.comments.values())
    if not _may_write(call, comment.repository):
        raise _GraphqlRefusal("FORBIDDEN", "Resource not accessible by integration")
    call.github.minimize(comment, str(arguments.get("classifier")).lower())
    return {"minimizedComment": {"isMinimized": True, "minimizedReason": comment.minimized}}


def _add_reaction(call: ApiCall, arguments: Mapping[str, Any]) -> Json:
    """Put a reaction on a review, which REST does not let anybody do."""
    review = _find_node(
        call,
        arguments,
        lambda repository: (
            review for pull in call.github.pulls_of(repository) for review in pull.reviews.values()
        ),
    )
    face = str(arguments.get("content"))
    call.github.react(review, call.actor, face.lower())
    return {"reaction": {"content": face}}


_OPERATIONS: Mapping[str, Callable[[ApiCall, Mapping[str, Any]], Json]] = {
    "viewer": _viewer,
    "minimizeComment": _minimize_comment,
    "addReaction": _add_reaction,
}


def _find_node(
    call: ApiCall, arguments: Mapping[str, Any], nodes_of: Callable[[Repository], Iterable[AnyPost]]
) -> AnyPost:
    wanted = arguments.get("subjectId")
    for repository in call.github.repositories.values():
        for node in nodes_of(repository):
            if node.node_id == wanted:
                return node
    message = f"Could not resolve to a node with the global id of '{wanted}'."
    raise _GraphqlRefusal("NOT_FOUND", message)


def _may_write(call: ApiCall, repository: Repository) -> bool:
    if call.caller.installation is not None:
        return call.caller.covers(repository) and call.caller.may("write", "issues", "pull_requests")
    return repository.role(call.caller.account) in {"write", "maintain", "admin"}
