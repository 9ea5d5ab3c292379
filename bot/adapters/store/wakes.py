"""Who tells a waiting worker that something has arrived?"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from sqlalchemy import text

from bot.adapters.store.transaction import Transaction

CHANNEL = "whetstone"
AGAIN_SECONDS = 1.0


def wake_others(transaction: Transaction) -> None:
    """Wake the workers of other processes once this transaction is committed."""
    if transaction.shared:
        transaction.execute(text(f"NOTIFY {CHANNEL}"))


class Wakes:
    """An event for this process; on a shared database the others' arrivals set it, too."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self._listener: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Wake the worker of this process."""
        self.event.set()

    async def listen(self, dsn: str) -> None:
        """Hear of what arrives through other instances, from now until closed."""
        listening = asyncio.Event()
        self._listener = asyncio.create_task(self._listen(dsn, listening), name="store listener")
        # Without it the worker still looks for itself, each second.
        with suppress(TimeoutError):
            await asyncio.wait_for(listening.wait(), AGAIN_SECONDS * 5)

    async def close(self) -> None:
        """Stop listening."""
        if self._listener:
            self._listener.cancel()
            with suppress(asyncio.CancelledError):
                await self._listener

    async def _listen(self, dsn: str, listening: asyncio.Event) -> None:
        import asyncpg

        while True:
            with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                connection = await asyncpg.connect(dsn, timeout=AGAIN_SECONDS * 5)
                await self._hear(connection, listening)
            await asyncio.sleep(AGAIN_SECONDS)

    async def _hear(self, connection: Any, listening: asyncio.Event) -> None:
        ended = asyncio.Event()
        try:
            connection.add_termination_listener(lambda _connection: ended.set())
            await connection.add_listener(CHANNEL, lambda *_notice: self.wake())
            self.wake()  # something may have come while nobody listened
            listening.set()
            await ended.wait()
        finally:
            connection.terminate()
