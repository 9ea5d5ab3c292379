"""A parsed text: its value, and from where to where each part of it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Path = tuple[str | int, ...]
DEEPEST = 50
"""Levels of nesting; a feedback document has six."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A value and the offsets of its parts."""

    value: Any
    spans: dict[Path, tuple[int, int]]


class Unparsable(Exception):
    """What is wrong with a text, and at which character."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.offset = offset
