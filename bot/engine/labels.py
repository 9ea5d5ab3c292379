"""How does our one label get on a pull request, and off again?"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.label_effects import LOOKS, ShowLabel
from bot.ports import Claim, GitHub, Gone, OutboxRow, Store


@dataclass(frozen=True, slots=True)
class Labels:
    """Keeps our label in step; others' are never touched."""

    store: Store
    github: GitHub

    async def show(self, claim: Claim, row: OutboxRow, effect: ShowLabel) -> None:
        """Add the one, take the other off: what GitHub shows decides, so it may be repeated."""
        where, number = effect.repository, effect.number
        present = await self.github.labels(where, number)
        if effect.label and effect.label not in present:
            colour, description = LOOKS[effect.label]
            await self.github.make_label(where, effect.label, colour, description)
            await self.github.add_label(where, number, effect.label)
        for other in LOOKS:
            if other != effect.label and other in present:
                await self._take_off(effect, other)
        await self.store.sent(claim, row, None, ())

    async def _take_off(self, effect: ShowLabel, label: str) -> None:
        try:
            await self.github.remove_label(effect.repository, effect.number, label)
        except Gone:
            return  # somebody was quicker
