"""What a person wrote, as sentences of normalised words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from bot.domain import regex
from bot.domain.detection.spelling import NAME, expanded
from bot.domain.detection.tokens import Token, tokens_of
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
_CI = regex.Pattern(
    r"travis-ci|appveyor|cirrus-ci|circleci|jenkins|/actions/runs|/checks\?|checks/|drone\.|buildkite|"
    r"dev\.azure|semaphoreci|codeship|wercker|shippable|teamcity|/-/jobs|/builds?/|codecov|coveralls|"
    r"buildbot|ci\.",
    ignore_case=True,
)
STRUCK_OUT = regex.Pattern(r"~~[^~\s](?:[^~\n]*[^~\s])?~~")
_FEWEST_TOKENS, _PER_TOKEN = 8, 8
"""How much of it is read: what people join without a blank has fewer signs than what is made to hurt."""
_UPS = (":+1:", ":thumbsup:", ":shipit:", ":rocket:", "+1", "👍", "✅", "🚀", "🎉")
_DOWNS = (":-1:", ":thumbsdown:", "-1", "👎", "❌")
_VOTES = {**dict.fromkeys(_UPS, UP), **dict.fromkeys(_DOWNS, DOWN)}


def _paragraphs(text: str) -> list[str]:
    """Split a text at blank lines, and where an item or a heading begins, whose mark is left out."""
    first, *lines = text.split("\n")
    found = [[first]]
    after_blank = False
    for number, line in enumerate(lines, 1):
        bare = line.lstrip(" \t\r")
        if not bare:
            if number < len(lines) and not after_blank:
                found.append([])
                after_blank = True
        elif after_blank:  # the mark of its first line stays
            found[-1].append(line)
            after_blank = bare.isspace()
        elif (begin := _after_mark(line)) >= 0:
            found.append([line[begin:]])
        else:
            found[-1].append(line)
    return ["\n".join(part) for part in found]


def _after_mark(line: str) -> int:
    """Return the offset behind the mark of an item or a heading that a line begins with, or -1."""
    at = 0
    if line[:1] == "#":
        while line[at : at + 1] == "#":
            at += 1
        return at + 1 if line[at : at + 1] == " " else -1
    while line[at : at + 1] in _BLANKS:
        at += 1
    if line[at : at + 1] not in _BULLETS:
        number = at
        while line[at : at + 1] in _DIGITS:
            at += 1
        if at == number or line[at : at + 1] not in _AFTER_NUMBER:
            return -1
    return at + 2 if line[at + 1 : at + 2] in _BLANKS else -1


_BLANKS, _BULLETS = frozenset(" \t"), frozenset("-*+•")
_DIGITS, _AFTER_NUMBER = frozenset("0123456789"), frozenset(".)")


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
        first, *others = _paragraphs(said)
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
        if word is ADDRESS and _CI.search(body[start:end]):
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
_KINDS = {Token.PERSON: WHO, Token.COMMIT: COMMIT, Token.NAME: NAME, Token.NUMBER: NUMBER}


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
    tokens = islice(tokens_of(chunk), _FEWEST_TOKENS + len(chunk) // _PER_TOKEN)
    return tuple([item for token in tokens for item in _items(token)])


def _word(written: str) -> tuple[str, ...]:
    """Return what a word stands for; of a word without end only its beginning, for it will be remembered."""
    return expanded(written[:LONGEST_CHUNK])


def _items(token: tuple[Token, str]) -> tuple[str, ...]:
    kind, text = token
    if kind is Token.WORD:
        return _word(text)
    if kind is Token.STOP:
        return (_ASKED if "?" in text else _END,)
    if kind is Token.CLAUSE:
        return (":" if text == ":" else ",",)
    if kind is Token.VOTE:
        return (_VOTES[text],) if text in _VOTES else ()
    return (ZERO if text == "0" else _KINDS[kind],)
