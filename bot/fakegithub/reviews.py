"""Reviews and inline comments, and what only GraphQL offers: JSON, actions, endpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import re2

from bot.fakegithub import git
from bot.fakegithub.calls import (
    REPO_ROUTE,
    ApiAnswer,
    ApiCall,
    Route,
    page_answer,
    requires_read,
    requires_write,
    show_page,
)
from bot.fakegithub.issues import react_to
from bot.fakegithub.model import (
    Account,
    ApiRefusal,
    IssueComment,
    PullRequest,
    Repository,
    Review,
    ReviewComment,
    invalid_refusal,
    not_found_refusal,
)
from bot.fakegithub.pulls import pull_changes, pull_page, pull_url, simple_pull_json
from bot.fakegithub.repositories import Actions, Actor
from bot.fakegithub.shapes import (
    ShapeJson,
    author_association,
    fields,
    optional_user_json,
    reactions_json,
    repository_url,
)
from bot.fakegithub.tokens import AnonymousCaller, InstallationCaller
from bot.fakegithub.world import World


def review_json(world: World, review: Review) -> ShapeJson:
    """A review, as the API answers it: its state is in upper case."""
    page = f"{pull_page(world, review.pull)}#pullrequestreview-{review.id}"
    pending = ("id", "node_id", "body", "state", "commit_id")
    return fields(review, *pending, *(("submitted_at",) if review.submitted_at else ())) | {
        "user": optional_user_json(world, review.user),
        "html_url": page,
        "pull_request_url": pull_url(world, review.pull),
        "author_association": author_association(review.pull.repository, review.user),
        "_links": {"html": {"href": page}, "pull_request": {"href": pull_url(world, review.pull)}},
    }


def review_comment_json(world: World, comment: ReviewComment) -> ShapeJson:
    """An inline comment; outdated, it has lost its line but keeps the original one."""
    pull = comment.review.pull
    api = f"{repository_url(world, pull.repository)}/pulls/comments/{comment.id}"
    page = f"{pull_page(world, pull)}#discussion_r{comment.id}"
    on_line = comment.subject_type == "line"
    start_side = comment.side if comment.start_line is not None else None
    same = ("id", "node_id", "body", "path", "diff_hunk", "created_at", "updated_at", "subject_type", "side")
    content = fields(comment, *same) | {
        "url": api,
        "html_url": page,
        "pull_request_url": pull_url(world, pull),
        "pull_request_review_id": comment.review.id,
        "user": optional_user_json(world, comment.user),
        "commit_id": comment.commit_id if comment.outdated else pull.head_sha,
        "original_commit_id": comment.commit_id,
        "author_association": author_association(pull.repository, comment.user),
        "start_side": start_side if on_line else None,
        "line": None if comment.outdated or not on_line else comment.line,
        "start_line": None if comment.outdated or not on_line else comment.start_line,
        "original_line": comment.line if on_line else 1,
        "original_start_line": comment.start_line if on_line else None,
        "position": None if comment.outdated else comment.position,
        "original_position": comment.position,
        "reactions": reactions_json(f"{api}/reactions", comment.reactions),
        "_links": {
            "self": {"href": api},
            "html": {"href": page},
            "pull_request": {"href": pull_url(world, pull)},
        },
    }
    if comment.in_reply_to is not None:
        content["in_reply_to_id"] = comment.in_reply_to.id
    return content


@dataclass(frozen=True, slots=True)
class InlineDraft:
    """An inline comment to be made; without a line it is on the whole file."""

    path: str
    body: str
    line: int | None = None
    start_line: int | None = None
    side: str = "RIGHT"


class ReviewActions(Actions):
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
        places = [self._anchor_of(pull, comment) for comment in comments]
        moment = self.now() if state != "PENDING" else None
        via_app = account is self.app.bot
        review = Review(self.new_id(), pull, account, state.upper(), body, pull.head_sha, moment, via_app)
        pull.reviews[review.id] = review
        for inline, anchor in zip(comments, places, strict=True):
            self._attach(review, inline, anchor)
        if moment is not None:
            self._emit_submitted(review)
        return review

    def reply(self, to: ReviewComment, by: Actor, body: str) -> ReviewComment:
        """Answer an inline comment; GitHub makes a review of its own around the answer."""
        account, first = self.account(by), to.in_reply_to or to
        pull = to.review.pull
        around = Review(self.new_id(), pull, account, "COMMENTED", "", pull.head_sha, self.now())
        pull.reviews[around.id] = around
        inline = InlineDraft(to.path, body, to.line, to.start_line, to.side)
        comment = self._attach(around, inline, git.DiffAnchor(to.diff_hunk, to.position))
        comment.in_reply_to = first
        self._emit_inline(comment, "created", account)
        return comment

    def _anchor_of(self, pull: PullRequest, inline: InlineDraft) -> git.DiffAnchor:
        change = next((item for item in pull_changes(pull) if item.path == inline.path), None)
        if change is None:
            raise ApiRefusal(422, "Unprocessable Entity", errors=["Path could not be resolved"])
        if inline.line is None:
            return git.DiffAnchor(change.patch or "", 1)
        anchor = git.find_anchor(change, inline.side, inline.line)
        begins = inline.line if inline.start_line is None else inline.start_line
        if anchor is None or git.find_anchor(change, inline.side, begins) is None:
            raise ApiRefusal(422, "Unprocessable Entity", errors=["Line could not be resolved"])
        return anchor

    def _attach(self, review: Review, inline: InlineDraft, anchor: git.DiffAnchor) -> ReviewComment:
        moment = self.now()
        comment = ReviewComment(
            self.new_id(),
            review,
            review.user,
            inline.path,
            inline.body,
            inline.line,
            inline.start_line,
            inline.side,
            "file" if inline.line is None else "line",
            anchor.hunk,
            anchor.position,
            review.commit_id,
            moment,
            moment,
        )
        review.comments.append(comment)
        review.pull.repository.review_comments[comment.id] = comment
        return comment

    def _emit_submitted(self, review: Review) -> None:
        if review.user in review.pull.requested_reviewers:  # a review answers the request, without a webhook
            review.pull.requested_reviewers.remove(review.user)
        self._emit_review(review, "submitted", review.user)
        for comment in review.comments:
            self._emit_inline(comment, "created", review.user)

    def _emit_review(self, review: Review, action: str, account: Account, **more: Any) -> None:
        # In a webhook the state is in lower case and an empty body is null; in the API neither is so.
        lowered = {"state": review.state.lower(), "body": review.body or None}
        payload = {
            "action": action,
            "review": review_json(self, review) | lowered,
            "pull_request": simple_pull_json(self, review.pull),
        } | more
        self.emit("pull_request_review", review.pull.repository, account, payload)

    def _emit_inline(self, comment: ReviewComment, action: str, account: Account, **more: Any) -> None:
        payload = {
            "action": action,
            "comment": review_comment_json(self, comment),
            "pull_request": simple_pull_json(self, comment.review.pull),
        } | more
        self.emit("pull_request_review_comment", comment.review.pull.repository, account, payload)


def _reviews(call: ApiCall) -> list[Review]:
    """The submitted reviews, oldest first, and the caller's own pending one."""
    return [review for review in call.pull.reviews.values() if _is_visible(call, review)]


def create_review(call: ApiCall) -> ApiAnswer:
    """A review by the App, which comments and judges nothing."""
    if call.fields.get("event") != "COMMENT":
        raise invalid_refusal("PullRequestReview", "event")
    comments = [_inline(draft) for draft in call.fields.get("comments", ())]
    body = call.fields.get("body") or ""
    review = call.github.submit_review(call.pull, call.actor, "COMMENTED", body, comments)
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


def _is_visible(call: ApiCall, review: Review) -> bool:
    return review.state != "PENDING" or review.user is call.account


def _inline_comment(call: ApiCall) -> ReviewComment:
    return call.find(call.repository.review_comments, "comment_id")


def _inline(draft: dict[str, Any]) -> InlineDraft:
    side = draft.get("side", "RIGHT")
    return InlineDraft(draft["path"], draft["body"], draft.get("line"), draft.get("start_line"), side)


_PULL = f"{REPO_ROUTE}/pulls/{{pull_number}}"
_INLINE = f"{REPO_ROUTE}/pulls/comments/{{comment_id}}"
_READ, _WRITE = requires_read("pull_requests"), requires_write("pull_requests")

REVIEW_ROUTES = (
    Route("POST", f"{_INLINE}/reactions", react_to(_inline_comment), _WRITE),
    Route("GET", f"{_PULL}/reviews", show_page(_reviews, review_json), _READ),
    Route("POST", f"{_PULL}/reviews", create_review, _WRITE),
    Route("GET", f"{_PULL}/comments", list_review_comments, _READ),
    Route("POST", f"{_PULL}/comments/{{comment_id}}/replies", reply_to_review_comment, _WRITE),
)


GraphqlFields = dict[str, Any]

_ARGUMENT = re2.compile(r'(\w+)\s*:\s*(\$?\w+|"[^"]*")')
_WORD = re2.compile(r"\w+")


class GraphqlRefusal(Exception):
    """What is wrong, with GitHub's type for it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def answer_graphql(call: ApiCall) -> ApiAnswer:
    """Answer one of the operations that REST does not offer; whatever is wrong is a 200 with errors."""
    if isinstance(call.caller, AnonymousCaller):
        return ApiAnswer({"message": "This endpoint requires you to be authenticated."}, status=401)
    query, variables = str(call.fields.get("query", "")), call.fields.get("variables") or {}
    words = set(_WORD.findall(query))
    arguments = {
        name: variables.get(value[1:]) if value.startswith("$") else value.strip('"')
        for name, value in _ARGUMENT.findall(query)
    }
    name = next((name for name in _OPERATIONS if name in words), None)
    if name is None:
        return ApiAnswer({"errors": [_error("undefinedField", "The field doesn't exist on this type")]})
    try:
        content = _OPERATIONS[name](call, arguments)
    except GraphqlRefusal as refusal:
        error = _error(refusal.kind, str(refusal)) | {"path": [name]}
        return ApiAnswer({"data": {name: None}, "errors": [error]})
    return ApiAnswer({"data": {name: _only(content, words)}})


def _error(kind: str, message: str) -> GraphqlFields:
    return {"type": kind, "message": message, "locations": [{"line": 1, "column": 1}]}


def _only(content: GraphqlFields, words: set[str]) -> GraphqlFields:
    """The fields that were asked for, and no others."""
    return {
        name: _only(value, words) if isinstance(value, dict) else value
        for name, value in content.items()
        if name in words
    }


def _viewer(call: ApiCall, _arguments: Mapping[str, Any]) -> GraphqlFields:
    """The caller; an installation gets to know its App's account here and nowhere else."""
    return {"login": call.actor.login, "databaseId": call.actor.id}


def _minimize_comment(call: ApiCall, arguments: Mapping[str, Any]) -> GraphqlFields:
    comment = _writable_comment(call, arguments.get("subjectId"))
    call.github.minimize(comment, str(arguments.get("classifier")).lower())
    return {"minimizedComment": {"isMinimized": True, "minimizedReason": comment.minimized}}


def _add_reaction(call: ApiCall, arguments: Mapping[str, Any]) -> GraphqlFields:
    """Put a reaction on a review, which REST does not let anybody do."""
    wanted, face = arguments.get("subjectId"), str(arguments.get("content"))
    threads = (
        thread for repository in call.github.repositories.values() for thread in repository.threads.values()
    )
    reviews = (
        review for pull in threads if isinstance(pull, PullRequest) for review in pull.reviews.values()
    )
    review = next((review for review in reviews if review.node_id == wanted), None)
    if review is None:
        raise _no_node(wanted)
    call.github.react(review, call.actor, face.lower())
    return {"reaction": {"content": face}}


_OPERATIONS: Mapping[str, Callable[[ApiCall, Mapping[str, Any]], GraphqlFields]] = {
    "viewer": _viewer,
    "minimizeComment": _minimize_comment,
    "addReaction": _add_reaction,
}


def _writable_comment(call: ApiCall, wanted: object) -> IssueComment:
    for repository in call.github.repositories.values():
        for comment in repository.comments.values():
            if comment.node_id == wanted:
                if _may_write(call, repository):
                    return comment
                raise GraphqlRefusal("FORBIDDEN", "Resource not accessible by integration")
    raise _no_node(wanted)


def _may_write(call: ApiCall, repository: Repository) -> bool:
    if isinstance(call.caller, InstallationCaller):
        granted = {call.caller.level("issues"), call.caller.level("pull_requests")}
        return call.caller.covers(repository) and "write" in granted
    return call.account is not None and repository.role(call.account) in {"write", "maintain", "admin"}


def _no_node(wanted: object) -> GraphqlRefusal:
    return GraphqlRefusal("NOT_FOUND", f"Could not resolve to a node with the global id of '{wanted}'.")
