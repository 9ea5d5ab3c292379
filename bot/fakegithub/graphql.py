"""GraphQL: what REST does not offer, which is review threads, minimised comments and reactions to reviews."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import re2

from bot.fakegithub.calls import ApiAnswer, ApiCall
from bot.fakegithub.model import (
    Account,
    IssueComment,
    PullRequest,
    Repository,
    Review,
    ReviewComment,
    node_id,
)
from bot.fakegithub.pull_actions import review_threads
from bot.fakegithub.pull_shapes import review_comment_json
from bot.fakegithub.tokens import AnonymousCaller, InstallationCaller

GraphqlObject = Mapping[str, Any]
"""A field's value, or a function from the field's arguments to its value, by the field's name."""

_CLASSIFIERS = ("ABUSE", "DUPLICATE", "OFF_TOPIC", "OUTDATED", "RESOLVED", "SPAM")
_FACES = ("CONFUSED", "EYES", "HEART", "HOORAY", "LAUGH", "ROCKET", "THUMBS_DOWN", "THUMBS_UP")
_MAX_PAGE = 100


class GraphqlRefusal(Exception):
    """What is wrong, with GitHub's type for it; an invalid query gets no data at all."""

    def __init__(self, kind: str, message: str, *, is_invalid: bool = False) -> None:
        super().__init__(message)
        self.kind, self.is_invalid = kind, is_invalid

    def error(self, path: Sequence[str] = ()) -> dict[str, Any]:
        """The error in the answer."""
        where: dict[str, Any] = {"path": list(path)} if path else {}
        locations = [{"line": 1, "column": 1}]
        return {"type": self.kind, "message": str(self), "locations": locations} | where


def answer_graphql(call: ApiCall) -> ApiAnswer:
    """Answer a query or mutation; whatever GraphQL finds wrong is a 200 with errors."""
    if isinstance(call.caller, AnonymousCaller):
        return ApiAnswer({"message": "This endpoint requires you to be authenticated."}, status=401)
    errors: list[dict[str, Any]] = []
    try:
        parser = _Parser(str(call.fields.get("query", "")), call.fields.get("variables") or {})
        kind, selections = parser.document()
        root = _mutations(call) if kind == "mutation" else _queries(call)
        data = _select(root, selections, (), errors)
    except GraphqlRefusal as refusal:
        return ApiAnswer({"errors": [refusal.error()]})
    return ApiAnswer({"data": data, "errors": errors} if errors else {"data": data})


def _queries(call: ApiCall) -> GraphqlObject:
    def repository(owner: str, name: str) -> GraphqlObject:
        return _repository(call, f"{owner}/{name}")

    # Also an installation gets to know its App's account by `viewer`, and nowhere else.
    return {"__typename": "Query", "viewer": lambda: _actor(call.actor), "repository": repository}


def _mutations(call: ApiCall) -> GraphqlObject:
    return {
        "__typename": "Mutation",
        "minimizeComment": partial(_minimize_comment, call),
        "unminimizeComment": partial(_unminimize_comment, call),
        "addReaction": partial(_add_reaction, call),
    }


def _repository(call: ApiCall, name: str) -> GraphqlObject:
    repository = call.github.find_repository(name)
    if repository is None or not _may_see(call, repository):
        raise GraphqlRefusal("NOT_FOUND", f"Could not resolve to a Repository with the name '{name}'.")

    def pull_request(number: int) -> GraphqlObject:
        pull = repository.threads.get(number)
        if not isinstance(pull, PullRequest):
            raise GraphqlRefusal(
                "NOT_FOUND", f"Could not resolve to a PullRequest with the number of {number}."
            )
        if isinstance(call.caller, InstallationCaller) and call.caller.level("pull_requests") is None:
            raise GraphqlRefusal("FORBIDDEN", "Resource not accessible by integration")
        return _pull_request(call, pull)

    return {"__typename": "Repository", "databaseId": repository.id, "pullRequest": pull_request}


def _pull_request(call: ApiCall, pull: PullRequest) -> GraphqlObject:
    def threads(**page: Any) -> GraphqlObject:
        roots = review_threads(pull).items()
        shown = [_thread(call, root, comments) for root, comments in roots]
        return _connection("PullRequestReviewThread", shown, page)

    return {
        "__typename": "PullRequest",
        "id": node_id("PR", pull.pull_id),
        "databaseId": pull.pull_id,
        "number": pull.number,
        "headRefOid": pull.head_sha,
        "reviewThreads": threads,
    }


def _thread(call: ApiCall, root: ReviewComment, comments: list[ReviewComment]) -> GraphqlObject:
    def members(**page: Any) -> GraphqlObject:
        return _connection(
            "PullRequestReviewComment", [_inline_comment(call, comment) for comment in comments], page
        )

    shown = review_comment_json(call.github, root)
    return {
        "__typename": "PullRequestReviewThread",
        "id": root.thread_id,
        "isResolved": root.resolved_by is not None,
        "resolvedBy": None if root.resolved_by is None else _actor(root.resolved_by),
        "isOutdated": root.outdated,
        "isCollapsed": root.resolved_by is not None or root.outdated,
        "path": root.path,
        "line": shown["line"],
        "startLine": shown["start_line"],
        "originalLine": shown["original_line"],
        "originalStartLine": shown["original_start_line"],
        "diffSide": root.side,
        "subjectType": root.subject_type.upper(),
        "comments": members,
    }


def _inline_comment(call: ApiCall, comment: ReviewComment) -> GraphqlObject:
    shown = review_comment_json(call.github, comment)
    return {
        "__typename": "PullRequestReviewComment",
        "id": comment.node_id,
        "databaseId": comment.id,
        "fullDatabaseId": str(comment.id),
        "author": None if comment.user.deleted else _actor(comment.user, suffix=False),
        "body": comment.body,
        "path": comment.path,
        "url": shown["html_url"],
        "outdated": comment.outdated,
        "isMinimized": False,
        "minimizedReason": None,
        "createdAt": shown["created_at"],
        "updatedAt": shown["updated_at"],
    }


def _actor(account: Account, *, suffix: bool = True) -> GraphqlObject:
    """An account; as the author of something a bot has no `[bot]` at the end of its login here."""
    login = account.login if suffix else account.login.removesuffix("[bot]")
    return {"__typename": account.type, "id": account.node_id, "login": login, "databaseId": account.id}


def _connection(kind: str, items: Sequence[GraphqlObject], page: Mapping[str, Any]) -> GraphqlObject:
    """A page of a list; the cursor is the number of items up to it."""
    first, last = page.get("first"), page.get("last")
    size = last if first is None else first
    if size is None:
        message = "You must provide a `first` or `last` value to properly paginate the connection."
        raise GraphqlRefusal("MISSING_PAGINATION_BOUNDARIES", message)
    if size > _MAX_PAGE:
        message = f"Requesting {size} records on the connection exceeds the `first` limit of 100 records."
        raise GraphqlRefusal("EXCESSIVE_PAGINATION", message)
    start, end = int(page.get("after") or 0), int(page.get("before") or len(items) + 1) - 1
    start, end = (start, min(start + size, end)) if first is not None else (max(end - size, start), end)
    return {
        "__typename": f"{kind}Connection",
        "nodes": items[start:end],
        "totalCount": len(items),
        "pageInfo": {
            "__typename": "PageInfo",
            "hasNextPage": end < len(items),
            "hasPreviousPage": start > 0,
            "startCursor": str(start + 1) if start < end else None,
            "endCursor": str(end) if start < end else None,
        },
    }


def _minimize_comment(call: ApiCall, input: Mapping[str, str]) -> GraphqlObject:  # noqa: A002  # GraphQL's name
    comment = _writable_comment(call, input.get("subjectId"))
    classifier = input.get("classifier")
    if classifier not in _CLASSIFIERS:
        raise _invalid_argument("classifier")
    return _minimized(call, comment, "minimizedComment", classifier.lower().replace("_", "-"))


def _unminimize_comment(call: ApiCall, input: Mapping[str, str]) -> GraphqlObject:  # noqa: A002  # GraphQL's name
    return _minimized(call, _writable_comment(call, input.get("subjectId")), "unminimizedComment", None)


def _minimized(call: ApiCall, comment: IssueComment, name: str, reason: str | None) -> GraphqlObject:
    call.github.minimize(comment, reason)
    content = {"__typename": "IssueComment", "isMinimized": reason is not None, "minimizedReason": reason}
    return {"__typename": "MinimizeCommentPayload", name: content, "clientMutationId": None}


def _add_reaction(call: ApiCall, input: Mapping[str, str]) -> GraphqlObject:  # noqa: A002  # GraphQL's name
    """Put a reaction on a review, which REST does not let anybody do."""
    wanted, face = input.get("subjectId"), input.get("content")
    review = next((review for review in _reviews(call) if review.node_id == wanted), None)
    if review is None:
        raise _no_node(wanted)
    if face not in _FACES:
        raise _invalid_argument("content")
    call.github.react(review, call.actor, face.lower())
    reaction = {"__typename": "Reaction", "content": face}
    return {"__typename": "AddReactionPayload", "reaction": reaction, "clientMutationId": None}


def _reviews(call: ApiCall) -> Iterator[Review]:
    for repository in call.github.repositories.values():
        for thread in repository.threads.values():
            if isinstance(thread, PullRequest):
                yield from thread.reviews.values()


def _writable_comment(call: ApiCall, wanted: str | None) -> IssueComment:
    for repository in call.github.repositories.values():
        for comment in repository.comments.values():
            if comment.node_id == wanted:
                if _may_write(call, repository):
                    return comment
                raise GraphqlRefusal("FORBIDDEN", "Resource not accessible by integration")
    raise _no_node(wanted)


def _may_see(call: ApiCall, repository: Repository) -> bool:
    if not repository.private:
        return True
    if isinstance(call.caller, InstallationCaller):
        return call.caller.covers(repository)
    return call.account is not None and repository.role(call.account) is not None


def _may_write(call: ApiCall, repository: Repository) -> bool:
    if isinstance(call.caller, InstallationCaller):
        granted = {call.caller.level("issues"), call.caller.level("pull_requests")}
        return call.caller.covers(repository) and "write" in granted
    return call.account is not None and repository.role(call.account) in {"write", "maintain", "admin"}


def _no_node(wanted: str | None) -> GraphqlRefusal:
    return GraphqlRefusal("NOT_FOUND", f"Could not resolve to a node with the global id of '{wanted}'.")


def _invalid_argument(name: str) -> GraphqlRefusal:
    message = f"Argument '{name}' has an invalid value."
    return GraphqlRefusal("argumentLiteralsIncompatible", message, is_invalid=True)


@dataclass(frozen=True, slots=True)
class _Selection:
    """One field that is asked for; `on` is the type of the fragment around it."""

    name: str
    alias: str
    arguments: dict[str, Any]
    fields: list[_Selection]
    on: str | None


def _select(
    value: GraphqlObject, fields: list[_Selection], path: tuple[str, ...], errors: list[dict[str, Any]]
) -> dict[str, Any]:
    """The fields that were asked for, and no others; a field that is refused is null."""
    kind, selected = value["__typename"], dict[str, Any]()
    for field in fields:
        if field.on not in {None, kind}:
            continue
        if field.name not in value:
            message = f"Field '{field.name}' doesn't exist on type '{kind}'"
            raise GraphqlRefusal("undefinedField", message, is_invalid=True)
        here = (*path, field.alias)
        try:
            content = value[field.name]
            selected[field.alias] = _complete(
                content(**field.arguments) if callable(content) else content, field, here, errors
            )
        except GraphqlRefusal as refusal:
            if refusal.is_invalid:
                raise
            selected[field.alias] = None
            errors.append(refusal.error(here))
    return selected


def _complete(content: Any, field: _Selection, path: tuple[str, ...], errors: list[dict[str, Any]]) -> Any:
    if isinstance(content, list):
        return [_complete(item, field, path, errors) for item in content]
    if isinstance(content, dict):
        return _select(content, field.fields, path, errors)
    return content


# Strings, names and variables, numbers, and the signs that mean something; commas and blanks don't.
_TOKEN = re2.compile(r'"(?:[^"\\]|\\.)*"|\$?[A-Za-z_]\w*|-?\d+|\.\.\.|[{}()\[\]:!=]')


class _Parser:
    """Reads one operation; named fragments and directives are not in here."""

    def __init__(self, text: str, variables: Mapping[str, Any]) -> None:
        self._tokens: list[str] = [*_TOKEN.findall(text), ""]
        self._variables = variables
        self._at = 0

    def document(self) -> tuple[str, list[_Selection]]:
        """The operation's kind, and the fields it asks for."""
        kind = self._next if self._next in {"query", "mutation"} else "query"
        while self._next not in {"{", ""}:  # its name, and the types of its variables
            self._take()
        return kind, self._selections()

    @property
    def _next(self) -> str:
        return self._tokens[self._at]

    def _take(self, wanted: str = "") -> str:
        token = self._next
        if not token or (wanted and token != wanted):
            message = f"Parse error on {json.dumps(token)}" if token else "Unexpected end of document"
            raise GraphqlRefusal("PARSE_ERROR", message, is_invalid=True)
        self._at += 1
        return token

    def _selections(self, on: str | None = None) -> list[_Selection]:
        selections = []
        self._take("{")
        while self._next != "}":
            name = self._take()
            if name == "...":
                self._take("on")
                selections += self._selections(self._take())
                continue
            alias = name
            if self._next == ":":
                self._take()
                name = self._take()
            arguments = self._arguments("(", ")") if self._next == "(" else {}
            fields = self._selections() if self._next == "{" else []
            selections.append(_Selection(name, alias, arguments, fields, on))
        self._take("}")
        return selections

    def _arguments(self, begin: str, end: str) -> dict[str, Any]:
        self._take(begin)
        arguments = {}
        while self._next != end:
            name = self._take()
            self._take(":")
            arguments[name] = self._value()
        self._take(end)
        return arguments

    def _value(self) -> Any:
        if self._next == "{":
            return self._arguments("{", "}")
        token = self._take()
        if token.startswith("$"):
            return self._variables.get(token[1:])
        if token in {"true", "false", "null"} or token[0] in '"-0123456789':
            return json.loads(token)
        return token  # a name of an enumeration
