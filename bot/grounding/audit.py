"""Audit the grounding log, and compute a validator's grounding rates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot.gates.config import ClaimRule, ClaimType, GroundingTool
from bot.grounding.model import ClaimOutcome
from bot.pull_request.model import GroundedClaim


@dataclass(frozen=True, slots=True)
class GroundingRates:
    """Counts of the claims that need grounding, and the four rates of document 002; None without any."""

    claims: int
    verified: int
    contradicted: int
    unverifiable: int
    looked_up: int
    """Claims for which something was read."""

    @property
    def grounding_rate(self) -> float | None:
        """Claims that an observation supports."""
        return _share(self.verified, self.claims)

    @property
    def hallucination_rate(self) -> float | None:
        """Claims that no observation speaks to: the ungrounded rate."""
        return _share(self.unverifiable, self.claims)

    @property
    def verification_success_rate(self) -> float | None:
        """Claims that were looked up and confirmed, of those looked up."""
        return _share(self.verified, self.looked_up)

    @property
    def false_claim_rate(self) -> float | None:
        """Claims that an observation contradicts, of those that one speaks to."""
        return _share(self.contradicted, self.verified + self.contradicted)

    @property
    def figures(self) -> dict[str, float | int | None]:
        """The rates by the names of document 002, and the plain counts."""
        return {
            "claims": self.claims,
            "verified": self.verified,
            "contradicted": self.contradicted,
            "unverifiable": self.unverifiable,
            "grounding_rate": self.grounding_rate,
            "hallucination_rate": self.hallucination_rate,
            "ungrounded_rate": self.hallucination_rate,
            "verification_success_rate": self.verification_success_rate,
            "false_claim_rate": self.false_claim_rate,
        }


def grounding_rates(log: Iterable[GroundedClaim]) -> GroundingRates:
    """The rates over these entries; only claims that have to be grounded count."""
    entries = [entry for entry in log if entry.required]
    count = {outcome: sum(entry.outcome == outcome for entry in entries) for outcome in ClaimOutcome}
    return GroundingRates(
        claims=len(entries),
        verified=count[ClaimOutcome.VERIFIED],
        contradicted=count[ClaimOutcome.CONTRADICTED],
        unverifiable=count[ClaimOutcome.UNVERIFIABLE],
        looked_up=sum(entry.looked_up for entry in entries),
    )


def first_observations(log: Iterable[GroundedClaim]) -> tuple[GroundedClaim, ...]:
    """Each claim once, as it was when first looked up: what the author fixed later was no false claim."""
    found: dict[tuple[str, str, str, str], GroundedClaim] = {}
    for entry in log:
        claim = entry.verdict, entry.item, entry.claim, entry.type
        if claim not in found or (entry.looked_up and not found[claim].looked_up):
            found[claim] = entry
    return tuple(found.values())


def sum_rates(parts: Iterable[GroundingRates]) -> GroundingRates:
    """The rates over all of them."""
    known = tuple(parts)
    return GroundingRates(
        claims=sum(part.claims for part in known),
        verified=sum(part.verified for part in known),
        contradicted=sum(part.contradicted for part in known),
        unverifiable=sum(part.unverifiable for part in known),
        looked_up=sum(part.looked_up for part in known),
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


@dataclass(frozen=True, slots=True)
class EntryAudit:
    """One entry of the log, and the four checks of document 002."""

    entry: GroundedClaim
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


def audit_log(
    log: Iterable[GroundedClaim], head: str, rules: Mapping[ClaimType, ClaimRule]
) -> tuple[EntryAudit, ...]:
    """Every claim that has to be grounded, checked against the pull request's head as it is now."""
    return tuple(_audited(entry, head, rules) for entry in log if entry.required)


def _audited(entry: GroundedClaim, head: str, rules: Mapping[ClaimType, ClaimRule]) -> EntryAudit:
    decided = entry.outcome != ClaimOutcome.UNVERIFIABLE
    allowed = rules[ClaimType(entry.type)].tools
    is_tool = entry.tool in {tool.value for tool in GroundingTool}
    return EntryAudit(
        entry,
        claim_has_source_reference=bool(entry.source) or not decided,
        source_matches_observation=not decided or (is_tool and _shows_where(entry)),
        observation_timestamp_recent=entry.head == head,
        no_extrapolation_beyond_observation=not decided or entry.tool in {tool.value for tool in allowed},
    )


def _shows_where(entry: GroundedClaim) -> bool:
    """Whether the source names the thing that was seen: a file for contents, a check for check runs."""
    if entry.tool == GroundingTool.CONTENTS:
        return entry.path is not None
    return bool(entry.check) or entry.tool != GroundingTool.CHECKS


def audit_report(
    log: Iterable[GroundedClaim], head: str, rules: Mapping[ClaimType, ClaimRule]
) -> dict[str, object]:
    """The audit as the API gives it."""
    audited = audit_log(log, head, rules)
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


def log_entries(log: Iterable[GroundedClaim]) -> list[dict[str, object]]:
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


def grounding_report(
    log: Sequence[GroundedClaim], head: str, rules: Mapping[ClaimType, ClaimRule]
) -> dict[str, object]:
    """A pull request's log with its rates, and the audit against the head as it is now."""
    return {
        "log": log_entries(log),
        "rates": grounding_rates(first_observations(log)).figures,
        "audit": audit_report(log, head, rules),
    }
