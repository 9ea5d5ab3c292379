"""Map GitHub's error responses to exceptions: rate limits, outages, missing permissions."""

from __future__ import annotations

import email.utils
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import msgspec

from bot.github.payloads import Parsed, PayloadError, get_path, get_text


class GitHubError(Exception):
    """GitHub did not do what was requested."""


class RateLimited(GitHubError):
    """The installation must not ask before `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__(f"rate limited until {until.isoformat()}")
        self.until = until


class GitHubUnavailable(GitHubError):
    """5xx, time-out, reset, or a thing GitHub does not show yet: try again later."""


class NotFound(GitHubError):
    """404 or 410 of a thing that was there."""


class Forbidden(GitHubError):
    """403 that waiting does not help: locked, archived, suspended, or a permission that was not granted."""

    def __init__(self, message: str = "", permission: str | None = None) -> None:
        super().__init__(message)
        self.permission = permission
        """What the App lacks (`pull_requests=write`), where that is the reason."""


class ValidationFailed(GitHubError):
    """422: GitHub understood the request and rejects it."""


_MIN_WAIT, _MAX_WAIT = timedelta(seconds=1), timedelta(days=1)  # whatever a clock or a header says
_FIRST_GUESS, _LAST_GUESS = timedelta(seconds=60), timedelta(hours=1)
_PASSING = (408, 421, 425)
"""Refusals that mean "not now": too slow, or not for this connection. A conflict (409) may last."""
_LIMIT_WORDS = ("rate limit", "abuse detection")
_NOT_GRANTED = "not accessible by integration"
_LONGEST_MESSAGE = 300


class BadToken(GitHubUnavailable):
    """401: the credentials are not, or no longer, valid."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """One HTTP answer; header names are case-insensitive."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request, with what is needed to explain its failure."""

    what: str
    permission: str
    installation_id: int
    repository_id: int = 0
    """The repository of the request; 0 for any of the installation."""


@dataclass(slots=True)
class ErrorMapper:
    """Maps answers to errors, and counts rate limits that did not say for how long."""

    now: Callable[[], datetime]
    strikes: dict[int, int] = field(default_factory=dict)

    def map_answer(self, request: ApiRequest, answer: HttpAnswer) -> GitHubError:
        """The error for an answer that is not a success."""
        reason = _message(answer)
        message = f"{request.what}: {answer.status} {reason}".rstrip()
        match answer.status:
            case 401:
                return BadToken(message)
            case 403 | 429:
                return self._forbidden(request, answer, reason, message)
            case 404 | 410:
                return NotFound(message)
            case status if 400 <= status < 500 and status not in _PASSING:
                return ValidationFailed(message)
            case _:
                return GitHubUnavailable(message)

    def map_query_errors(self, request: ApiRequest, answer: HttpAnswer, errors: Any) -> GitHubError:
        """The error for a GraphQL answer of 200 with errors."""
        first = errors[0] if isinstance(errors, list) and errors else {}
        kind, reason = get_text(first, "type"), get_text(first, "message")
        message = f"{request.what}: {kind} {reason}"[:_LONGEST_MESSAGE]
        match kind:
            case "RATE_LIMITED":
                return RateLimited(self._not_before(request, answer))
            case "NOT_FOUND":
                return NotFound(message)
            case "FORBIDDEN" | "INSUFFICIENT_SCOPES":
                return _not_allowed(request, answer, reason, message)
            case "":  # GitHub's own failures have no type
                return GitHubUnavailable(message)
            case _:
                return ValidationFailed(message)

    def reset(self, installation_id: int) -> None:
        """Reset the count after a success."""
        self.strikes.pop(installation_id, None)

    def _forbidden(self, request: ApiRequest, answer: HttpAnswer, reason: str, message: str) -> GitHubError:
        is_limit = (
            answer.status == 429
            or "retry-after" in answer.headers
            or answer.headers.get("x-ratelimit-remaining") == "0"
            or any(word in reason.lower() for word in _LIMIT_WORDS)
        )
        # The last request of the hour may be one that is not granted: waiting would not help.
        if is_limit and _NOT_GRANTED not in reason:
            return RateLimited(self._not_before(request, answer))
        return _not_allowed(request, answer, reason, message)

    def _not_before(self, request: ApiRequest, answer: HttpAnswer) -> datetime:
        now = self.now()
        until = _retry_after(answer.headers, now)
        if until is None and answer.headers.get("x-ratelimit-remaining") == "0":
            until = _reset(answer.headers)
        if until is not None:
            return min(max(until, now + _MIN_WAIT), now + _MAX_WAIT)
        strikes = self.strikes.get(request.installation_id, 0)
        self.strikes[request.installation_id] = strikes + 1
        guess: timedelta = _FIRST_GUESS * 2 ** min(strikes, 10)
        return now + min(guess, _LAST_GUESS)


def parse_answer(what: str, parse: Callable[[Any], Parsed], answer: Any) -> Parsed:
    """Parse what GitHub answered; an answer that can't be read is as good as none."""
    try:
        return parse(answer)
    except PayloadError as error:
        raise GitHubUnavailable(f"{what}: {error}") from error


def describe_connection_error(error: Exception) -> str:
    """Describe why no answer came."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            return f"the host name {error.host} can't be resolved"
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return f"the certificate of {error.host} is not valid: {error}"
        case aiohttp.ClientConnectorError():
            return f"nothing is listening on {error.host}:{error.port}"
        case TimeoutError():
            return "the request timed out"
        case _:
            return f"{type(error).__name__} {error}".rstrip()


def _not_allowed(request: ApiRequest, answer: HttpAnswer, reason: str, message: str) -> Forbidden:
    if _NOT_GRANTED not in reason:
        return Forbidden(message)
    permission = answer.headers.get("x-accepted-github-permissions") or request.permission
    return Forbidden(f"{message}; the App needs {permission}", permission)


def _message(answer: HttpAnswer) -> str:
    try:
        content = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    details = get_path(content, "errors")
    reasons = [get_text(detail, "message") for detail in details] if isinstance(details, list) else []
    return ": ".join(part for part in (get_text(content, "message"), *reasons) if part)[:_LONGEST_MESSAGE]


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
