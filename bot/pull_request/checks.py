"""Check runs: how others ended, and the text of ours."""

from __future__ import annotations

from dataclasses import dataclass

from bot.values import Conclusion, Location

_PASSED = frozenset({"success", "neutral"})
FAILED_CONCLUSIONS = frozenset({"failure", "error", "timed_out", "action_required", "startup_failure"})


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How a check or commit status ended; `None` while it runs."""

    name: str
    conclusion: str | None
    is_test: bool = False

    @property
    def has_passed(self) -> bool:
        """Whether it ended well."""
        return self.conclusion in _PASSED

    @property
    def has_failed(self) -> bool:
        """Whether it ended badly; one that was skipped, cancelled or still runs did neither."""
        return self.conclusion in FAILED_CONCLUSIONS


GATES_CHECK_NAME = "whetstone/gates"
CONFIG_CHECK_NAME = "whetstone/config"
MAX_ANNOTATIONS = 50
"""GitHub takes no more in one request, and what was taken is never removed."""


@dataclass(frozen=True, slots=True)
class CheckAnnotation:
    """Words at a place of a file."""

    path: str
    line: int
    end_line: int
    message: str
    title: str = ""
    level: str = "failure"
    column: int | None = None

    @property
    def location(self) -> Location:
        """Where it stands."""
        return Location(self.path, self.line, self.end_line if self.end_line != self.line else None)


@dataclass(frozen=True, slots=True)
class CheckRunText:
    """All that a check run of ours says; equal places have equal `places`."""

    name: str
    head: str
    conclusion: Conclusion
    title: str
    summary: str
    places: str = ""
    """What GitHub keeps as the run's external id: it tells whether the annotations are still these."""
    annotations: tuple[CheckAnnotation, ...] = ()
