"""What a person wrote, as sentences of normalised words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from bot.domain.detection.spelling import NAME, UNUSUAL, expanded
from bot.domain.prose import Kind, Piece

CODE, BLOCK, ADDRESS, CI = "<code>", "<block>", "<url>", "<ci>"
COMMIT, WHO, NUMBER, UP, DOWN = "<commit>", "<who>", "<number>", "<up>", "<down>"
"""Words that stand for something that is not a word: `<code>` for code in the line, and so on."""
ZERO = "zero"
"""The one number that is read as a word: `0 failed` is good news."""


LONGEST = 100
"""Words of a sentence; a longer one is read as several, so that no text makes the reading slow."""


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
        if kind is Kind.TEXT:
            reader.text(body, start, end)
        elif kind is Kind.LINK:
            reader.link(body, start, end)
        elif kind in _STANDS_FOR:
            reader.stand_in(_STANDS_FOR[kind], body, start, end)
        elif kind is Kind.TASK or (kind is Kind.QUOTE and body[start] == ">"):
            reader.close()
        elif kind is Kind.QUOTE:  # a lazy line: GitHub shows it in the quote, its writer meant an answer
            reader.text(body, start, end)
            reader.close()
    reader.close()
    return tuple(dict.fromkeys(reader.found)) if len(reader.found) > 1 else tuple(reader.found)


def normalised(phrase: str) -> list[str]:
    """Split a phrase as the detector splits a body, so that both agree on what a word is."""
    reader = _Reader()
    reader.text(phrase, 0, len(phrase))
    return reader.words


_STANDS_FOR = {Kind.CODE: CODE, Kind.URL: ADDRESS, Kind.FENCE: BLOCK, Kind.IMAGE: ADDRESS}
_CI = re.compile(
    r"travis-ci|appveyor|cirrus-ci|circleci|jenkins|/actions/runs|/checks\?|checks/|drone\.|buildkite|"
    r"dev\.azure|semaphoreci|codeship|wercker|shippable|teamcity|/-/jobs|/builds?/|codecov|coveralls|"
    r"buildbot|ci\.",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"[ \t]{0,3}+(?:"
    r"((?:[A-Za-z]++[ \t]{1,3}+)++)"  # 1: plain words with blanks behind; tried first because most are
    r"|([A-Za-z]++)(?=[\s,)!?]|:(?!:)|\.\s|\.?$)"  # 2: a plain word with something else behind
    r"|([.!?…]++(?=[\s)\]\"'*_]|$|[A-Z])|[;\u3002])"  # 3: the end of a sentence
    r"|([,:](?=\s|$)|[()–—]|--|-(?=\s))"  # 4: the end of a clause
    r"|(\n[ \t\r]*+\n\s*+|\n[ \t]*+(?:[-*+•]|\d++[.)])[ \t]++|\n#++ )"  # 5: the end of a paragraph or item
    r"|(@[A-Za-z0-9][\w-]*+(?:/[\w-]++)?)"  # 6: a person
    r"|(\b(?=[a-f]*+[0-9])[0-9a-f]{7,40}\b)"  # 7: a commit
    r"|(:[a-z0-9_+-]++:|(?<![\w.+/-])[+-][01]\b(?!\.?\w)|[👍👎✅❌🚀🎉])"  # 8: a vote
    r"|([A-Za-z_]\w*+(?:(?:\.(?=[a-z0-9_])|::|->|/(?=\w++[./]))\w++)++(?:\(\))?"  # 9: a name
    r"|[A-Za-z_]\w*+\(\))"
    r"|(\d[\w.,]*+)"  # 10: a number
    r"|([A-Za-z_]\w*+(?:['’´`](?:[a-z]{1,3}|[A-Z]{1,2})\b)?)"  # 11: any other word
    r")"
)
_UPS = (":+1:", ":thumbsup:", ":shipit:", ":rocket:", "+1", "👍", "✅", "🚀", "🎉")
_DOWNS = (":-1:", ":thumbsdown:", "-1", "👎", "❌")
_VOTES = {**dict.fromkeys(_UPS, UP), **dict.fromkeys(_DOWNS, DOWN)}


class _Reader:
    """Collects words until a sentence ends."""

    def __init__(self) -> None:
        self.found: list[Sentence] = []
        self.words: list[str] = []
        self.asks = False

    def text(self, body: str, start: int, end: int) -> None:
        words = self.words
        for token in _TOKEN.finditer(body, start, end):
            kind = token.lastindex or 0
            if kind == _RUN:
                run = token[kind].lower().split()
                if len(words) + len(run) <= LONGEST and UNUSUAL.isdisjoint(run):
                    words += run
                else:
                    self._one_by_one(run)
                    words = self.words
            elif kind in _WORDS:
                words += expanded(token[kind])
                if len(words) > LONGEST:
                    self.close()
                    words = self.words
            elif kind in _STOPS:
                self.asks = "?" in token[kind]
                self.close()
                words = self.words
            elif (word := _stand_in(kind, token[kind])) and (words or kind != _CLAUSE):
                words.append(word)

    def link(self, body: str, start: int, end: int) -> None:
        """Read a link's own text as words, and its target as one."""
        target = body.rfind("](", start, end)
        if target > 0 and not body.startswith("[http", start):
            self.text(body, start + 1, target)
        self.stand_in(ADDRESS, body, start, end)

    def stand_in(self, word: str, body: str, start: int, end: int) -> None:
        if word is ADDRESS and _CI.search(body, start, end):
            word = CI
        self.words.append(word)
        if word is BLOCK:
            self.close()

    def _one_by_one(self, written: Iterable[str]) -> None:
        for one in written:
            self.words += expanded(one)
            if len(self.words) > LONGEST:
                self.close()

    def close(self) -> None:
        if self.words:
            self.found.append(Sentence(tuple(self.words), self.asks))
            self.words = []
        self.asks = False


_RUN = 1
_WORDS = (2, 11)
_STOPS = (3, 5)
_CLAUSE = 4
_VOTE = 8
_KINDS = {6: WHO, 7: COMMIT, 9: NAME, 10: NUMBER}


def _stand_in(kind: int, text: str) -> str:
    if kind == _CLAUSE:
        return ":" if text == ":" else ","
    if text == "0":
        return ZERO
    return _VOTES.get(text, "") if kind == _VOTE else _KINDS[kind]
