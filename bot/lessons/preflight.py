"""Rank the gates that an author is likely to break next, and compute the certain fixes of changed files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import PurePosixPath

from bot import regex
from bot.pull_request.model import Item
from bot.values import Location
from bot.verdicts.item_context import compute_fix

MAX_SHOWN = 3
"""Gates that a preflight names; the backtest counts a hit among as many."""

_MAX_CANDIDATES = 20  # lines of one file that are looked at for a fix
_LINK = regex.Regex(r"\[\[(?P<target>[^\[\]|#]+)[^\[\]]*\]\]")


@dataclass(frozen=True, slots=True)
class GateHistory:
    """How often a gate was broken, and which files the reviews named in those pull requests."""

    tag: str
    broken: int = 0
    prevented: int = 0
    paths: tuple[str, ...] = ()
    text: str = ""
    """The lesson's line."""
    blocking: bool = True
    last_fix: str = ""


@dataclass(frozen=True, slots=True)
class CertainFix:
    """A line that follows from the file alone."""

    tag: str
    path: str
    line: int
    replacement: str


def rank_gates(
    own: Sequence[GateHistory], everybody: Iterable[GateHistory], changed: Sequence[str]
) -> tuple[GateHistory, ...]:
    """Return the gates in the order in which the next review is likely to name them, own ones first."""
    tags = {gate.tag for gate in own}
    others = [gate for gate in everybody if gate.tag not in tags]
    return (*_rank(own, changed), *_rank(others, changed))


def _rank(history: Iterable[GateHistory], changed: Sequence[str]) -> tuple[GateHistory, ...]:
    """Sort by the folders, then the kinds of files that changed; those of other files are left out.

    A gate that nobody located may be broken anywhere.
    """
    folders = {str(PurePosixPath(path).parent) for path in changed}
    kinds = {PurePosixPath(path).suffix for path in changed}

    def closeness(gate: GateHistory) -> int:
        if not changed or any(str(PurePosixPath(path).parent) in folders for path in gate.paths):
            return 2
        return int(not gate.paths or any(PurePosixPath(path).suffix in kinds for path in gate.paths))

    near = [(closeness(gate), gate) for gate in history]
    ranked = sorted(near, key=lambda pair: (-pair[0], -pair[1].broken, -pair[1].prevented, pair[1].tag))
    return tuple(gate for close, gate in ranked if close)


def certain_fixes(
    files: Mapping[str, str], tags: Iterable[str], pages: frozenset[str], day: date
) -> tuple[CertainFix, ...]:
    """Return the fixes that follow from these files, for the gates that were broken here before."""
    wanted = frozenset(tags)
    fixes = [
        fix
        for path, text in files.items()
        for item in islice(_candidates(path, text, wanted, pages), _MAX_CANDIDATES)
        if (fix := _fix(item, path, text, day))
    ]
    return tuple(dict.fromkeys(fixes))


def _candidates(path: str, text: str, tags: frozenset[str], pages: frozenset[str]) -> Iterable[Item]:
    lines = text.splitlines()
    if "date_errors" in tags:
        yield from (
            Item("date_errors", place=Location(path, number))
            for number, line in enumerate(_frontmatter(lines), 2)
            if line.startswith("created:") and not _is_date(line.partition(":")[2].strip(" \"'"))
        )
    if "frontmatter_schema" in tags:
        yield Item("frontmatter_schema", place=Location(path))
    if "broken_wiki_links" in tags:
        yield from (
            Item("broken_wiki_links", words=link["target"], place=Location(path, number))
            for number, line in enumerate(lines, 1)
            for link in _LINK.finditer(line)
            if PurePosixPath(link["target"].strip()).name.lower() not in pages
        )


def _fix(item: Item, path: str, text: str, day: date) -> CertainFix | None:
    replacement = compute_fix(item, text, day)
    if not replacement or not item.place:
        return None
    line = item.place.line or _changed_line(text.splitlines(), replacement)
    return CertainFix(item.tag or "", path, line, replacement) if line else None


def _changed_line(lines: Sequence[str], replacement: str) -> int | None:
    """Return the line of a renamed field: the one with the same value."""
    value = replacement.partition(":")[2]
    return next(
        (n for n, line in enumerate(lines, 1) if line.partition(":")[2].rstrip() == value.rstrip()), None
    )


def _frontmatter(lines: Sequence[str]) -> Sequence[str]:
    if not lines or lines[0].strip() != "---":
        return ()
    end = next((number for number, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
    return lines[1:end]


def _is_date(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
