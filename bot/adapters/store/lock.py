"""Is another worker using this file?"""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack
from pathlib import Path

from bot.adapters.store.address import StoreRefused


class WorkerLock:
    """Held by the one process that works on a file; it goes with the process, however that ends."""

    def __init__(self, database: Path) -> None:
        self._descriptor = os.open(f"{database}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with ExitStack() as unlocked:
            unlocked.callback(self.release)
            self._take(database)
            unlocked.pop_all()

    def _take(self, database: Path) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as taken:
            holder = os.pread(self._descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
            raise StoreRefused(
                f"process {holder} already works on {database}; stop it first, or let DATABASE_URL "
                "name a PostgreSQL database, which several may share"
            ) from taken
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let another process work."""
        os.close(self._descriptor)
