"""Add surrounding lines and certain fixes to items, from files at the reviewed head."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime

from bot import regex
from bot.gates.model import nearest_word
from bot.markdown.scan import has_word
from bot.paths import is_secret_path
from bot.pull_request.diff import hunks, new_side_lines
from bot.pull_request.facts import Facts, FileText
from bot.pull_request.model import Item, PullRequest, Stance, Verdict
from bot.values import Location

FRONTMATTER_FIELDS = ("type", "domain", "description", "confidence", "source", "created")
"""The frontmatter fields that a claim must have."""
_FORMER_NAMES = {"source_archive": "source"}
_FIELD = regex.Regex(r"(?P<key>[A-Za-z][\w-]*)(?P<colon>\s*:\s*)(?P<value>.*?)\s*")
_LINK = regex.Regex(r"\[\[(?P<target>[^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|(?P<shown>[^\[\]|]+))?\]\]")
_TIMESTAMP = regex.Regex(r"(\d{4}-\d{2}-\d{2})[T ]\d{2}:")
_DATE_FORMATS = (
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y-%m-%d",
    "%Y%m%d",
    "%d %B %Y",
    "%d %b %Y",
    "%B %d, %Y",
    "%b %d, %Y",
)
_MAX_FIX_LENGTH = 500

FixFunction = Callable[[Item, list[str], date], str | None]


def has_certain_fix(tag: str | None) -> bool:
    """Whether the fix of this gate can be computed from the file alone."""
    return tag in _FIXES


def compute_fix(item: Item, text: str, day: date) -> str | None:
    """Return the replacement of the line, or None if the file does not determine it."""
    lines = text.splitlines()
    fix = _FIXES.get(item.tag or "")
    line = fix(item, lines, day) if fix else None
    return line if line and len(line) <= _MAX_FIX_LENGTH else None


def _fix_date(item: Item, lines: list[str], today: date) -> str | None:
    """Return the date in ISO form: the same day where it can be parsed, else the day of the verdict."""
    for number, key, value in _frontmatter_fields(item, lines):
        if not (key == "created" or (item.place and item.place.line == number)):
            continue
        day = _parse_date(value)
        right = f"{key}: {(day or today).isoformat()}"
        if day is not None and value == day.isoformat():
            right = f"{key}: {today.isoformat()}"  # its form is right, so the day is what is wrong
        is_named = key == "created" or day is not None
        return right if is_named and right != lines[number - 1].strip() else None
    return None


def _fix_field(item: Item, lines: list[str], _on: date) -> str | None:
    """Return the field under its correct name, where one name is wrong and the correct one is missing."""
    everything = tuple(_frontmatter_fields(None, lines))
    missing = [name for name in FRONTMATTER_FIELDS if name not in {key for _, key, _ in everything}]
    wrong = [
        (number, key, right)
        for number, key, _ in everything
        if key not in FRONTMATTER_FIELDS and (right := _correct_name(key, missing))
    ]
    line = item.place.line if item.place else None
    candidates = [field for field in wrong if line is None or field[0] == line]
    if len(candidates) != 1:
        return None
    number, key, right = candidates[0]
    return lines[number - 1].replace(key, right, 1).rstrip()


def _fix_link(item: Item, lines: list[str], _on: date) -> str | None:
    """Return the line with the broken link replaced by its text."""
    line = item.place.line if item.place else None
    if line is None or not 0 < line <= len(lines):
        return None
    links = list(_LINK.finditer(lines[line - 1]))
    by_name = [link for link in links if has_word(item.words, link["target"].strip(), joined_by="-")]
    found = by_name if len(by_name) == 1 else links
    if len(found) != 1:
        return None
    link = found[0]
    words = (link["shown"] or link["target"]).strip()
    text = lines[line - 1]
    return f"{text[: link.start()]}{words}{text[link.end() :]}".rstrip()


_FIXES: dict[str, FixFunction] = {
    "date_errors": _fix_date,
    "frontmatter_schema": _fix_field,
    "broken_wiki_links": _fix_link,
}


def _frontmatter_fields(item: Item | None, lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the frontmatter's fields with their line numbers; only the item's own line, if it has one."""
    if not lines or lines[0].strip() != "---":
        return
    only = item.place.line if item and item.place else None
    for number, line in enumerate(lines[1:], 2):
        if line.strip() == "---":
            return
        field = _FIELD.fullmatch(line)
        if field and only in {None, number}:
            yield number, field["key"], field["value"].strip("\"'")


def _correct_name(key: str, missing: list[str]) -> str | None:
    right = _FORMER_NAMES.get(key) or (
        key.lower() if key.lower() in FRONTMATTER_FIELDS else nearest_word(key, missing)
    )
    return right if right in missing else None


def _parse_date(value: str) -> date | None:
    """Parse a date in one of the unambiguous formats."""
    timestamp = _TIMESTAMP.match(value)
    for date_format in _DATE_FORMATS:
        try:
            return datetime.strptime(timestamp[1] if timestamp else value, date_format).date()  # noqa: DTZ007  a day has no zone
        except ValueError:
            continue
    return None


MAX_FIX_FILES = 5
"""Files that are read for the fixes of one turn."""

ItemKey = tuple[str, str | None, Location | None, str]


def file_key(head: str, path: str) -> str:
    """Return the key of a file at a revision among the facts."""
    return f"{head}:{path}"


def item_key(verdict: Verdict, item: Item) -> ItemKey:
    """Return what identifies an item of a verdict from one turn to the next."""
    return verdict.id, item.tag, item.place, item.words


def _items_by_key(pull_request: PullRequest) -> dict[ItemKey, Item]:
    return {item_key(verdict, item): item for verdict in pull_request.verdicts for item in verdict.items}


def _change_items(pull_request: PullRequest, change: Callable[[Verdict, Item], Item]) -> PullRequest:
    verdicts = []
    for verdict in pull_request.verdicts:
        items = tuple(change(verdict, item) for item in verdict.items)
        is_same = all(map(operator.is_, items, verdict.items))
        verdicts.append(verdict if is_same else replace(verdict, items=items))
    return replace(pull_request, verdicts=tuple(verdicts))


def files_for_fixes(before: PullRequest, after: PullRequest) -> tuple[tuple[str, str], ...]:
    """Return head and path of the files that new items with a certain fix are located in."""
    seen_before = _items_by_key(before)
    wanted = dict.fromkeys(
        (verdict.head, item.place.path)
        for verdict in after.verdicts
        if verdict.head and verdict.counted and verdict.stance is Stance.REJECTS and not verdict.lifted_at
        for item in verdict.items
        if item.place and _is_fixable(item) and item_key(verdict, item) not in seen_before
    )
    return tuple(wanted)[:MAX_FIX_FILES]


def add_fixes(before: PullRequest, after: PullRequest, files: Mapping[str, str]) -> PullRequest:
    """Add every fix that follows from these files, and keep the fixes computed earlier."""
    earlier = _items_by_key(before)

    def fix_item(verdict: Verdict, item: Item) -> Item:
        if not _is_fixable(item) or item.place is None:
            return item
        text = files.get(file_key(verdict.head or "", item.place.path))
        if text is not None:
            fix = compute_fix(item, text, verdict.at.date())
        else:
            fix = earlier.get(item_key(verdict, item), item).suggestion
        return replace(item, suggestion=fix) if fix else item

    return _change_items(after, fix_item)


def _is_fixable(item: Item) -> bool:
    return has_certain_fix(item.tag) and item.suggestion is None and item.inferred is None


CONTEXT_LINES = 3
"""Lines shown before and after a location."""
MAX_CONTEXT_LENGTH = 500

_Lines = Mapping[int, str]


def add_context(before: PullRequest, after: PullRequest, facts: Facts) -> PullRequest:
    """Add the lines around each item's location, and keep those added earlier."""
    lines_by_file = _lines_by_file(after, facts)
    earlier = _items_by_key(before)

    def add_surrounding(verdict: Verdict, item: Item) -> Item:
        place = item.place
        if verdict.stance is not Stance.REJECTS or place is None or place.line is None or item.context_after:
            return item
        if is_secret_path(place.path):
            return item
        lines = lines_by_file.get(file_key(verdict.head or "", place.path))
        if lines is None:
            same = earlier.get(item_key(verdict, item))
            if same is None or not same.context_after:
                return item
            return replace(item, context_before=same.context_before, context_after=same.context_after)
        last = place.end_line or place.line
        above = _join_lines(lines, range(place.line - CONTEXT_LINES, place.line))
        below = _join_lines(lines, range(last + 1, last + 1 + CONTEXT_LINES))
        return replace(item, context_before=item.context_before or above, context_after=below)

    return _change_items(after, add_surrounding)


def files_at_head(facts: Facts) -> dict[str, str]:
    """Return all files that this turn read at the reviewed head."""
    observations = facts.observations
    texts = dict(facts.files)
    for path, text in (observations.files if observations else {}).items():
        if observations and isinstance(text, FileText):
            texts.setdefault(file_key(observations.head, path), "\n".join(text.lines))
    return texts


def _lines_by_file(pull_request: PullRequest, facts: Facts) -> dict[str, _Lines]:
    """Return the numbered lines of every file at a revision; of a diff only those that it shows."""
    lines_by_file: dict[str, _Lines] = {
        file_key(revision.head, file.path): new_side_lines(hunks(file.patch))
        for revision in pull_request.revisions
        for file in revision.files or ()
        if file.patch
    }
    for key, text in files_at_head(facts).items():
        lines_by_file[key] = dict(enumerate(text.splitlines(), 1))
    return lines_by_file


def _join_lines(lines: _Lines, numbers: range) -> str:
    return "\n".join(lines[number] for number in numbers if number in lines)[:MAX_CONTEXT_LENGTH]
