"""What does a TOML text of a stranger hold, read in a time that grows with its length only?"""

from __future__ import annotations

import tomllib
from typing import Any

_MOST_DOTS = 1_000
"""Dots of one line: the reader takes quadratic time over a dotted key, so a line of them is not read."""


def toml(text: str) -> dict[str, Any]:
    """The values; `ValueError` where it is no TOML, or made to be slow."""
    if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):
        raise ValueError("a line has too many dots")
    return tomllib.loads(text)
