"""How much may be held in memory for callers who have not shown who they are?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Room:
    """So many bytes for all together."""

    left: int

    @contextmanager
    def taken(self) -> Iterator[Taken]:
        """One caller's share, given back at the end."""
        taken = Taken(self)
        try:
            yield taken
        finally:
            self.left += taken.size


@dataclass(slots=True, eq=False)
class Taken:
    """What one caller takes of it."""

    room: Room
    size: int = 0

    def more(self, size: int) -> bool:
        """Take so much more; False where that is not left."""
        if size > self.room.left:
            return False
        self.room.left -= size
        self.size += size
        return True
