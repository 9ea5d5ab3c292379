"""What stands between two blanks, cut into words and signs; each character is looked at a few times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, auto
from string import ascii_letters, digits

from bot.domain.regex import is_word


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
            kind, end = _word(chunk, at)
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
_STOPS = frozenset(".!?…")
_AFTER_STOP = frozenset(")]\"'*_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NOT_AFTER_WORD = frozenset("./('’´`")
_APOSTROPHES = frozenset("'’´`")
_AFTER_DOT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_IN_VOTE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_+-")
_NOT_BEFORE_VOTE = frozenset(".+/-")


def _word(chunk: str, at: int) -> _Read:
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
    while end < len(chunk) and chunk[end] in _STOPS:
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
    **dict.fromkeys(_STOPS, _stop),
    **dict.fromkeys(";。", _alone(Token.STOP)),
    **dict.fromkeys("()–—", _alone(Token.CLAUSE)),
    **dict.fromkeys("👍👎✅❌🚀🎉", _alone(Token.VOTE)),
    **dict.fromkeys("+-", _plus_or_minus),
    ",": _comma,
    ":": _colon,
    "@": _person,
}
