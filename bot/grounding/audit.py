"""Audit the grounding log, and compute a validator's grounding rates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass

from bot.gates.config import ClaimRule, ClaimType, GroundingTool
from bot.grounding.model import ClaimOutcome
from bot.pull_request.model import GroundedClaim


@dataclass(frozen=True, slots=True)
class GroundingRates:
    """Counts of the claims that need grounding, and their rates; a rate of nothing is None."""

    claims: int = 0
    verified: int = 0
    contradicted: int = 0
    unverifiable: int = 0
    looked_up: int = 0
    """Claims for which something was read."""

    @property
    def figures(self) -> dict[str, float | int | None]:
        """The counts and rates as the API shows them."""
        counts = asdict(self)
        looked_up = counts.pop("looked_up")
        ungrounded = _rate(self.unverifiable, self.claims)
        return counts | {
            "grounding_rate": _rate(self.verified, self.claims),
            "hallucination_rate": ungrounded,
            "ungrounded_rate": ungrounded,
            "verification_success_rate": _rate(self.verified, looked_up),
            # Of the claims that an observation speaks to.
            "false_claim_rate": _rate(self.contradicted, self.verified + self.contradicted),
        }


def grounding_rates(log: Iterable[GroundedClaim]) -> GroundingRates:
    """Compute the rates of these entries; only claims that need grounding count."""
    entries = [entry for entry in log if entry.required]
    outcomes = Counter(ClaimOutcome(entry.outcome) for entry in entries)
    verified, contradicted, unverifiable = (outcomes[outcome] for outcome in ClaimOutcome)
    looked_up = sum(entry.looked_up for entry in entries)
    return GroundingRates(len(entries), verified, contradicted, unverifiable, looked_up)


def first_observations(log: Iterable[GroundedClaim]) -> tuple[GroundedClaim, ...]:
    """Return each claim once, as first looked up: what the author fixed later was no false claim."""
    first: dict[tuple[str, str, str, str], GroundedClaim] = {}
    for entry in log:
        key = entry.verdict, entry.item, entry.claim, entry.type
        if key not in first or (entry.looked_up and not first[key].looked_up):
            first[key] = entry
    return tuple(first.values())


def sum_rates(parts: Iterable[GroundingRates]) -> GroundingRates:
    """Add up the counts."""
    counts = zip((0, 0, 0, 0, 0), *map(astuple, parts), strict=True)
    return GroundingRates(*map(sum, counts))


def _rate(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def grounding_report(
    log: Sequence[GroundedClaim], head: str, rules: Mapping[ClaimType, ClaimRule]
) -> dict[str, object]:
    """Return a pull request's log as the API shows it, with its rates and its audit at the current head."""
    audited = [(entry, failed_checks(entry, head, rules)) for entry in log if entry.required]
    failed = [(entry, checks) for entry, checks in audited if checks]
    return {
        "log": list(map(_log_line, log)),
        "rates": grounding_rates(first_observations(log)).figures,
        "audit": {
            "head": head,
            "claims": len(audited),
            "passed": len(audited) - len(failed),
            "failed": [
                {"claim": entry.claim, "verdict": entry.verdict, "checks": checks} for entry, checks in failed
            ],
        },
    }


def failed_checks(entry: GroundedClaim, head: str, rules: Mapping[ClaimType, ClaimRule]) -> list[str]:
    """Return the names of the audit's checks that an entry fails, at the pull request's current head."""
    is_open = entry.outcome == ClaimOutcome.UNVERIFIABLE
    is_tool = entry.tool in {tool.value for tool in GroundingTool}
    allowed = {tool.value for tool in rules[ClaimType(entry.type)].tools}
    checks = {
        "claim_has_source_reference": is_open or bool(entry.source),
        "source_matches_observation": is_open or (is_tool and _names_source(entry)),
        "observation_timestamp_recent": entry.head == head,
        "no_extrapolation_beyond_observation": is_open or entry.tool in allowed,
    }
    return [name for name, passed in checks.items() if not passed]


def _names_source(entry: GroundedClaim) -> bool:
    """Whether the entry names what was read: a file for contents, a check for check runs."""
    if entry.tool == GroundingTool.CONTENTS:
        return entry.path is not None
    return bool(entry.check) or entry.tool != GroundingTool.CHECKS


def _log_line(entry: GroundedClaim) -> dict[str, object]:
    return {
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
