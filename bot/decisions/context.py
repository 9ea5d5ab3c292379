"""Which lines stand before and after a place, as far as the file or the diff was seen?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.decisions.fixing import ItemKey, file_key, item_key
from bot.domain.diff import hunks
from bot.domain.facts import Facts
from bot.domain.grounding.observations import Text
from bot.domain.grounding.paths import is_secret
from bot.domain.model import Item, PullRequest, Stance, Verdict

AROUND = 3
"""Lines on each side."""
LONGEST = 500

_Lines = Mapping[int, str]


def with_context(before: PullRequest, after: PullRequest, facts: Facts) -> PullRequest:
    """The pull request with the lines around its items' places, and those that were known before."""
    seen = _seen(after, facts)
    known = {
        item_key(verdict, item): item
        for verdict in before.verdicts
        for item in verdict.items
        if item.context_after
    }
    if not seen and not known:
        return after
    verdicts = tuple(
        replace(verdict, items=tuple(_around(item, verdict, seen, known) for item in verdict.items))
        if verdict.stance is Stance.REJECTS
        else verdict
        for verdict in after.verdicts
    )
    return replace(after, verdicts=verdicts)


def texts_of(facts: Facts) -> dict[str, str]:
    """The files that were read at the judged head, for whatever reason."""
    observed = facts.observations
    found = dict(facts.files)
    for path, text in (observed.files if observed else {}).items():
        if observed and isinstance(text, Text):
            found.setdefault(file_key(observed.head, path), "\n".join(text.lines))
    return found


def _seen(pull_request: PullRequest, facts: Facts) -> dict[str, _Lines]:
    """The lines by number of every file at a revision; of a diff only those that it shows."""
    found: dict[str, _Lines] = {
        file_key(revision.head, file.path): _shown(file.patch)
        for revision in pull_request.revisions
        for file in revision.files or ()
        if file.patch
    }
    for key, text in texts_of(facts).items():
        found[key] = dict(enumerate(text.splitlines(), 1))
    return found


def _shown(patch: str) -> _Lines:
    lines: dict[int, str] = {}
    for hunk in hunks(patch):
        kept = [line[1:] for line in hunk.lines if not line.startswith("-")]
        lines |= dict(enumerate(kept, hunk.new))
    return lines


def _around(item: Item, verdict: Verdict, seen: Mapping[str, _Lines], known: Mapping[ItemKey, Item]) -> Item:
    place = item.place
    if place is None or place.line is None or item.context_after or is_secret(place.path):
        return item
    lines = seen.get(file_key(verdict.head or "", place.path))
    if lines is None:
        old = known.get(item_key(verdict, item))
        return (
            replace(item, context_before=old.context_before, context_after=old.context_after) if old else item
        )
    last = place.end_line or place.line
    return replace(
        item,
        context_before=item.context_before or _text(lines, range(place.line - AROUND, place.line)),
        context_after=_text(lines, range(last + 1, last + 1 + AROUND)),
    )


def _text(lines: _Lines, numbers: range) -> str:
    return "\n".join(lines[number] for number in numbers if number in lines)[:LONGEST]
