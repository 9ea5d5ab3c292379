"""Split a person's text into sentences of normalized words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from functools import lru_cache
from itertools import islice
from string import ascii_letters, digits
from typing import NamedTuple

from bot import regex
from bot.markdown.blocks import Piece, SpanKind
from bot.regex import is_word

NAME_WORD = "<name>"
"""Stands for a word that is a name of the code."""

_SPLIT: dict[str, tuple[str, ...]] = {
    "cannot": ("can", "not"),
    "can't": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "ain't": ("is", "not"),
    "let's": ("let", "us"),
    "dont": ("do", "not"),
    "doesnt": ("does", "not"),
    "didnt": ("did", "not"),
    "isnt": ("is", "not"),
    "wasnt": ("was", "not"),
    "arent": ("are", "not"),
    "wont": ("will", "not"),
    "cant": ("can", "not"),
    "shouldnt": ("should", "not"),
    "wouldnt": ("would", "not"),
    "couldnt": ("could", "not"),
    "hasnt": ("has", "not"),
    "havent": ("have", "not"),
    "thats": ("that", "is"),
    "im": ("i", "am"),
    "ive": ("i", "have"),
    "didn": ("did", "not"),
    "doesn": ("does", "not"),
    "imo": (),
    "imho": (),
    "afaict": (),
    "afaik": (),
    "afaics": (),
}
_ENDINGS = {"n't": "not", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_IS = frozenset({"it", "that", "this", "there", "here", "what", "he", "she", "who", "where", "how", "which"})


@lru_cache(maxsize=8192)
def expand_word(written: str) -> tuple[str, ...]:
    """Return the words that a written word stands for: most often one, `don't` two, `IMHO` none."""
    word = written.lower()
    if word.isascii() and word.isalpha():
        return _SPLIT.get(word, (word,))
    if "_" in word or any(letter.isdigit() for letter in word):
        return (NAME_WORD,)
    word = word.replace("’", "'").replace("´", "'").replace("`", "'")
    if word in _SPLIT:
        return _SPLIT[word]
    for ending, meaning in _ENDINGS.items():
        if word.endswith(ending):
            return (word[: -len(ending)], meaning) if word != ending else (meaning,)
    stem = word.partition("'")[0]
    return (stem, "is") if stem in _IS else (stem,)


_CUT = ("ations", "ation", "ings", "ing", "ed", "es", "ly", "s")


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Cut the ending of a word, so that its forms count as one."""
    if len(word) < 5 or word[0] in "<{":
        return word
    for ending in _CUT:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word


class Token(Enum):
    """What a part of a chunk is."""

    WORD = auto()
    STOP = auto()
    CLAUSE = auto()
    PERSON = auto()
    COMMIT = auto()
    VOTE = auto()
    NAME = auto()
    NUMBER = auto()

    __hash__ = object.__hash__  # that of an enum is written in Python


def tokens_of(chunk: str) -> Iterator[tuple[Token, str]]:
    """Yield the words and signs of a chunk, which has no white space; what is neither is passed over."""
    at = 0
    while at < len(chunk):
        sign = chunk[at]
        if sign in _LETTERS or sign == "_":
            kind, end = _token_word(chunk, at)
        elif sign.isdecimal():
            kind, end = _number(chunk, at)
        elif sign in _READERS:
            kind, end = _READERS[sign](chunk, at)
        else:
            kind, end = None, at + 1
        if kind is not None:
            yield kind, chunk[at:end]
        at = end


_Read = tuple[Token | None, int]
_LETTERS = frozenset(ascii_letters)
_LETTERS_AND_DIGITS = _LETTERS | frozenset(digits)
_OF_WORDS = _LETTERS_AND_DIGITS | {"_"}
_OF_HANDLES = _OF_WORDS | {"-"}
_ASCII = "\x7f"
_HEX = frozenset("0123456789abcdef")
_TOKEN_STOPS = frozenset(".!?…")
_AFTER_STOP = frozenset(")]\"'*_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NOT_AFTER_WORD = frozenset("./('’´`")
_APOSTROPHES = frozenset("'’´`")
_AFTER_DOT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_IN_VOTE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_+-")
_NOT_BEFORE_VOTE = frozenset(".+/-")


def _token_word(chunk: str, at: int) -> _Read:
    """Read a plain word, a commit, a name such as `a.b` or `a()`, or else a word with what `'` adds to it."""
    end = at
    while end < len(chunk) and chunk[end] in _LETTERS:
        end += 1
    if end > at and _ends_plain_word(chunk, end):
        return Token.WORD, end
    if commit := _commit_end(chunk, at):
        return Token.COMMIT, commit
    end = _word_end(chunk, end)
    if name := _name_end(chunk, end):
        return Token.NAME, name
    if chunk[end : end + 1] in _APOSTROPHES:
        tail = chunk[end + 1 : min(end + 5, _word_end(chunk, end + 1, end + 5))]
        is_short = len(tail) < 3 or (len(tail) == 3 and tail.islower())
        if is_short and tail.isascii() and tail.isalpha() and (tail.islower() or tail.isupper()):
            return Token.WORD, end + 1 + len(tail)
    return Token.WORD, end


def _ends_plain_word(chunk: str, end: int) -> bool:
    sign, following = chunk[end : end + 1], chunk[end + 1 : end + 2]
    if sign == ".":
        return not following
    if sign == ":":
        return following != ":"
    if sign == "-":
        return following != ">"
    return not is_word(sign) and sign not in _NOT_AFTER_WORD


def _commit_end(chunk: str, at: int) -> int:
    """Return where a commit's number ends; 0 where there is none."""
    if chunk[at] not in _HEX or (at and is_word(chunk[at - 1])):
        return 0
    end = at
    while end < len(chunk) and chunk[end] in _HEX:
        end += 1
    is_whole = 7 <= end - at <= 40 and not is_word(chunk[end : end + 1])
    return end if is_whole and not chunk[at:end].isalpha() else 0


def _name_end(chunk: str, end: int) -> int:
    """Return where a name ends that begins with the word that ends there; 0 where it is only a word."""
    last = end
    while (start := _after_joint(chunk, last)) and (part := _word_end(chunk, start)) > start:
        last = part
    called = chunk.startswith("()", last)
    return last + 2 * called if last > end or called else 0


def _after_joint(chunk: str, at: int) -> int:
    """Return the offset behind what joins two parts of a name; 0 where nothing does."""
    if chunk.startswith(("::", "->"), at):
        return at + 2
    if chunk.startswith(".", at):
        return at + 1 if chunk[at + 1 : at + 2] in _AFTER_DOT else 0
    if chunk.startswith("/", at):
        end = _word_end(chunk, at + 1)
        return at + 1 if end > at + 1 and chunk.startswith((".", "/"), end) else 0
    return 0


def _number(chunk: str, at: int) -> _Read:
    if commit := _commit_end(chunk, at):
        return Token.COMMIT, commit
    end = _word_end(chunk, at)
    while chunk.startswith((".", ","), end) and (part := _word_end(chunk, end + 1)) > end + 1:
        end = part
    return Token.NUMBER, end


def _stop(chunk: str, at: int) -> _Read:
    end = at
    while end < len(chunk) and chunk[end] in _TOKEN_STOPS:
        end += 1
    is_stop = end == len(chunk) or chunk[end] in _AFTER_STOP
    return (Token.STOP if is_stop else None), end


def _person(chunk: str, at: int) -> _Read:
    if chunk[at + 1 : at + 2] not in _LETTERS_AND_DIGITS:
        return None, at + 1
    end = _handle_end(chunk, at + 2)
    if chunk.startswith("/", end) and (team := _handle_end(chunk, end + 1)) > end + 1:
        end = team
    return Token.PERSON, end


def _colon(chunk: str, at: int) -> _Read:
    if at + 1 == len(chunk):
        return Token.CLAUSE, at + 1
    end = at + 1
    while end < len(chunk) and chunk[end] in _IN_VOTE:
        end += 1
    is_vote = end > at + 1 and chunk.startswith(":", end)
    return (Token.VOTE, end + 1) if is_vote else (None, at + 1)


def _plus_or_minus(chunk: str, at: int) -> _Read:
    if chunk[at] == "-" and (at + 1 == len(chunk) or chunk[at + 1] == "-"):
        return Token.CLAUSE, min(at + 2, len(chunk))
    before, after = chunk[at - 1 : at], chunk[at + 2 : at + 4]
    alone = not (is_word(before) or before in _NOT_BEFORE_VOTE)
    goes_on = is_word(after[:1]) or (after[:1] == "." and is_word(after[1:]))
    is_vote = alone and chunk.startswith(("0", "1"), at + 1) and not goes_on
    return (Token.VOTE, at + 2) if is_vote else (None, at + 1)


def _comma(chunk: str, at: int) -> _Read:
    return (Token.CLAUSE if at + 1 == len(chunk) else None), at + 1


def _alone(kind: Token) -> Callable[[str, int], _Read]:
    return lambda _chunk, at: (kind, at + 1)


def _word_end(chunk: str, at: int, limit: int | None = None) -> int:
    end = len(chunk) if limit is None else min(limit, len(chunk))
    while at < end and (chunk[at] in _OF_WORDS or (chunk[at] > _ASCII and is_word(chunk[at]))):
        at += 1
    return at


def _handle_end(chunk: str, at: int) -> int:
    while at < len(chunk) and (chunk[at] in _OF_HANDLES or (chunk[at] > _ASCII and is_word(chunk[at]))):
        at += 1
    return at


_READERS: dict[str, Callable[[str, int], _Read]] = {
    **dict.fromkeys(_TOKEN_STOPS, _stop),
    **dict.fromkeys(";。", _alone(Token.STOP)),
    **dict.fromkeys("()–—", _alone(Token.CLAUSE)),
    **dict.fromkeys("👍👎✅❌🚀🎉", _alone(Token.VOTE)),
    **dict.fromkeys("+-", _plus_or_minus),
    ",": _comma,
    ":": _colon,
    "@": _person,
}


CODE, BLOCK, ADDRESS, CI = "<code>", "<block>", "<url>", "<ci>"
COMMIT, WHO, NUMBER, UP, DOWN = "<commit>", "<who>", "<number>", "<up>", "<down>"
"""Words that stand for something that is not a word: `<code>` for code in the line, and so on."""
ZERO_WORD = "zero"
"""The one number that is read as a word: `0 failed` is good news."""


MAX_WORD_LENGTH = 100
"""Words of a sentence; a longer one is read as several, so that no text makes the reading slow."""
MOST_CHUNKS, LONGEST_CHUNK = 30_000, 40
"""How much is remembered of what stands between two blanks."""


class Sentence(NamedTuple):
    """The words of one sentence, and whether it asks."""

    words: tuple[str, ...]
    asks: bool


def split_sentences(body: str, pieces: Iterable[Piece]) -> tuple[Sentence, ...]:
    """Read the person's own words; code, addresses and blocks are one word each, quotes are left out.

    Who repeats a sentence says no more: each is there once.
    """
    reader = _SentenceReader()
    for kind, start, end in pieces:
        if kind is _TEXT:
            reader.text(body[start:end])
        elif kind is SpanKind.LINK:
            reader.link(body, start, end)
        elif kind in _STANDS_FOR:
            reader.stand_in(_STANDS_FOR[kind], body, start, end)
        elif kind is SpanKind.TASK or (kind is SpanKind.QUOTE and body[start] == ">"):
            reader.close()
        elif kind is SpanKind.QUOTE:  # a lazy line: GitHub shows it in the quote, its writer meant an answer
            reader.text(body[start:end])
            reader.close()
    reader.close()
    return tuple(dict.fromkeys(reader.found)) if len(reader.found) > 1 else tuple(reader.found)


def blank_struck_out(text: str) -> str:
    """Blank what is struck out; every offset still fits."""
    return STRUCK_OUT.sub(lambda struck: " " * len(struck[0]), text) if "~~" in text else text


def normalize_phrase(phrase: str) -> list[str]:
    """Split a phrase as the detector splits a body, so that both agree on what a word is."""
    reader = _SentenceReader()
    reader.text(phrase)
    return reader.words


_TEXT = SpanKind.TEXT  # found without asking the enum, which is slow for what is asked of every piece
_STANDS_FOR = {SpanKind.CODE: CODE, SpanKind.URL: ADDRESS, SpanKind.FENCE: BLOCK, SpanKind.IMAGE: ADDRESS}
_CI = regex.Regex(
    r"travis-ci|appveyor|cirrus-ci|circleci|jenkins|/actions/runs|/checks\?|checks/|drone\.|buildkite|"
    r"dev\.azure|semaphoreci|codeship|wercker|shippable|teamcity|/-/jobs|/builds?/|codecov|coveralls|"
    r"buildbot|ci\.",
    ignore_case=True,
)
STRUCK_OUT = regex.Regex(r"~~[^~\s](?:[^~\n]*[^~\s])?~~")
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


class _SentenceReader:
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
        while many - at > MAX_WORD_LENGTH:
            self.found.append(Sentence(tuple(words[at : at + MAX_WORD_LENGTH]), asks=False))
            at += MAX_WORD_LENGTH
            while at < many and words[at] in _CLAUSES:
                at += 1
        if at < many:
            self.found.append(Sentence(tuple(words[at:]), asks))
        self.words = []


_END, _ASKED = ".", "?"
_STOPS = (_END, _ASKED)
_CLAUSES = (",", ":")
_KINDS = {Token.PERSON: WHO, Token.COMMIT: COMMIT, Token.NAME: NAME_WORD, Token.NUMBER: NUMBER}


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
    return expand_word(written[:LONGEST_CHUNK])


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
    return (ZERO_WORD if text == "0" else _KINDS[kind],)
