"""What does GitHub's GraphQL answer to the few questions and mutations that REST does not have?"""

from __future__ import annotations

from typing import Any

import re2

from bot.standin.api.call import Answer, Call
from bot.standin.model import IssueComment, PullRequest
from bot.standin.tokens import InstallationCaller, Nobody

_CLASSIFIERS = ("ABUSE", "DUPLICATE", "OFF_TOPIC", "OUTDATED", "RESOLVED", "SPAM")
_FACES = ("CONFUSED", "EYES", "HEART", "HOORAY", "LAUGH", "ROCKET", "THUMBS_DOWN", "THUMBS_UP")
_ARGUMENT = re2.compile(r"(subjectId|classifier|content)\s*:\s*(?:\"([^\"]*)\"|\$(\w+)|(\w+))")


def answer(call: Call) -> Answer:  # noqa: PLR0911  a return for each thing that can be wrong
    """Minimise a comment, or show it again; everything GraphQL finds wrong is a 200 with errors."""
    if isinstance(call.caller, Nobody):
        return Answer({"message": "This endpoint requires you to be authenticated."}, status=401)
    query = str(call.fields.get("query", ""))
    if "viewer" in query:
        return _viewer(call)
    if "addReaction" in query:
        return _react(call, _arguments(query, call.fields.get("variables") or {}))
    name = next((each for each in ("unminimizeComment", "minimizeComment") if each in query), None)
    if name is None:
        return _failed(None, "undefinedField", "Only minimizeComment and unminimizeComment are known here.")
    asked = _arguments(query, call.fields.get("variables") or {})
    comment = _comment(call, asked.get("subjectId"))
    if comment is None:
        missing = f"Could not resolve to a node with the global id of '{asked.get('subjectId')}'."
        return _failed(name, "NOT_FOUND", missing)
    if not _may_write(call, comment):
        return _failed(name, "FORBIDDEN", "Resource not accessible by integration")
    if name == "minimizeComment" and asked.get("classifier") not in _CLASSIFIERS:
        return _failed(None, "argumentLiteralsIncompatible", "Argument 'classifier' has an invalid value.")
    reason = asked["classifier"].lower().replace("_", "-") if name == "minimizeComment" else None
    call.github.minimize(comment, reason)
    shown = {"isMinimized": reason is not None, "minimizedReason": reason}
    return Answer({"data": {name: {_field(name): shown, "clientMutationId": None}}})


def _viewer(call: Call) -> Answer:
    """Who is asking; also an installation gets to know its App's account here, and nowhere else."""
    who = call.actor
    return Answer({"data": {"viewer": {"login": who.login, "databaseId": who.id}}})


def _react(call: Call, asked: dict[str, str]) -> Answer:
    """Put a reaction on a review, which REST does not let anybody do."""
    name, wanted, face = "addReaction", asked.get("subjectId"), asked.get("content")
    reviews = (
        review
        for where in call.github.repositories.values()
        for thread in where.threads.values()
        if isinstance(thread, PullRequest)
        for review in thread.reviews.values()
    )
    review = next((each for each in reviews if each.node_id == wanted), None)
    if review is None:
        return _failed(name, "NOT_FOUND", f"Could not resolve to a node with the global id of '{wanted}'.")
    if face not in _FACES:
        return _failed(None, "argumentLiteralsIncompatible", "Argument 'content' has an invalid value.")
    call.github.react_to_review(review, call.actor, face.lower())
    return Answer({"data": {name: {"reaction": {"content": face}, "clientMutationId": None}}})


def _arguments(query: str, variables: dict[str, Any]) -> dict[str, str]:
    """The input's fields, given in place, as variables, or as one variable that holds them all."""
    given = variables.get("input")
    found = {key: str(value) for key, value in given.items()} if isinstance(given, dict) else {}
    for name, text, variable, word in _ARGUMENT.findall(query):
        if value := (str(variables.get(variable, "")) if variable else text or word):
            found.setdefault(name, value)
    return found


def _comment(call: Call, wanted: str | None) -> IssueComment | None:
    comments = (each for where in call.github.repositories.values() for each in where.comments.values())
    return next((each for each in comments if each.node_id == wanted), None)


def _may_write(call: Call, comment: IssueComment) -> bool:
    where = comment.issue.repository
    if isinstance(call.caller, InstallationCaller):
        granted = {call.caller.level("issues"), call.caller.level("pull_requests")}
        return call.caller.covers(where) and "write" in granted
    return call.account is not None and where.role(call.account) in {"write", "maintain", "admin"}


def _field(name: str) -> str:
    return "minimizedComment" if name == "minimizeComment" else "unminimizedComment"


def _failed(name: str | None, kind: str, message: str) -> Answer:
    error: dict[str, Any] = {"type": kind, "message": message, "locations": [{"line": 1, "column": 1}]}
    if name is None:
        return Answer({"errors": [error]})
    return Answer({"data": {name: None}, "errors": [error | {"path": [name]}]})
