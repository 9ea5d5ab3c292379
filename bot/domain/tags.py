"""What does a validator say is wrong, in the codes that machines and people share?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from bot.domain import prose, regex
from bot.domain.gates import Gates, is_tag, normalize_tag
from bot.domain.model import Item, Place, Stance
from bot.domain.prose import Kind

MOST_TAGS = 100
"""Different tags that one verdict may name; the rest is counted."""
MOST_ITEMS = 300
MOST_WORDS = 500
MOST_SAID = 2_000
"""Characters of one text that are kept for the detector."""

_BRACKETS = regex.Pattern(r"\[([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\]")
_VERDICT = regex.Pattern(r"VERDICT:[^:\s]{1,64}:(REQUEST_CHANGES|APPROVE)")
_BULLET = regex.Pattern(r"^(?:[-*+]|\d{1,9}[.)])\s+")
_STANCES = {"REQUEST_CHANGES": Stance.REJECTS, "APPROVE": Stance.APPROVES}
_NOT_SAID = tuple(kind for kind in Kind if kind is not Kind.TEXT)
_NO_TASK = tuple(kind for kind in _NOT_SAID if kind is not Kind.TASK)
_BOXES = ("[ ]", "[x]", "[X]")


@dataclass(frozen=True, slots=True)
class Speech:
    """What one text of a validator says: where it stands, if it says so, and what is wrong."""

    stance: Stance | None = None
    items: tuple[Item, ...] = ()
    more: int = 0


def hear(body: str, gates: Gates, *, url: str = "", place: Place | None = None) -> Speech:
    """Every tag that the text states, once a line, in the order stated."""
    spoken: list[Item] = [Item(tag, url=url, place=place) for tag in _hidden_tags(body)]
    whole = _own_words(body) if place else None
    suggestion = _suggestion(body) if place else None
    for tag, line in _bracketed(body, gates):
        words = whole if whole is not None else line
        spoken.append(Item(tag, words=words[:MOST_WORDS], url=url, place=place, suggestion=suggestion))
    if whole is not None:
        spoken = [
            item if item.words else Item(item.tag, whole[:MOST_WORDS], place, url, suggestion)
            for item in spoken
        ]
    items, more = bounded(replace(item, offered=True) if item.suggestion else item for item in spoken)
    return Speech(spoken_stance(body), items, more)


def bounded(items: Iterable[Item]) -> tuple[tuple[Item, ...], int]:
    """The items without repeats, tags in the order first named, and how many tags were left out."""
    kept: dict[tuple[str | None, Place | None, str], Item] = {}
    tags: dict[str | None, int] = {}
    left_out: set[str | None] = set()
    for item in items:
        if item.tag not in tags and len(tags) >= MOST_TAGS:
            left_out.add(item.tag)
            continue
        tags.setdefault(item.tag, len(tags))
        if len(kept) < MOST_ITEMS:
            kept.setdefault((item.tag, item.place, item.words), item)
    placed = {item.tag for item in kept.values() if item.place or item.words}
    said = [item for item in kept.values() if item.place or item.words or item.tag not in placed]
    return tuple(sorted(said, key=lambda item: tags[item.tag])), len(left_out)


def spoken_stance(body: str) -> Stance | None:
    """The last VERDICT that stands on a line of its own."""
    if "VERDICT:" not in body:
        return None
    lines = body.splitlines()
    found = None
    for comment in prose.comments(body):
        match = _VERDICT.fullmatch(comment.text.strip())
        alone = match and _line(lines, comment.line) == f"<!--{comment.text}-->".strip()
        if match and alone:
            found = _STANCES[match[1]]
    return found


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _hidden_tags(body: str) -> Iterator[str]:
    """Tags of `ISSUES` lists and of `REJECTION` blocks."""
    for comment in prose.comments(body):
        word, _, rest = comment.text.strip().partition(":")
        if word == "ISSUES":
            yield from _listed(rest.split(","))
        elif word == "REJECTION":
            yield from _listed(_issues_of(rest))


def _listed(names: Iterable[object]) -> Iterator[str]:
    for name in names:
        tag = normalize_tag(name) if isinstance(name, str) else ""
        if is_tag(tag):
            yield tag


def _issues_of(block: str) -> list[object]:
    try:
        value = json.loads(block)
    except (ValueError, RecursionError):
        return []
    issues = value.get("issues") if isinstance(value, dict) else None
    return issues if isinstance(issues, list) else []


def _bracketed(body: str, gates: Gates) -> Iterator[tuple[str, str]]:
    """Known tags in brackets with the line they stand on, less its brackets."""
    said = prose.mask(body, *_NOT_SAID).split("\n")
    readable = prose.mask(body, Kind.COMMENT).split("\n")
    boxes = prose.mask(body, *_NO_TASK).split("\n") if any(map(body.__contains__, _BOXES)) else said
    for line, words, box in zip(said, readable, boxes, strict=True):
        if line != box:
            continue  # a task: what is to be looked at, or was
        tags = [tag for tag in _BRACKETS.findall(line) if tag in gates] if "[" in line else []
        tidy = _tidy(words) if tags else ""
        yield from ((tag, tidy) for tag in tags)


def _own_words(body: str) -> str:
    """The validator's sentence: no hidden comments, no code blocks, no quotes, no brackets."""
    return _tidy(prose.mask(body, Kind.COMMENT, Kind.FENCE, Kind.QUOTE))


def _tidy(text: str) -> str:
    without = _BRACKETS.sub(" ", text)
    folded = " ".join(without.split())
    return _BULLET.sub("", folded).strip(" :—-")


def _suggestion(body: str) -> str | None:
    """The text of the first suggestion block."""
    blocks = (fence.text for fence in prose.fences(body) if fence.info.split()[:1] == ["suggestion"])
    found = next(blocks, None)
    return found.strip("\n") if found is not None else None
