"""How much of what a validator claims is grounded, and how much of it is so?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.grounding.grounded import Grounded
from bot.domain.grounding.result import Outcome


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


def rates(log: Iterable[Grounded]) -> GroundingRates:
    """The rates over these entries; only claims that have to be grounded count."""
    entries = [entry for entry in log if entry.required]
    count = {outcome: sum(entry.outcome == outcome for entry in entries) for outcome in Outcome}
    return GroundingRates(
        claims=len(entries),
        verified=count[Outcome.VERIFIED],
        contradicted=count[Outcome.CONTRADICTED],
        unverifiable=count[Outcome.UNVERIFIABLE],
        looked_up=sum(entry.looked_up for entry in entries),
    )


def first_seen(log: Iterable[Grounded]) -> tuple[Grounded, ...]:
    """Each claim once, as it was when first looked up: what the author fixed later was no false claim."""
    found: dict[tuple[str, str, str, str], Grounded] = {}
    for entry in log:
        claim = entry.verdict, entry.item, entry.claim, entry.type
        if claim not in found or (entry.looked_up and not found[claim].looked_up):
            found[claim] = entry
    return tuple(found.values())


def total(parts: Iterable[GroundingRates]) -> GroundingRates:
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
