"""What GitHub offers to commit with one click: a line of the head, and what to write there instead."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.diff import hunks


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The text of an inline comment at one line of the head."""

    path: str
    line: int
    body: str


def commentable_lines(patch: str) -> frozenset[int]:
    """The lines of the new side that a diff shows; GitHub takes an inline comment at no other."""
    found: set[int] = set()
    for hunk in hunks(patch):
        number = hunk.new
        for line in hunk.lines:
            if not line.startswith("-"):
                found.add(number)
                number += 1
    return frozenset(found)
