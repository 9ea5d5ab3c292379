"""Which lane a delivery belongs to: what must be worked on in order, by one worker at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bot.adapters.payloads import OWN_EVENT
from bot.adapters.payloads.fields import Json, Odd, find, identifier, word

_LONGEST = 200


def lane(event: str, payload: Json) -> str | None:
    """The lane's name, None where the payload is of a shape that names none."""
    try:
        return _LANES[event](payload) if event in _LANES else None
    except Odd:
        return None


def _pull_request(payload: Json) -> str:
    return f"pr:{identifier(payload, 'repository.id')}:{identifier(payload, 'pull_request.number')}"


def _issue(payload: Json) -> str:
    kind = "pr" if find(payload, "issue.pull_request") else "issue"
    return f"{kind}:{identifier(payload, 'repository.id')}:{identifier(payload, 'issue.number')}"


def _commit(path: str) -> Callable[[Json], str]:
    return lambda payload: f"commit:{identifier(payload, 'repository.id')}:{_short(payload, path)}"


def _installation(payload: Json) -> str:
    return f"installation:{identifier(payload, 'installation.id')}"


def _repository(payload: Json) -> str:
    return f"repository:{identifier(payload, 'repository.id')}"


def _own(payload: Json) -> str:
    return _short(payload, "lane")


def _short(payload: Json, path: str) -> str:
    value = word(payload, path)
    if len(value) > _LONGEST:
        raise Odd(path, "short")
    return value


_LANES: Mapping[str, Callable[[Json], str]] = {
    "pull_request": _pull_request,
    "pull_request_review": _pull_request,
    "pull_request_review_comment": _pull_request,
    "pull_request_review_thread": _pull_request,
    "issue_comment": _issue,
    "check_run": _commit("check_run.head_sha"),
    "check_suite": _commit("check_suite.head_sha"),
    "status": _commit("sha"),
    "push": _commit("after"),
    "repository": _repository,
    "installation": _installation,
    "installation_repositories": _installation,
    OWN_EVENT: _own,
}
