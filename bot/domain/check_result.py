"""How a check or commit status of a revision ended."""

from __future__ import annotations

from dataclasses import dataclass

_PASSED = frozenset({"success", "neutral"})
_FAILED = frozenset({"failure", "error", "timed_out", "action_required", "startup_failure"})


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How a check or commit status ended; `None` while it runs."""

    name: str
    conclusion: str | None
    is_test: bool = False

    @property
    def passed(self) -> bool:
        """Whether it ended well."""
        return self.conclusion in _PASSED

    @property
    def failed(self) -> bool:
        """Whether it ended badly; one that was skipped, cancelled or still runs did neither."""
        return self.conclusion in _FAILED
