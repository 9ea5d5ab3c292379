"""Which deliveries did GitHub fail to bring, and how are they brought again?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.app_facts import Sent
from bot.domain.diagnosis import unanswered
from bot.ports import Gone


class Deliveries(Protocol):
    """GitHub's list of what it sent."""

    async def deliveries(self, since: datetime) -> tuple[Sent, ...]:
        """What GitHub sent since then, newest first."""
        ...

    async def redeliver(self, delivery_id: int) -> None:
        """Have it sent again, with the same GUID."""
        ...


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Asks for what failed; a delivery that came after all is known by its GUID and has no second effect."""

    github: Deliveries
    clock: Callable[[], datetime]

    async def failed(self, since: timedelta) -> tuple[Sent, ...]:
        """The newest attempt of every delivery that no attempt brought, oldest first."""
        return unanswered(await self.github.deliveries(self.clock() - since))

    async def send_again(self, failed: tuple[Sent, ...]) -> AsyncIterator[tuple[Sent, bool]]:
        """Each with whether GitHub sends it again; one that it has forgotten it does not."""
        for sent in failed:
            try:
                await self.github.redeliver(sent.id)
            except Gone:
                yield sent, False
            else:
                yield sent, True
