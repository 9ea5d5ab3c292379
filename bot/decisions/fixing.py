"""Which items get a certain fix, computed from the file at the head that was judged?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.domain.certain_fixes import certain_fix, is_certain
from bot.domain.model import Item, Place, PullRequest, Stance, Verdict

MOST_FILES = 5
"""Files that are read for the fixes of one turn."""

ItemKey = tuple[str, str | None, Place | None, str]


def file_key(head: str, path: str) -> str:
    """How a file at a revision is named among the facts."""
    return f"{head}:{path}"


def item_key(verdict: Verdict, item: Item) -> ItemKey:
    """What tells an item of a verdict from all others, from one turn to the next."""
    return verdict.id, item.tag, item.place, item.words


def wanted_files(before: PullRequest, after: PullRequest) -> tuple[tuple[str, str], ...]:
    """Head and path of the files that new items with a certain fix point at."""
    known = {item_key(verdict, item) for verdict in before.verdicts for item in verdict.items}
    wanted = dict.fromkeys(
        (verdict.head, item.place.path)
        for verdict in after.verdicts
        if verdict.head and verdict.counted and verdict.stance is Stance.REJECTS and not verdict.lifted_at
        for item in verdict.items
        if item.place and _is_fixable(item) and item_key(verdict, item) not in known
    )
    return tuple(wanted)[:MOST_FILES]


def with_fixes(before: PullRequest, after: PullRequest, files: Mapping[str, str]) -> PullRequest:
    """The pull request with every fix that follows from these files, and those that were known before."""
    known = {
        item_key(verdict, item): item.suggestion
        for verdict in before.verdicts
        for item in verdict.items
        if is_certain(item.tag) and item.suggestion
    }
    if not known and not files:
        return after
    verdicts = tuple(
        replace(verdict, items=tuple(_fixed(item, verdict, known, files) for item in verdict.items))
        for verdict in after.verdicts
    )
    return replace(after, verdicts=verdicts)


def _fixed(
    item: Item, verdict: Verdict, known: Mapping[ItemKey, str | None], files: Mapping[str, str]
) -> Item:
    if not _is_fixable(item) or item.place is None:
        return item
    text = files.get(file_key(verdict.head or "", item.place.path))
    fix = (
        certain_fix(item, text, verdict.at.date()) if text is not None else known.get(item_key(verdict, item))
    )
    return replace(item, suggestion=fix) if fix else item


def _is_fixable(item: Item) -> bool:
    return is_certain(item.tag) and item.suggestion is None and item.inferred is None
