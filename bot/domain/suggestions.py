"""What GitHub offers to commit with one click: a line of the head, and what to write there instead."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The text of an inline comment at one line of the head."""

    path: str
    line: int
    body: str
