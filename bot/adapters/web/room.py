"""How much may be held in memory for callers who have not shown who they are?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(slots=True, eq=False)
class Room:
    """So many bytes for all together."""

    left: int

    def taken(self) -> Taken:
        """One caller's share, given back at the end of the block."""
        return Taken(self)


@dataclass(slots=True, eq=False)
class Taken:
    """What one caller takes of it."""

    room: Room
    size: int = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.room.left += self.size

    def more(self, size: int) -> bool:
        """Take so much more; False where that is not left."""
        if size > self.room.left:
            return False
        self.room.left -= size
        self.size += size
        return True
