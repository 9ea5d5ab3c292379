"""Why a call of the API gets no answer, as problem+json."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from aiohttp import web

from bot.adapters.web.answers import problem
from bot.ports import GitHubError, RateLimited


class Refusal(Exception):
    """The caller's mistake, or a trouble that passes."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = dict(headers or {})

    def answer(self) -> web.Response:
        """The refusal in the form of RFC 9457."""
        said = problem(self.status, self.detail)
        said.headers.update(self.headers)
        return said


def no_token() -> Refusal:
    """401: nothing was shown, or nothing that GitHub knows."""
    return Refusal(
        401,
        "Show a GitHub token that may read this repository's metadata: Authorization: Bearer <token>.",
        {"WWW-Authenticate": "Bearer"},
    )


def not_found(what: str = "There is no such repository, or the token may not read it.") -> Refusal:
    """404: also for what is there but not to be seen."""
    return Refusal(404, what)


def too_many(seconds: float, what: str = "Too many calls with this token") -> Refusal:
    """429: with the seconds to wait."""
    wait = str(max(1, round(seconds)))
    return Refusal(429, f"{what}; wait {wait} s.", {"Retry-After": wait})


def github_away(trouble: GitHubError, now: datetime) -> Refusal:
    """503: GitHub did not answer us; with the seconds to wait where it told them."""
    if not isinstance(trouble, RateLimited):
        return Refusal(503, "GitHub can't be asked right now; ask again later.")
    wait = str(max(1, round((trouble.until - now).total_seconds())))
    return Refusal(503, f"GitHub answers us no more for {wait} s.", {"Retry-After": wait})
