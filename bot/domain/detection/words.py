"""What a person wrote, as sentences of normalised words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from bot.domain.detection.spelling import NAME, expanded
from bot.domain.prose import Kind, Piece

CODE, BLOCK, ADDRESS, CI = "<code>", "<block>", "<url>", "<ci>"
COMMIT, WHO, NUMBER, UP, DOWN = "<commit>", "<who>", "<number>", "<up>", "<down>"
"""Words that stand for something that is not a word: `<code>` for code in the line, and so on."""
ZERO = "zero"
"""The one number that is read as a word: `0 failed` is good news."""


LONGEST = 100
"""Words of a sentence; a longer one is read as several, so that no text makes the reading slow."""
MOST_CHUNKS, LONGEST_CHUNK = 30_000, 40
"""How much is remembered of what stands between two blanks."""


class Sentence(NamedTuple):
    """The words of one sentence, and whether it asks."""

    words: tuple[str, ...]
    asks: bool


def sentences(body: str, pieces: Iterable[Piece]) -> tuple[Sentence, ...]:
    """Read the person's own words; code, addresses and blocks are one word each, quotes are left out.

    Who repeats a sentence says no more: each is there once.
    """
    reader = _Reader()
    for kind, start, end in pieces:
        if kind is _TEXT:
            reader.text(body[start:end])
        elif kind is Kind.LINK:
            reader.link(body, start, end)
        elif kind in _STANDS_FOR:
            reader.stand_in(_STANDS_FOR[kind], body, start, end)
        elif kind is Kind.TASK or (kind is Kind.QUOTE and body[start] == ">"):
            reader.close()
        elif kind is Kind.QUOTE:  # a lazy line: GitHub shows it in the quote, its writer meant an answer
            reader.text(body[start:end])
            reader.close()
    reader.close()
    return tuple(dict.fromkeys(reader.found)) if len(reader.found) > 1 else tuple(reader.found)


def without_struck_out(text: str) -> str:
    """Blank what is struck out; every offset still fits."""
    return STRUCK_OUT.sub(lambda struck: " " * len(struck[0]), text) if "~~" in text else text


def normalised(phrase: str) -> list[str]:
    """Split a phrase as the detector splits a body, so that both agree on what a word is."""
    reader = _Reader()
    reader.text(phrase)
    return reader.words


_TEXT = Kind.TEXT  # found without asking the enum, which is slow for what is asked of every piece
_STANDS_FOR = {Kind.CODE: CODE, Kind.URL: ADDRESS, Kind.FENCE: BLOCK, Kind.IMAGE: ADDRESS}
_CI = re.compile(
    r"travis-ci|appveyor|cirrus-ci|circleci|jenkins|/actions/runs|/checks\?|checks/|drone\.|buildkite|"
    r"dev\.azure|semaphoreci|codeship|wercker|shippable|teamcity|/-/jobs|/builds?/|codecov|coveralls|"
    r"buildbot|ci\.",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\n[ \t\r]*+\n\s*+|\n[ \t]*+(?:[-*+•]|\d++[.)])[ \t]++|\n#++ ")
"""The end of a paragraph, or the beginning of an item or a heading."""
STRUCK_OUT = re.compile(r"~~(?=\S)[^~\n]++(?<=\S)~~")
_TOKEN = re.compile(
    r"([A-Za-z]++)(?=[^\w.:/(\-'’´`]|:(?!:)|-(?!>)|\.?$)"  # 1: a plain word; tried first because most are
    r"|([.!?…]++(?=[)\]\"'*_]|$|[A-Z])|[;\u3002])"  # 2: the end of a sentence
    r"|([,:]$|[()–—]|--|-$)"  # 3: the end of a clause
    r"|(@[A-Za-z0-9][\w-]*+(?:/[\w-]++)?)"  # 4: a person
    r"|(\b(?=[a-f]*+[0-9])[0-9a-f]{7,40}\b)"  # 5: a commit
    r"|(:[a-z0-9_+-]++:|(?<![\w.+/-])[+-][01]\b(?!\.?\w)|[👍👎✅❌🚀🎉])"  # 6: a vote
    r"|([A-Za-z_]\w*+(?:(?:\.(?=[a-z0-9_])|::|->|/(?=\w++[./]))\w++)++(?:\(\))?"  # 7: a name
    r"|[A-Za-z_]\w*+\(\))"
    r"|(\d\w*+(?:[.,]\w++)*+)"  # 8: a number; a dot behind it ends the sentence
    r"|([A-Za-z_]\w*+(?:['’´`](?:[a-z]{1,3}|[A-Z]{1,2})\b)?)"  # 9: any other word
)
"""What there is between two blanks."""
_FEWEST_TOKENS, _PER_TOKEN = 8, 8
"""How much of it is read: what people join without a blank has fewer signs than what is made to hurt."""
_UPS = (":+1:", ":thumbsup:", ":shipit:", ":rocket:", "+1", "👍", "✅", "🚀", "🎉")
_DOWNS = (":-1:", ":thumbsdown:", "-1", "👎", "❌")
_VOTES = {**dict.fromkeys(_UPS, UP), **dict.fromkeys(_DOWNS, DOWN)}


class _Reader:
    """Collects words until a sentence ends."""

    def __init__(self) -> None:
        self.found: list[Sentence] = []
        self.words: list[str] = []

    def text(self, said: str) -> None:
        if "~~" in said:
            said = STRUCK_OUT.sub(" ", said)
        if said.endswith("-") and (len(said) - len(said.rstrip("-"))) % 2:
            said = f"{said[:-1]}\\"  # joined to what comes next: only before a blank does it end a clause
        if "\n" not in said:
            self._paragraph(said)
            return
        first, *others = _PARAGRAPH.split(said)
        self._paragraph(first)
        for other in others:
            self.close()
            self._paragraph(other)

    def _paragraph(self, said: str) -> None:
        words, plain, last = self.words, _CHUNKS.plain.get, _CHUNKS.last.get
        for chunk in said.split():
            if (items := plain(chunk)) is not None:
                words += items
                continue
            if (end := last(chunk)) is not None:
                words += end[0]
                self.close(asks=end[1])
            else:
                self._chunk(_CHUNKS.read(chunk))
            words = self.words

    def _chunk(self, items: tuple[str, ...]) -> None:
        for item in items:
            if item in _STOPS:
                self.close(asks=item == _ASKED)
            elif self.words or item not in _CLAUSES:
                self.words.append(item)

    def link(self, body: str, start: int, end: int) -> None:
        """Read a link's own text as words, and its target as one."""
        target = body.rfind("](", start, end)
        if target > 0 and not body.startswith("[http", start):
            self.text(body[start + 1 : target])
        self.stand_in(ADDRESS, body, start, end)

    def stand_in(self, word: str, body: str, start: int, end: int) -> None:
        if word is ADDRESS and _CI.search(body, start, end):
            word = CI
        self.words.append(word)
        if word is BLOCK:
            self.close()

    def close(self, *, asks: bool = False) -> None:
        words, many, at = self.words, len(self.words), 0
        while many - at > LONGEST:
            self.found.append(Sentence(tuple(words[at : at + LONGEST]), asks=False))
            at += LONGEST
            while at < many and words[at] in _CLAUSES:
                at += 1
        if at < many:
            self.found.append(Sentence(tuple(words[at:]), asks))
        self.words = []


_END, _ASKED = ".", "?"
_STOPS = (_END, _ASKED)
_CLAUSES = (",", ":")
_WORDS = (1, 9)
_STOP, _CLAUSE, _VOTE = 2, 3, 6
_KINDS = {4: WHO, 5: COMMIT, 7: NAME, 8: NUMBER}


class _Chunks:
    """What stands between two blanks, as words and signs; most of it comes again, and is read once."""

    def __init__(self) -> None:
        self.plain: dict[str, tuple[str, ...]] = {}
        """Words, and perhaps the end of a clause behind them."""
        self.last: dict[str, tuple[tuple[str, ...], bool]] = {}
        """The last words of a sentence, and whether it asks."""
        self._others: dict[str, tuple[str, ...]] = {}

    def read(self, chunk: str) -> tuple[str, ...]:
        """Return the words and signs of a chunk, and remember them."""
        items = self._others.get(chunk)
        if items is None:
            is_word = chunk.isascii() and chunk.isalpha()
            items = _word(chunk) if is_word else _read(chunk)
            if len(chunk) <= LONGEST_CHUNK:
                self._make_room()
                if is_word:
                    self.plain[chunk] = items
                else:
                    self._remember(chunk, items)
        return items

    def _make_room(self) -> None:
        if len(self.plain) + len(self.last) + len(self._others) >= MOST_CHUNKS:
            for memory in (self.plain, self.last, self._others):
                memory.clear()

    def _remember(self, chunk: str, items: tuple[str, ...]) -> None:
        stops = sum(item in _STOPS for item in items)
        if items[:1] in _NOT_FIRST or stops > 1 or (stops and items[-1] not in _STOPS):
            self._others[chunk] = items
        elif stops:
            self.last[chunk] = (items[:-1], items[-1] == _ASKED)
        else:
            self.plain[chunk] = items


_NOT_FIRST = tuple((sign,) for sign in _CLAUSES)
_CHUNKS = _Chunks()


def _read(chunk: str) -> tuple[str, ...]:
    """Return the words and signs of what is not one plain word."""
    tokens = islice(_TOKEN.finditer(chunk), _FEWEST_TOKENS + len(chunk) // _PER_TOKEN)
    return tuple([item for token in tokens for item in _items(token)])


def _word(written: str) -> tuple[str, ...]:
    """Return what a word stands for; of a word without end only its beginning, for it will be remembered."""
    return expanded(written[:LONGEST_CHUNK])


def _items(token: re.Match[str]) -> tuple[str, ...]:
    kind, text = token.lastindex or 0, token[0]
    if kind in _WORDS:
        return _word(text)
    if kind == _STOP:
        return (_ASKED if "?" in text else _END,)
    if kind == _CLAUSE:
        return (":" if text == ":" else ",",)
    if kind == _VOTE:
        return (_VOTES[text],) if text in _VOTES else ()
    return (ZERO if text == "0" else _KINDS[kind],)
