"""Is what the log says still grounded: sourced, matching, recent, and not beyond what was seen?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.domain.choices import ClaimType
from bot.domain.grounding.catalogue import DEFAULTS, ClaimRule
from bot.domain.grounding.grounded import Grounded
from bot.domain.grounding.rates import first_seen, rates
from bot.domain.grounding.result import Outcome, Tool


@dataclass(frozen=True, slots=True)
class EntryAudit:
    """One entry of the log, and the four checks of document 002."""

    entry: Grounded
    claim_has_source_reference: bool
    source_matches_observation: bool
    observation_timestamp_recent: bool
    no_extrapolation_beyond_observation: bool

    @property
    def passed(self) -> bool:
        """Whether the entry can be relied on."""
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that it does not pass."""
        checks = {
            "claim_has_source_reference": self.claim_has_source_reference,
            "source_matches_observation": self.source_matches_observation,
            "observation_timestamp_recent": self.observation_timestamp_recent,
            "no_extrapolation_beyond_observation": self.no_extrapolation_beyond_observation,
        }
        return tuple(name for name, holds in checks.items() if not holds)


def audit(
    log: Iterable[Grounded], head: str, rules: Mapping[ClaimType, ClaimRule] = DEFAULTS
) -> tuple[EntryAudit, ...]:
    """Every claim that has to be grounded, checked against the pull request's head as it is now."""
    return tuple(_audited(entry, head, rules) for entry in log if entry.required)


def _audited(entry: Grounded, head: str, rules: Mapping[ClaimType, ClaimRule]) -> EntryAudit:
    decided = entry.outcome != Outcome.UNVERIFIABLE
    allowed = rules[ClaimType(entry.type)].tools
    is_tool = entry.tool in {tool.value for tool in Tool}
    return EntryAudit(
        entry,
        claim_has_source_reference=bool(entry.source) or not decided,
        source_matches_observation=not decided or (is_tool and _shows_where(entry)),
        observation_timestamp_recent=entry.head == head,
        no_extrapolation_beyond_observation=not decided or entry.tool in {tool.value for tool in allowed},
    )


def _shows_where(entry: Grounded) -> bool:
    """Whether the source names the thing that was seen: a file for contents, a check for check runs."""
    if entry.tool == Tool.CONTENTS:
        return entry.path is not None
    return bool(entry.check) or entry.tool != Tool.CHECKS


def audit_report(
    log: Iterable[Grounded], head: str, rules: Mapping[ClaimType, ClaimRule] = DEFAULTS
) -> dict[str, object]:
    """The audit as the API gives it."""
    audited = audit(log, head, rules)
    return {
        "head": head,
        "claims": len(audited),
        "passed": sum(each.passed for each in audited),
        "failed": [
            {"claim": each.entry.claim, "verdict": each.entry.verdict, "checks": list(each.failed)}
            for each in audited
            if not each.passed
        ],
    }


def log_entries(log: Iterable[Grounded]) -> list[dict[str, object]]:
    """The grounding log as the API gives it, oldest first."""
    return [
        {
            "validator": entry.name,
            "verdict": entry.verdict,
            "type": entry.type,
            "requirement": entry.requirement,
            "claim": entry.claim,
            "outcome": entry.outcome,
            "source": entry.source or None,
            "head": entry.head,
            "at": entry.at.isoformat(),
            "path": entry.path,
            "line": entry.line,
            "note": entry.note or None,
            "nearest": entry.nearest,
            "moved_from": entry.moved_from,
        }
        for entry in log
    ]


def grounding_of(
    log: Sequence[Grounded], head: str, rules: Mapping[ClaimType, ClaimRule] = DEFAULTS
) -> dict[str, object]:
    """A pull request's log with its rates, and the audit against the head as it is now."""
    return {
        "log": log_entries(log),
        "rates": rates(first_seen(log)).figures,
        "audit": audit_report(log, head, rules),
    }
