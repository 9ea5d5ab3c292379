"""Which numbers may stand behind an option?"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable


def whole(low: int, high: int | None = None) -> Callable[[str], int]:
    """Reads a whole number in these bounds; anything else is refused with the bounds."""
    allowed = f"{low} or more" if high is None else f"from {low} to {high}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if number < low or (high is not None and number > high):
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number {allowed}")
        return number

    return read


def above_zero(high: float) -> Callable[[str], float]:
    """Reads a number above zero, up to this one."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 < number <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is no number above 0, up to {high:g}")
        return number

    return read


port = whole(0, 65535)
"""A TCP port; 0 lets the system choose."""
at_least_one = whole(1)
"""What GitHub numbers: issues and pull requests."""
