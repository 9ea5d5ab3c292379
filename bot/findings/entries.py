"""Group findings into the entries that people see and count.

An entry is all open findings of one tag, or one finding without a tag. What several reviewers say about the
same lines in mostly the same words is one entry, with all their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.findings.ledger import normalize_words
from bot.findings.model import Finding
from bot.pull_request.model import Item
from bot.values import Location


def entry_keys(reports: Sequence[tuple[str, Item, str]]) -> tuple[str, ...]:
    """Return the entry of each report: a validator's key, an item, and its key where nobody else says it."""
    keys: list[str] = []
    untagged: dict[str, list[tuple[str, Item, str]]] = {}
    for validator, item, own in reports:
        if item.tag or item.place is None:
            keys.append(own)
            continue
        same_file = untagged.setdefault(item.place.path, [])
        others = ((earlier, key) for other, earlier, key in same_file if other != validator)
        key = next((key for earlier, key in others if is_same_remark(earlier, item)), own)
        same_file.append((validator, item, key))
        keys.append(key)
    return tuple(keys)


def group_entries(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Group findings by entry, in order: its tag, or the id of its first finding."""
    listed = list(findings)
    entries: dict[str, list[Finding]] = {}
    reports = [(finding.validator.key, finding.item, finding.item.tag or finding.id) for finding in listed]
    for finding, key in zip(listed, entry_keys(reports), strict=True):
        entries.setdefault(key, []).append(finding)
    return entries


MIN_SHARED_WORDS = 4
"""Telling words that two remarks must share; fewer happen by chance."""
_MIN_SHARE = 0.6
_SHORT = 3


def is_same_remark(one: Item, other: Item) -> bool:
    """Whether two reviewers say mostly the same about overlapping lines; precision comes first."""
    if one.place is None or other.place is None or not _overlap(one.place, other.place):
        return False
    words, others = _telling_words(one), _telling_words(other)
    shared, smaller = len(words & others), min(len(words), len(others))
    return shared >= max(MIN_SHARED_WORDS, _MIN_SHARE * smaller) and 2 * smaller >= max(
        len(words), len(others)
    )


def _telling_words(item: Item) -> set[str]:
    return {word.rstrip("s") for word in normalize_words(item).split() if len(word) > _SHORT}


def _overlap(one: Location, other: Location) -> bool:
    if one.path != other.path or one.line is None or other.line is None:
        return False
    return one.line <= (other.end_line or other.line) and other.line <= (one.end_line or one.line)
