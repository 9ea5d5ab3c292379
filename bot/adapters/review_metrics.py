"""The validators' claims of the last seven days, in Prometheus's words; names only for who has the token."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Gauge

from bot.domain.grounding.rates import GroundingRates
from bot.domain.model import Validator
from bot.domain.reviewing import Reviewing, together

MOST_VALIDATORS = 50
"""Series a repository: those with the most claims."""

_RATES = {
    "grounding_rate": "Claims that an observation supports, of those that need one",
    "hallucination_rate": "Claims that no observation speaks to (ungrounded), of those that need one",
    "verification_success_rate": "Claims confirmed, of those looked up",
    "false_claim_rate": "Claims contradicted, of those that an observation speaks to",
}

Reviewed = Mapping[str, tuple[Reviewing, ...]]
"""Repository → its validators."""


def show_claims(found: CollectorRegistry, reviewed: Reviewed) -> None:
    """Everybody's claims together."""
    everybody = together((one for each in reviewed.values() for one in each), Validator("", ""))
    claims = everybody.claims
    counts = Gauge("whetstone_claims", "Claims by what became of them", ["outcome"], registry=found)
    for outcome in ("verified", "contradicted", "unverifiable"):
        counts.labels(outcome).set(getattr(claims, outcome))
    worded = Gauge("whetstone_worded_items", "Items with words of their own", ["vague"], registry=found)
    worded.labels("yes").set(everybody.vague.part)
    worded.labels("no").set(everybody.vague.whole - everybody.vague.part)
    for name, what in _RATES.items():
        rate = _rate(claims, name)
        if rate is not None:
            Gauge(f"whetstone_{name}", what, registry=found).set(rate)


def show_validators(found: CollectorRegistry, reviewed: Reviewed) -> None:
    """Each validator's rates."""
    labels = ["repository", "validator"]
    vague = Gauge("whetstone_validator_vague_items", "Items too vague to act on", labels, registry=found)
    rates = {
        name: Gauge(f"whetstone_validator_{name}", what, labels, registry=found)
        for name, what in _RATES.items()
    }
    for where, validators in reviewed.items():
        for one in validators[:MOST_VALIDATORS]:
            vague.labels(where, one.validator.name).set(one.vague.part)
            for name, shown in rates.items():
                rate = _rate(one.claims, name)
                if rate is not None:
                    shown.labels(where, one.validator.name).set(rate)


def _rate(claims: GroundingRates, name: str) -> float | None:
    rate: float | None = getattr(claims, name)
    return rate
