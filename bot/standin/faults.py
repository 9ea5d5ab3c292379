"""Which of the next requests shall go wrong, and how?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from fnmatch import fnmatchcase
from typing import Any

_PRIMARY = "API rate limit exceeded for installation ID 1."
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
_MESSAGES = {500: "Server Error", 502: "Server Error", 503: "Service Unavailable", 504: "Gateway Timeout"}


class Kind(Enum):
    """How a request goes wrong."""

    ANSWER = auto()
    HANG = auto()
    RESET = auto()


@dataclass(slots=True, eq=False)
class Fault:
    """One trouble: it meets the next `times` requests that fit, after letting `skip` of them pass."""

    method: str
    pattern: str
    kind: Kind
    times: int
    skip: int = 0
    after: bool = False  # the request is carried out first
    status: int = 500
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    met: int = 0

    def fits(self, method: str, path: str) -> bool:
        """Whether a request is meant."""
        return self.method in {"*", method} and fnmatchcase(path, self.pattern)


class Faults:
    """The troubles that wait for their requests."""

    def __init__(self) -> None:
        self.waiting: list[Fault] = []

    def add(self, fault: Fault) -> Fault:
        """Let one more trouble wait."""
        self.waiting.append(fault)
        return fault

    def clear(self) -> None:
        """No more trouble."""
        self.waiting.clear()

    def meet(self, method: str, path: str) -> Fault | None:
        """The trouble of this request, if it has any."""
        for fault in self.waiting:
            if not fault.fits(method, path):
                continue
            if fault.skip > 0:
                fault.skip -= 1
                continue
            fault.met += 1
            if fault.met >= fault.times:
                self.waiting.remove(fault)
            return fault
        return None


class FaultActs:
    """The ways to order trouble; a pattern is a path with `*` for anything, slashes included."""

    def __init__(self) -> None:
        self.faults = Faults()

    def fail(  # noqa: PLR0913  # a test names only what it changes
        self,
        method: str,
        pattern: str,
        *,
        status: int | None = None,
        times: int = 1,
        skip: int = 0,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        after: bool = False,
    ) -> Fault:
        """Answer with this status; with `after`, only once the request was carried out.

        Without a status and with `after`, the connection is dropped instead: done, but the answer is lost.
        """
        if status is None and after:
            return self.faults.add(Fault(method, pattern, Kind.RESET, times, skip, after=True))
        code = 500 if status is None else status
        shown = {"message": _MESSAGES.get(code, "Something went wrong")} if body is None else body
        return self.faults.add(
            Fault(method, pattern, Kind.ANSWER, times, skip, after, code, headers or {}, shown)
        )

    def lose_answer(self, method: str, pattern: str, *, times: int = 1, skip: int = 0) -> Fault:
        """Carry the request out, then drop the connection."""
        return self.faults.add(Fault(method, pattern, Kind.RESET, times, skip, after=True))

    def reset(self, method: str, pattern: str, *, times: int = 1, skip: int = 0) -> Fault:
        """Drop the connection without carrying the request out."""
        return self.faults.add(Fault(method, pattern, Kind.RESET, times, skip))

    def hang(self, method: str, pattern: str, *, times: int = 1, after: bool = False) -> Fault:
        """Never answer."""
        return self.faults.add(Fault(method, pattern, Kind.HANG, times, after=after))

    def limit_primary(
        self, reset_at: datetime, *, method: str = "*", pattern: str = "*", times: int = 1, status: int = 403
    ) -> Fault:
        """The hour's budget is used up until then; GitHub gives no `Retry-After` for this one."""
        reset = str(int(reset_at.timestamp()))
        headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Used": "5000", "X-RateLimit-Reset": reset}
        body = {"message": _PRIMARY}
        return self.fail(method, pattern, status=status, times=times, headers=headers, body=body)

    def limit_secondary(
        self,
        retry_after: int | None = None,
        *,
        method: str = "*",
        pattern: str = "*",
        times: int = 1,
        status: int = 403,
    ) -> Fault:
        """Too much at once; with or without a hint when to come back."""
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        body = {"message": SECONDARY}
        return self.fail(method, pattern, status=status, times=times, headers=headers, body=body)
