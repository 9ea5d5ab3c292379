"""Which gates do a validator's plain words mean, where no tag is stated?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from bot.domain import prose
from bot.domain.detection import DetectionRules
from bot.domain.detection.context import doubt
from bot.domain.detection.words import without_struck_out
from bot.domain.gates import Gates, phrases_in
from bot.domain.model import Item, Place
from bot.domain.origin import Origin, hash_of
from bot.domain.prose import Kind
from bot.domain.rules import Rules
from bot.domain.snapshots import InlineComment, Review
from bot.domain.tags import MOST_WORDS

FIRST, FURTHER, SURE = 0.6, 0.1, 0.95
"""Confidence in a tag whose phrase stands once, what each further mention adds, and the most there is."""
MOST = 10
"""Tags that are inferred from one verdict."""

_MOST_MENTIONS, _MOST_OF_A_TAG = 100, 20
"""Mentions that are read in one text, and of these for one tag, of which five stated ones count."""
_NOT_SAID = tuple(kind for kind in Kind if kind is not Kind.TEXT)


@dataclass(frozen=True, slots=True)
class Words:
    """One text of a validator, and where it stands."""

    body: str
    url: str
    place: Place | None = None
    origin: Origin | None = None


def words_of(
    review: Review, comments: Sequence[InlineComment], permission: str | None = None
) -> tuple[Words, ...]:
    """The texts of a review: its body, and its inline comments."""
    return (Words(review.body, review.url), *(_inline(each, permission) for each in comments))


def inferred(texts: Iterable[Words], rules: Rules) -> tuple[Item, ...]:
    """The items whose gates' phrases the texts state, each with a confidence; none of them blocks."""
    if not rules.detection.enabled or rules.understanding is None:
        return ()
    found: dict[str, list[Item]] = {}
    for text in texts:
        for tag, words in _meant(text.body, rules.gates, rules.understanding):
            item = Item(tag, words=words[:MOST_WORDS], url=text.url, place=text.place, origin=text.origin)
            found.setdefault(tag, []).append(item)
    return tuple(
        _with_confidence(item, len(items))
        for items in list(found.values())[:MOST]
        for item in dict.fromkeys(items)
        if _confidence(len(items)) >= rules.detection.threshold
    )


def place_of(comment: InlineComment) -> Place:
    """Where an inline comment stands."""
    first = comment.start_line or comment.line
    last = comment.line if comment.start_line and comment.line != comment.start_line else None
    return Place(comment.path, first, last)


def _inline(comment: InlineComment, permission: str | None) -> Words:
    origin = Origin("inline comment", permission, hash_of(comment.body))
    return Words(comment.body, comment.url, place_of(comment), origin)


def _meant(body: str, gates: Gates, understanding: DetectionRules) -> Iterator[tuple[str, str]]:
    said = without_struck_out(prose.mask(body, *_NOT_SAID))
    for tag, start, end in islice(_not_repeated(phrases_in(said, gates)), _MOST_MENTIONS):
        if not doubt(said, start, end, understanding):
            yield tag, _line(body, start, end)


def _not_repeated(mentions: Iterable[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Leave out a tag that comes without end, so that it takes no time from the others."""
    times: Counter[str] = Counter()
    for mention in mentions:
        times[mention[0]] += 1
        if times[mention[0]] <= _MOST_OF_A_TAG:
            yield mention


def _line(body: str, start: int, end: int) -> str:
    first = max(body.rfind("\n", 0, start) + 1, start - MOST_WORDS)
    last = body.find("\n", end, end + MOST_WORDS)
    return " ".join(body[first : last if last >= 0 else end + MOST_WORDS].split())


def _confidence(mentions: int) -> float:
    return round(min(SURE, FIRST + FURTHER * (mentions - 1)), 2)


def _with_confidence(item: Item, mentions: int) -> Item:
    return replace(item, inferred=_confidence(mentions))
