"""Parse stated tags, and infer tags from plain words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from bot import regex
from bot.detection.context import find_doubt
from bot.detection.load import detection_rules
from bot.detection.rules import DetectionRules
from bot.detection.words import blank_struck_out
from bot.gates.config import RepositoryRules
from bot.gates.model import Gates, find_tag_phrases, is_tag, normalize_tag
from bot.markdown import spans
from bot.markdown.blocks import SpanKind
from bot.pull_request.events import InlineCommentSnapshot, ReviewSnapshot
from bot.pull_request.model import Item, Provenance, Stance, hash_text
from bot.values import Location

MAX_TAGS = 100
"""Different tags that one verdict may name; the rest is counted."""
MAX_ITEMS = 300
MAX_ITEM_WORDS = 500
MAX_BODY_KEPT = 2_000
"""Characters of one text that are kept for the detector."""

_BRACKETS = regex.Regex(r"\[([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\]")
_VERDICT = regex.Regex(r"VERDICT:[^:\s]{1,64}:(REQUEST_CHANGES|APPROVE)")
_BULLET = regex.Regex(r"^(?:[-*+]|\d{1,9}[.)])\s+")
_STANCES = {"REQUEST_CHANGES": Stance.REJECTS, "APPROVE": Stance.APPROVES}
_HIDDEN_KINDS = tuple(kind for kind in SpanKind if kind is not SpanKind.TEXT)
_HIDDEN_EXCEPT_TASKS = tuple(kind for kind in _HIDDEN_KINDS if kind is not SpanKind.TASK)
_BOXES = ("[ ]", "[x]", "[X]")


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """What one text of a validator states: its stance, if any, and its items."""

    stance: Stance | None = None
    items: tuple[Item, ...] = ()
    more: int = 0


def parse_tags(body: str, gates: Gates, *, url: str = "", place: Location | None = None) -> TextVerdict:
    """Parse every tag that the text states, once a line, in order."""
    items: list[Item] = [Item(tag, url=url, place=place) for tag in _hidden_tags(body)]
    whole = _own_words(body) if place else None
    suggestion = _suggestion(body) if place else None
    for tag, line in _bracketed_tags(body, gates):
        words = whole if whole is not None else line
        items.append(Item(tag, words=words[:MAX_ITEM_WORDS], url=url, place=place, suggestion=suggestion))
    if whole is not None:
        items = [
            item if item.words else Item(item.tag, whole[:MAX_ITEM_WORDS], place, url, suggestion)
            for item in items
        ]
    limited, more = limit_items(replace(item, offered=True) if item.suggestion else item for item in items)
    return TextVerdict(stated_stance(body), limited, more)


def limit_items(items: Iterable[Item]) -> tuple[tuple[Item, ...], int]:
    """Return the items without repeats, tags in the order first named, and the number of omitted tags."""
    kept: dict[tuple[str | None, Location | None, str], Item] = {}
    tags: dict[str | None, int] = {}
    left_out: set[str | None] = set()
    for item in items:
        if item.tag not in tags and len(tags) >= MAX_TAGS:
            left_out.add(item.tag)
            continue
        tags.setdefault(item.tag, len(tags))
        if len(kept) < MAX_ITEMS:
            kept.setdefault((item.tag, item.place, item.words), item)
    placed = {item.tag for item in kept.values() if item.place or item.words}
    distinct = [item for item in kept.values() if item.place or item.words or item.tag not in placed]
    return tuple(sorted(distinct, key=lambda item: tags[item.tag])), len(left_out)


def stated_stance(body: str) -> Stance | None:
    """Return the stance of the last VERDICT that is on a line of its own."""
    if "VERDICT:" not in body:
        return None
    lines = body.splitlines()
    stance = None
    for comment in spans.find_comments(body):
        match = _VERDICT.fullmatch(comment.text.strip())
        is_alone = match and _line_text(lines, comment.line) == f"<!--{comment.text}-->".strip()
        if match and is_alone:
            stance = _STANCES[match[1]]
    return stance


def _line_text(lines: list[str], number: int) -> str:
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""


def _hidden_tags(body: str) -> Iterator[str]:
    """Yield the tags of `ISSUES` lists and of `REJECTION` blocks."""
    for comment in spans.find_comments(body):
        word, _, rest = comment.text.strip().partition(":")
        if word == "ISSUES":
            yield from _valid_tags(rest.split(","))
        elif word == "REJECTION":
            yield from _valid_tags(_block_issues(rest))


def _valid_tags(names: Iterable[object]) -> Iterator[str]:
    for name in names:
        tag = normalize_tag(name) if isinstance(name, str) else ""
        if is_tag(tag):
            yield tag


def _block_issues(block: str) -> list[object]:
    try:
        value = json.loads(block)
    except (ValueError, RecursionError):
        return []
    issues = value.get("issues") if isinstance(value, dict) else None
    return issues if isinstance(issues, list) else []


def _bracketed_tags(body: str, gates: Gates) -> Iterator[tuple[str, str]]:
    """Yield known tags in brackets with the text of their line, without brackets."""
    visible = spans.mask_hidden(body, *_HIDDEN_KINDS).split("\n")
    readable = spans.mask_hidden(body, SpanKind.COMMENT).split("\n")
    boxes = (
        spans.mask_hidden(body, *_HIDDEN_EXCEPT_TASKS).split("\n")
        if any(map(body.__contains__, _BOXES))
        else visible
    )
    for line, words, box in zip(visible, readable, boxes, strict=True):
        if line != box:
            continue  # a task: what is to be looked at, or was
        tags = [tag for tag in _BRACKETS.findall(line) if tag in gates] if "[" in line else []
        tidy = _tidy(words) if tags else ""
        yield from ((tag, tidy) for tag in tags)


def _own_words(body: str) -> str:
    """Return the visible text without code blocks, quotes and brackets."""
    return _tidy(spans.mask_hidden(body, SpanKind.COMMENT, SpanKind.FENCE, SpanKind.QUOTE))


def _tidy(text: str) -> str:
    without = _BRACKETS.sub(" ", text)
    folded = " ".join(without.split())
    return _BULLET.sub("", folded).strip(" :—-")


def _suggestion(body: str) -> str | None:
    """Return the text of the first suggestion block."""
    blocks = (fence.text for fence in spans.find_fences(body) if fence.info.split()[:1] == ["suggestion"])
    text = next(blocks, None)
    return text.strip("\n") if text is not None else None


FIRST, FURTHER, SURE = 0.6, 0.1, 0.95
"""Confidence in a tag whose phrase stands once, what each further mention adds, and the most there is."""
MAX_INFERRED = 10
"""Tags that are inferred from one verdict."""

_MOST_MENTIONS, _MOST_OF_A_TAG = 100, 20
"""Mentions that are read in one text, and of these for one tag, of which five stated ones count."""


@dataclass(frozen=True, slots=True)
class ValidatorText:
    """One text of a validator, with its URL and location."""

    body: str
    url: str
    place: Location | None = None
    origin: Provenance | None = None


def review_texts(
    review: ReviewSnapshot, comments: Sequence[InlineCommentSnapshot], permission: str | None = None
) -> tuple[ValidatorText, ...]:
    """Return the texts of a review: its body and its inline comments."""
    return (
        ValidatorText(review.body, review.url),
        *(_inline_text(comment, permission) for comment in comments),
    )


def infer_items(texts: Iterable[ValidatorText], rules: RepositoryRules) -> tuple[Item, ...]:
    """Infer items from gates' phrases in the texts, each with a confidence; none of them blocks."""
    if not rules.detection.enabled:
        return ()
    understanding = detection_rules(rules.detection)
    items_by_tag: dict[str, list[Item]] = {}
    for text in texts:
        for tag, words in _matched_tags(text.body, rules.gates, understanding):
            item = Item(tag, words=words[:MAX_ITEM_WORDS], url=text.url, place=text.place, origin=text.origin)
            items_by_tag.setdefault(tag, []).append(item)
    return tuple(
        replace(item, inferred=_confidence(len(items)))
        for items in list(items_by_tag.values())[:MAX_INFERRED]
        for item in dict.fromkeys(items)
        if _confidence(len(items)) >= rules.detection.threshold
    )


def comment_location(comment: InlineCommentSnapshot) -> Location:
    """Return the location of an inline comment."""
    first = comment.start_line or comment.line
    last = comment.line if comment.start_line and comment.line != comment.start_line else None
    return Location(comment.path, first, last)


def _inline_text(comment: InlineCommentSnapshot, permission: str | None) -> ValidatorText:
    origin = Provenance("inline comment", permission, hash_text(comment.body))
    return ValidatorText(comment.body, comment.url, comment_location(comment), origin)


def _matched_tags(body: str, gates: Gates, understanding: DetectionRules) -> Iterator[tuple[str, str]]:
    own_text = blank_struck_out(spans.mask_hidden(body, *_HIDDEN_KINDS))
    for tag, start, end in islice(_limit_mentions(find_tag_phrases(own_text, gates)), _MOST_MENTIONS):
        if not find_doubt(own_text, start, end, understanding):
            yield tag, _surrounding_line(body, start, end)


def _limit_mentions(mentions: Iterable[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Limit the mentions of each tag, so that a repeated one takes no time from the others."""
    times: Counter[str] = Counter()
    for mention in mentions:
        times[mention[0]] += 1
        if times[mention[0]] <= _MOST_OF_A_TAG:
            yield mention


def _surrounding_line(body: str, start: int, end: int) -> str:
    first = max(body.rfind("\n", 0, start) + 1, start - MAX_ITEM_WORDS)
    last = body.find("\n", end, end + MAX_ITEM_WORDS)
    return " ".join(body[first : last if last >= 0 else end + MAX_ITEM_WORDS].split())


def _confidence(mentions: int) -> float:
    return round(min(SURE, FIRST + FURTHER * (mentions - 1)), 2)
