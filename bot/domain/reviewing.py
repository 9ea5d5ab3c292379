"""How did the validators put what they said in a span of time?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.advice import Share
from bot.domain.grounding.rates import GroundingRates, total
from bot.domain.memory import Record, Window
from bot.domain.model import GHOST, Validator
from bot.domain.stated import Stated


@dataclass(frozen=True, slots=True)
class Reviewing:
    """One validator's claims, and how many of their items were vague."""

    validator: Validator
    claims: GroundingRates
    vague: Share

    @property
    def figures(self) -> dict[str, object]:
        """As the API gives them."""
        return {**self.claims.figures, "items": self.vague.whole, "vague_items": self.vague.part}


def reviewing(records: Iterable[Record], window: Window) -> tuple[Reviewing, ...]:
    """Each validator who spoke in the window, those with the most claims first."""
    said: dict[str, list[tuple[Validator, Stated]]] = {}
    for record in records:
        known = {each.verdict: each for each in record.stated}
        for verdict in record.verdicts:
            if verdict.at in window and verdict.id in known:
                said.setdefault(_key(verdict.validator), []).append((verdict.validator, known[verdict.id]))
    found = [_summed(each[-1][0], [put for _, put in each]) for each in said.values()]
    return tuple(sorted(found, key=lambda one: (-one.claims.claims, -one.vague.whole, one.validator.name)))


def together(found: Iterable[Reviewing], validator: Validator) -> Reviewing:
    """Several validators as one."""
    known = tuple(found)
    return Reviewing(
        validator,
        total(one.claims for one in known),
        Share(sum(one.vague.part for one in known), sum(one.vague.whole for one in known)),
    )


def _key(validator: Validator) -> str:
    """Whoever was forgotten is nobody in particular."""
    return GHOST.login if validator.name == GHOST.login else validator.key


def _summed(validator: Validator, said: list[Stated]) -> Reviewing:
    vague = Share(sum(each.vague for each in said), sum(each.items for each in said))
    return Reviewing(validator, total(each.claims for each in said), vague)
