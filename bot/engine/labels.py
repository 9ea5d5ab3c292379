"""How do our labels get on a pull request, and off again?"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.label_effects import LOOKS, ShowLabel
from bot.ports import Claim, GitHub, Gone, OutboxRow, Store


@dataclass(frozen=True, slots=True)
class Labels:
    """Keeps our labels in step; others' are never touched."""

    store: Store
    github: GitHub

    async def show(self, claim: Claim, row: OutboxRow, effect: ShowLabel) -> None:
        """Add what is missing, take the others off: what GitHub shows decides, so it may be repeated."""
        where, number = effect.repository, effect.number
        present = await self.github.labels(where, number)
        for label, (colour, description) in LOOKS.items():
            if label in effect.labels and label not in present:
                await self.github.make_label(where, label, colour, description)
                await self.github.add_label(where, number, label)
        for label in LOOKS:
            if label not in effect.labels and label in present:
                await self._take_off(effect, label)
        await self.store.sent(claim, row, None, ())

    async def _take_off(self, effect: ShowLabel, label: str) -> None:
        try:
            await self.github.remove_label(effect.repository, effect.number, label)
        except Gone:
            return  # somebody was quicker
