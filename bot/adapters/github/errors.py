"""What GitHub's refusal means: wait, try again, or never mind."""

from __future__ import annotations

import email.utils
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import msgspec

from bot.adapters.payloads.fields import find, text
from bot.ports import Forbidden, GitHubError, Gone, RateLimited, Refused, Unavailable

_AT_LEAST, _AT_MOST = timedelta(seconds=1), timedelta(days=1)  # whatever a clock or a header says
_FIRST_GUESS, _LAST_GUESS = timedelta(seconds=60), timedelta(hours=1)
_PASSING = (408, 421, 425)
"""Refusals that mean "not now": too slow, or not for this connection. A conflict (409) may last."""
_LIMIT_WORDS = ("rate limit", "abuse detection")
_NOT_GRANTED = "not accessible by integration"
_LONGEST_MESSAGE = 300


class BadToken(Unavailable):
    """401: what we showed is not, or no longer, good."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as it came over the wire; header names are in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked, of whose repository."""

    what: str
    permission: str
    installation_id: int
    repository_id: int = 0
    """The one repository that is meant; 0 for any that the installation has."""


@dataclass(slots=True)
class Refusals:
    """Turns refusals into errors, and remembers who was limited without being told for how long."""

    now: Callable[[], datetime]
    strikes: dict[int, int] = field(default_factory=dict)

    def of(self, asked: Asked, answer: Answer) -> GitHubError:
        """The error that an answer other than a success stands for."""
        said = _message(answer)
        message = f"{asked.what}: {answer.status} {said}".rstrip()
        match answer.status:
            case 401:
                return BadToken(message)
            case 403 | 429:
                return self._forbidden(asked, answer, said, message)
            case 404 | 410:
                return Gone(message)
            case status if 400 <= status < 500 and status not in _PASSING:
                return Refused(message)
            case _:
                return Unavailable(message)

    def of_query(self, asked: Asked, answer: Answer, errors: Any) -> GitHubError:
        """The error that GraphQL reports inside an answer of 200."""
        first = errors[0] if isinstance(errors, list) and errors else {}
        kind, said = text(first, "type"), text(first, "message")
        message = f"{asked.what}: {kind} {said}"[:_LONGEST_MESSAGE]
        match kind:
            case "RATE_LIMITED":
                return RateLimited(self._not_before(asked, answer))
            case "NOT_FOUND":
                return Gone(message)
            case "FORBIDDEN" | "INSUFFICIENT_SCOPES":
                return _not_allowed(asked, answer, said, message)
            case "":  # GitHub's own failures have no type
                return Unavailable(message)
            case _:
                return Refused(message)

    def forget(self, installation_id: int) -> None:
        """A success ends a row of limits."""
        self.strikes.pop(installation_id, None)

    def _forbidden(self, asked: Asked, answer: Answer, said: str, message: str) -> GitHubError:
        is_limit = (
            answer.status == 429
            or "retry-after" in answer.headers
            or answer.headers.get("x-ratelimit-remaining") == "0"
            or any(word in said.lower() for word in _LIMIT_WORDS)
        )
        # The last request of the hour may be one that is not granted: waiting would not mend it.
        if is_limit and _NOT_GRANTED not in said:
            return RateLimited(self._not_before(asked, answer))
        return _not_allowed(asked, answer, said, message)

    def _not_before(self, asked: Asked, answer: Answer) -> datetime:
        now = self.now()
        told = _retry_after(answer.headers, now)
        if told is None and answer.headers.get("x-ratelimit-remaining") == "0":
            told = _reset(answer.headers)
        if told is not None:
            return min(max(told, now + _AT_LEAST), now + _AT_MOST)
        strikes = self.strikes.get(asked.installation_id, 0)
        self.strikes[asked.installation_id] = strikes + 1
        guess: timedelta = _FIRST_GUESS * 2 ** min(strikes, 10)
        return now + min(guess, _LAST_GUESS)


def unreached(error: Exception) -> str:
    """Why no answer came, in words."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return f"the name {error.host} is not known here"
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return f"the certificate of {error.host} is not good: {error}"
        case aiohttp.ClientConnectorError():
            return f"nothing answers at {error.host}:{error.port}"
        case TimeoutError():
            return "no answer in time"
        case _:
            return f"{type(error).__name__} {error}".rstrip()


def _not_allowed(asked: Asked, answer: Answer, said: str, message: str) -> Forbidden:
    if _NOT_GRANTED not in said:
        return Forbidden(message)
    permission = answer.headers.get("x-accepted-github-permissions") or asked.permission
    return Forbidden(f"{message}; the App needs {permission}", permission)


def _message(answer: Answer) -> str:
    try:
        content = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    details = find(content, "errors")
    reasons = [text(each, "message") for each in details] if isinstance(details, list) else []
    return ": ".join(part for part in (text(content, "message"), *reasons) if part)[:_LONGEST_MESSAGE]


def _retry_after(headers: Mapping[str, str], now: datetime) -> datetime | None:
    value = headers.get("retry-after", "").strip()
    try:
        if value.isascii() and value.isdigit():
            return now + timedelta(seconds=min(int(value), 10**6))
        return email.utils.parsedate_to_datetime(value).astimezone(UTC) if value else None
    except (ValueError, OverflowError):
        return None


def _reset(headers: Mapping[str, str]) -> datetime | None:
    try:
        return datetime.fromtimestamp(float(headers["x-ratelimit-reset"]), UTC)
    except (KeyError, ValueError, OverflowError, OSError):
        return None
