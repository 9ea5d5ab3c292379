"""What does the line have to be, where the file itself leaves no doubt? Three gates have such a fix."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime

from bot.domain import regex
from bot.domain.gates import nearest
from bot.domain.model import Item
from bot.domain.scan import has_word

FRONTMATTER = ("type", "domain", "description", "confidence", "source", "created")
"""The fields that a claim must have."""
_RENAMED = {"source_archive": "source"}
_FIELD = regex.Pattern(r"(?P<key>[A-Za-z][\w-]*)(?P<colon>\s*:\s*)(?P<value>.*?)\s*")
_LINK = regex.Pattern(r"\[\[(?P<target>[^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|(?P<shown>[^\[\]|]+))?\]\]")
_MOMENT = regex.Pattern(r"(\d{4}-\d{2}-\d{2})[T ]\d{2}:")
_FORMS = ("%Y/%m/%d", "%Y.%m.%d", "%Y-%m-%d", "%Y%m%d", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y")
_LONGEST = 500

Fix = Callable[[Item, list[str], date], str | None]


def is_certain(tag: str | None) -> bool:
    """Whether a gate's fix can follow from the file alone."""
    return tag in _FIXES


def certain_fix(item: Item, text: str, on: date) -> str | None:
    """What to write in place of the line, or None where the file does not settle it."""
    lines = text.splitlines()
    fix = _FIXES.get(item.tag or "")
    found = fix(item, lines, on) if fix else None
    return found if found and len(found) <= _LONGEST else None


def _date(item: Item, lines: list[str], on: date) -> str | None:
    """A date in the right form: the same day where it can be read, else the day of the judgement."""
    for number, key, value in _fields(item, lines):
        if not (key == "created" or (item.place and item.place.line == number)):
            continue
        day = _read(value)
        right = f"{key}: {(day or on).isoformat()}"
        if day is not None and value == day.isoformat():
            right = f"{key}: {on.isoformat()}"  # its form is right, so the day is what is wrong
        is_named = key == "created" or day is not None
        return right if is_named and right != lines[number - 1].strip() else None
    return None


def _field(item: Item, lines: list[str], _on: date) -> str | None:
    """The field under its right name, where only one name is wrong and the right one is missing."""
    everything = tuple(_fields(None, lines))
    missing = [name for name in FRONTMATTER if name not in {key for _, key, _ in everything}]
    wrong = [
        (number, key, right)
        for number, key, _ in everything
        if key not in FRONTMATTER and (right := _right_name(key, missing))
    ]
    line = item.place.line if item.place else None
    here = [each for each in wrong if line is None or each[0] == line]
    if len(here) != 1:
        return None
    number, key, right = here[0]
    return lines[number - 1].replace(key, right, 1).rstrip()


def _link(item: Item, lines: list[str], _on: date) -> str | None:
    """The line with its words but without the link that leads nowhere."""
    line = item.place.line if item.place else None
    if line is None or not 0 < line <= len(lines):
        return None
    links = list(_LINK.finditer(lines[line - 1]))
    named = [link for link in links if has_word(item.words, link["target"].strip(), joined_by="-")]
    found = named if len(named) == 1 else links
    if len(found) != 1:
        return None
    link = found[0]
    words = (link["shown"] or link["target"]).strip()
    text = lines[line - 1]
    return f"{text[: link.start()]}{words}{text[link.end() :]}".rstrip()


_FIXES: dict[str, Fix] = {"date_errors": _date, "frontmatter_schema": _field, "broken_wiki_links": _link}


def _fields(item: Item | None, lines: list[str]) -> Iterator[tuple[int, str, str]]:
    """The frontmatter's fields with their lines; only the one that the item points at, if it does."""
    if not lines or lines[0].strip() != "---":
        return
    wanted = item.place.line if item and item.place else None
    for number, line in enumerate(lines[1:], 2):
        if line.strip() == "---":
            return
        field = _FIELD.fullmatch(line)
        if field and wanted in {None, number}:
            yield number, field["key"], field["value"].strip("\"'")


def _right_name(key: str, missing: list[str]) -> str | None:
    right = _RENAMED.get(key) or (key.lower() if key.lower() in FRONTMATTER else nearest(key, missing))
    return right if right in missing else None


def _read(value: str) -> date | None:
    """The day that the text names, in one of the forms that can be read in only one way."""
    moment = _MOMENT.match(value)
    for form in _FORMS:
        try:
            return datetime.strptime(moment[1] if moment else value, form).date()  # noqa: DTZ007  a day has no zone
        except ValueError:
            continue
    return None
