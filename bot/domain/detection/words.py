"""What a person wrote, as sentences of normalised words."""

from __future__ import annotations

import re
from typing import NamedTuple

from bot.domain.detection.spelling import NAME, expanded
from bot.domain.prose import Kind, Span

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


def sentences(body: str, spans: tuple[Span, ...]) -> tuple[Sentence, ...]:
    """Read the person's own words; code, addresses and blocks are one word each, quotes are left out."""
    reader = _Reader()
    for span in spans:
        if span.kind is Kind.TEXT:
            reader.text(body, span.start, span.end)
        elif span.kind is Kind.LINK:
            reader.link(body, span)
        elif span.kind in _STANDS_FOR:
            reader.stand_in(body, span)
        elif span.kind is Kind.TASK or (span.kind is Kind.QUOTE and body[span.start] == ">"):
            reader.close()
        elif span.kind is Kind.QUOTE:  # a lazy line: GitHub shows it in the quote, its writer meant an answer
            reader.text(body, span.start, span.end)
            reader.close()
    reader.close()
    return tuple(reader.found)


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
    r"([A-Za-z]++)(?=[\s,)!?]|:(?!:)|\.\s|\.?$)"  # 1: a plain word; tried first because most are
    r"|([.!?…]++(?=[\s)\]\"'*_]|$|[A-Z])|[;\u3002])"  # 2: the end of a sentence
    r"|([,:](?=\s|$)|[()–—]|--|-(?=\s))"  # 3: the end of a clause
    r"|(\n[ \t\r]*+\n\s*+|\n[ \t]*+(?:[-*+•]|\d++[.)])[ \t]++|\n#++ )"  # 4: the end of a paragraph or item
    r"|(@[A-Za-z0-9][\w-]*+(?:/[\w-]++)?)"  # 5: a person
    r"|(\b(?=[a-f]*+[0-9])[0-9a-f]{7,40}\b)"  # 6: a commit
    r"|(:[a-z0-9_+-]++:|(?<![\w.+/-])[+-][01]\b(?![.\w])|[👍👎✅❌🚀🎉])"  # 7: a vote
    r"|([A-Za-z_]\w*+(?:(?:\.(?=[a-z0-9_])|::|->|/(?=\w++[./]))\w++)++(?:\(\))?"  # 8: a name
    r"|[A-Za-z_]\w*+\(\))"
    r"|(\d[\w.,]*+)"  # 9: a number
    r"|([A-Za-z_]\w*+(?:['’´`](?:[a-z]{1,3}|[A-Z]{1,2})\b)?)"  # 10: any other word
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
            if kind in _WORDS:
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

    def link(self, body: str, span: Span) -> None:
        """Read a link's own text as words, and its target as one."""
        target = body.rfind("](", span.start, span.end)
        if target > 0 and not body.startswith("[http", span.start):
            self.text(body, span.start + 1, target)
        self.stand_in(body, span)

    def stand_in(self, body: str, span: Span) -> None:
        word = _STANDS_FOR.get(span.kind, ADDRESS)
        if word is ADDRESS and _CI.search(body, span.start, span.end):
            word = CI
        self.words.append(word)
        if word is BLOCK:
            self.close()

    def close(self) -> None:
        if self.words:
            self.found.append(Sentence(tuple(self.words), self.asks))
            self.words = []
        self.asks = False


_WORDS = (1, 10)
_STOPS = (2, 4)
_CLAUSE = 3
_VOTE = 7
_KINDS = {5: WHO, 6: COMMIT, 8: NAME, 9: NUMBER}


def _stand_in(kind: int, text: str) -> str:
    if kind == _CLAUSE:
        return ":" if text == ":" else ","
    if text == "0":
        return ZERO
    return _VOTES.get(text, "") if kind == _VOTE else _KINDS[kind]
