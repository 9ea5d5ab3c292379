"""How long do the readers of foreign text take per KB, as a text that was made to keep them busy grows?"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.hostile import GROUPS, SHAPES, Reader, seconds

SIZES = (1, 4, 16, 64)
"""KB of a text."""


def main() -> None:
    """Print for every reader what the slowest shape of each size takes."""
    print(
        "µs per KB of the slowest shape of each size; a reader in linear time has the same in every column\n"
    )
    print(f"{'':34}{''.join(f'{size:>6} KB' for size in SIZES)}   slowest at {SIZES[-1]} KB")
    for group, readers in GROUPS.items():
        for name, read in readers.items():
            worst = [_slowest(read, size) for size in SIZES]
            cells = "".join(
                f"{taken / size * 1e6:>9,.0f}" for size, (taken, _) in zip(SIZES, worst, strict=True)
            )
            print(f"{f'{group}: {name}':34}{cells}   {worst[-1][1]}", flush=True)


def _slowest(read: Reader, size: int) -> tuple[float, str]:
    read("a")  # what is loaded or compiled once is no part of it
    return max((seconds(read, make(size * 1000)), shape) for shape, make in SHAPES.items())
