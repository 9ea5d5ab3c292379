"""What did looking a claim up show, where was it seen, and what would have shown it?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """Whether what was claimed is so."""

    VERIFIED = "verified"
    CONTRADICTED = "contradicted"
    UNVERIFIABLE = "unverifiable"


class Tool(StrEnum):
    """What a claim was looked up with: a read of GitHub's API."""

    TREE = "tree"
    CONTENTS = "contents"
    CHECKS = "check runs"
    PULL_REQUEST = "pull request"


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one claim."""

    outcome: Outcome
    tool: Tool | None
    """None where nothing was looked at."""
    note: str = ""
    """What was seen instead, or why nothing was: words that can end a sentence."""
    check: str = ""
    """The check run that showed it."""
    nearest: str | None = None
    path: str | None = None
    line: int | None = None
    end_line: int | None = None
    moved_from: int | None = None


def verified(tool: Tool, path: str | None = None, line: int | None = None, end: int | None = None) -> Result:
    """It is so, seen there."""
    return Result(Outcome.VERIFIED, tool, path=path, line=line, end_line=end)


def contradicted(tool: Tool, note: str, nearest: str | None = None, path: str | None = None) -> Result:
    """It is not so."""
    return Result(Outcome.CONTRADICTED, tool, note, nearest=nearest, path=path)


def unverifiable(note: str, tool: Tool | None = None, path: str | None = None) -> Result:
    """Nobody can say from what was seen."""
    return Result(Outcome.UNVERIFIABLE, tool, note, path=path)
