"""Check runs: results of other apps' checks, and the text of the bot's own."""

from __future__ import annotations

from dataclasses import dataclass, field

from bot.values import Conclusion, Location

_PASSED = frozenset({"success", "neutral"})
FAILED_CONCLUSIONS = frozenset({"failure", "error", "timed_out", "action_required", "startup_failure"})


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How a check or commit status ended; `None` while it runs."""

    name: str
    conclusion: str | None
    is_test: bool = False
    run_id: int = field(default=0, compare=False)
    """The newest run that is known of it; 0 for a status."""
    app: str | None = None
    """The slug of the App that ran it, empty for a status; None where version 0.1 recorded only the name."""
    suite_id: int = 0
    """The check suite of its run; 0 for a status."""

    @property
    def validator_key(self) -> str:
        """What identifies the check across heads, as in the verdicts."""
        return check_validator_key(self.app or "", self.name)

    def is_same_run(self, other: CheckResult) -> bool:
        """Whether two results are of one check in one suite, so that the newer replaces the older."""
        if self.name != other.name:
            return False
        return None in (self.app, other.app) or (self.app, self.suite_id) == (other.app, other.suite_id)

    @property
    def has_passed(self) -> bool:
        """Whether it succeeded or was neutral."""
        return self.conclusion in _PASSED

    @property
    def has_failed(self) -> bool:
        """Whether it failed; one that was skipped, cancelled or still runs did neither."""
        return self.conclusion in FAILED_CONCLUSIONS


def check_validator_key(app: str, name: str) -> str:
    """Return what identifies a check across heads: the App and the name; a status has no App."""
    return f"check:{app}/{name}" if app else f"check:{name}"


GATES_CHECK_NAME = "whetstone/gates"
CONFIG_CHECK_NAME = "whetstone/config"
MAX_ANNOTATIONS = 50
"""GitHub's limit per request; annotations are never removed afterwards."""


@dataclass(frozen=True, slots=True)
class CheckAnnotation:
    """A message at lines of a file."""

    path: str
    line: int
    end_line: int
    message: str
    title: str = ""
    level: str = "failure"
    column: int | None = None

    @property
    def location(self) -> Location:
        """The annotated lines."""
        return Location(self.path, self.line, self.end_line if self.end_line != self.line else None)


@dataclass(frozen=True, slots=True)
class CheckRunText:
    """The text of one of the bot's check runs; equal annotations have equal `places`."""

    name: str
    head: str
    conclusion: Conclusion
    title: str
    summary: str
    places: str = ""
    """Stored as the run's external id: it shows whether the annotations are still the same."""
    annotations: tuple[CheckAnnotation, ...] = ()
