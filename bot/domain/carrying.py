"""What became of a file's lines from one judged head to the next, told by their diffs against the base."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from bot.domain.diff import FileDiff, Hunk, hunks
from bot.domain.following import UNTOUCHED, Carried
from bot.domain.line_map import LineMap, Run, between
from bot.domain.model import Place, Revision

COMPLETE = 300
"""GitHub lists no more files than this, so that one that is missing may have been left out."""
LONGEST = 100_000
"""Lines of a file up to which they are followed."""


def carried(places: Iterable[Place], old: Revision, new: Revision) -> dict[str, Carried]:
    """Return for each file that is named what became of it; nothing where either head was not read."""
    if old.files is None or new.files is None:
        return {}
    found = {path: _carried(path, old, new) for path in dict.fromkeys(place.path for place in places)}
    return {path: file for path, file in found.items() if file is not None}


def _carried(path: str, old: Revision, new: Revision) -> Carried | None:
    was, now = _named(old, path), _named(new, path)
    if (was is None and len(old.files or ()) >= COMPLETE) or (
        now is None and len(new.files or ()) >= COMPLETE
    ):
        return None
    if (was and was.blob) == (now and now.blob) and (was is None) == (now is None):
        return UNTOUCHED
    if now is not None and now.status == "removed":
        return Carried(changed=True, lines=LineMap(()))
    if (was and was.patch is None) or (now and now.patch is None):
        return Carried(changed=True)
    patches = (was.patch or "" if was else ""), (now.patch or "" if now else "")
    return Carried(changed=True, lines=_lines(*patches, same_base=old.base == new.base))


def _named(revision: Revision, path: str) -> FileDiff | None:
    files = revision.files or ()
    own = (file for file in files if file.path == path)
    moved = (file for file in files if file.previous_path == path and file.status == "renamed")
    return next(own, None) or next(moved, None)


def _lines(old_patch: str, new_patch: str, *, same_base: bool) -> LineMap | None:
    old, new = tuple(hunks(old_patch)), tuple(hunks(new_patch))
    last = max((hunk.old + len(hunk.lines) for hunk in (*old, *new)), default=1)
    if last > LONGEST:
        return None
    return _over_one_base(old, new, last) if same_base else _over_two_bases(old, new)


def _over_one_base(old: tuple[Hunk, ...], new: tuple[Hunk, ...], last: int) -> LineMap:
    """Lines of the base are known by their number, added ones by their text."""
    texts = ("\n".join((*_told(side, last), "\0end")) + "\n" for side in (old, new))
    runs = between(*texts).runs
    return LineMap((*runs[:-1], replace(runs[-1], length=None)))


def _told(side: tuple[Hunk, ...], last: int) -> Iterator[str]:
    at = 1
    for hunk in side:
        yield from (f"\0{number}" for number in range(at, hunk.old))
        at = hunk.old
        for line in hunk.lines:
            if line.startswith("+"):
                yield line[1:]
                continue
            if not line.startswith("-"):
                yield f"\0{at}"
            at += 1
    yield from (f"\0{number}" for number in range(at, last + 1))


def _over_two_bases(old: tuple[Hunk, ...], new: tuple[Hunk, ...]) -> LineMap:
    """After a rebase only what the hunks show can be compared; the author left the rest alone."""
    was, now = _shown(old), _shown(new)
    found = between(*("".join(f"{text}\n" for _, text in side) for side in (was, now)))
    kept = {
        was[run.old + step - 1][0]: now[run.new + step - 1][0]
        for run in found.runs
        for step in range(run.length or 0)
    }
    inside = {number for number, _ in was}
    runs: list[Run] = []
    end = max(inside, default=0)
    for number in range(1, end + 1):
        place = kept.get(number) if number in inside else number
        if place is not None:
            _join(runs, number, place)
    return LineMap((*runs, Run(end + 1, end + 1, None)))


def _shown(side: tuple[Hunk, ...]) -> list[tuple[int, str]]:
    lines = []
    for hunk in side:
        number = hunk.new
        for line in hunk.lines:
            if not line.startswith("-"):
                lines.append((number, line[1:]))
                number += 1
    return lines


def _join(runs: list[Run], old: int, new: int) -> None:
    last = runs[-1] if runs else None
    if last and last.length and (last.old + last.length, last.new + last.length) == (old, new):
        runs[-1] = replace(last, length=last.length + 1)
    else:
        runs.append(Run(old, new, 1))
