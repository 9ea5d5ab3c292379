"""What a linter of feedback files says: each finding with its place in the file."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.quality import Level


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in a file, both counted from 1, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Lint:
    """One finding in a file: where it is as a position and as a JSON pointer, and what to write instead."""

    level: Level
    rule: str
    pointer: str
    position: Position
    message: str
    instead: str


class UnreadableFeedback(Exception):
    """The file is no JSON or YAML document; says where and why, in one line."""
