"""Split a person's text into sentences of normalized words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from string import hexdigits
from typing import NamedTuple

from bot import regex
from bot.markdown.blocks import Piece, SpanKind

CODE, BLOCK, ADDRESS, CI = "<code>", "<block>", "<url>", "<ci>"
COMMIT, WHO, NUMBER, NAME, EXCEPTION = "<commit>", "<who>", "<number>", "<name>", "<exception>"
UP, DOWN = "<up>", "<down>"
"""Words that stand for something that is not a word: `<code>` for code in the line, and so on."""

MAX_SENTENCE = 100
"""Words of a sentence; a longer one is split, so that no text makes the reading slow."""
MAX_CHUNK = 60
"""Characters of a chunk between two blanks that are read; no word is longer."""


class Sentence(NamedTuple):
    """The words of one sentence, and whether it asks."""

    words: tuple[str, ...]
    asks: bool


def split_sentences(body: str, pieces: Iterable[Piece]) -> tuple[Sentence, ...]:
    """Read the person's own words; code, addresses and blocks are one word each, quotes are left out.

    A sentence that is repeated says no more: each is there once.
    """
    reader = _SentenceReader()
    for kind, start, end in pieces:
        if kind is _TEXT:
            reader.read_text(body[start:end])
        elif kind is SpanKind.LINK:
            reader.read_link(body, start, end)
        elif kind in _STANDS_FOR:
            reader.stand_in(_STANDS_FOR[kind], body, start, end)
        elif kind is SpanKind.TASK or (kind is SpanKind.QUOTE and body[start] == ">"):
            reader.close()
        elif kind is SpanKind.QUOTE:  # a lazy line: GitHub shows it in the quote, its writer meant an answer
            reader.read_text(body[start:end])
            reader.close()
    reader.close()
    return tuple(dict.fromkeys(reader.sentences))


def blank_struck_out(text: str) -> str:
    """Blank what is struck out; every offset still fits."""
    return _STRUCK_OUT.sub(lambda struck: " " * len(struck[0]), text) if "~~" in text else text


def normalize_phrase(phrase: str) -> list[str]:
    """Split a phrase as a body is split, so that both agree on what a word is."""
    reader = _SentenceReader()
    reader.read_text(phrase)
    return reader.words


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Cut the ending of a word, so that its forms count as one."""
    if len(word) < 5 or word[0] == "<":
        return word
    for ending in _SUFFIXES:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word


_TEXT = SpanKind.TEXT
_SUFFIXES = ("ations", "ation", "ings", "ing", "ed", "es", "ly", "s")
_STANDS_FOR = {SpanKind.CODE: CODE, SpanKind.URL: ADDRESS, SpanKind.FENCE: BLOCK, SpanKind.IMAGE: ADDRESS}
_CI = regex.Regex(
    r"travis-ci|appveyor|cirrus-ci|circleci|jenkins|/actions/runs|/checks\?|checks/|drone\.|buildkite|"
    r"dev\.azure|semaphoreci|teamcity|/-/jobs|/builds?/|codecov|coveralls|buildbot|ci\.",
    ignore_case=True,
)
_STRUCK_OUT = regex.Regex(r"~~[^~\s](?:[^~\n]*[^~\s])?~~")
_STOP, _ASKS = ".", "?"
_STOPS = frozenset((_STOP, _ASKS))
_CLAUSES = frozenset((",", ":"))


class _SentenceReader:
    """Collects words until a sentence ends."""

    def __init__(self) -> None:
        self.sentences: list[Sentence] = []
        self.words: list[str] = []

    def read_text(self, text: str) -> None:
        if "~~" in text:
            text = _STRUCK_OUT.sub(" ", text)
        first, *others = text.split("\n")
        self._line(first)
        for line in others:
            bare = line.lstrip(" \t\r>")
            if self.words and (not bare or not "a" <= bare[0] <= "z"):  # a wrapped line goes on in lower case
                self.close()
            number, _, rest = bare.partition(" ")
            self._line(rest if number[:-1].isdigit() and number[-1] in ".)" else bare)

    def _line(self, line: str) -> None:
        words = self.words
        for chunk in line.split():
            items, ends = _CHUNKS.get(chunk) or _remember(chunk)
            if not ends:
                words += items
                continue
            for item in items:
                if item in _STOPS:
                    self.close(asks=item == _ASKS)
                else:
                    self.words.append(item)
            words = self.words

    def read_link(self, body: str, start: int, end: int) -> None:
        """Read a link's own text as words, and its target as one."""
        target = body.rfind("](", start, end)
        if target > 0 and not body.startswith("[http", start):
            self.read_text(body[start + 1 : target])
        self.stand_in(ADDRESS, body, start, end)

    def stand_in(self, word: str, body: str, start: int, end: int) -> None:
        if word is ADDRESS and _CI.search(body[start:end]):
            word = CI
        self.words.append(word)
        if word is BLOCK:
            self.close()

    def close(self, *, asks: bool = False) -> None:
        words = self.words
        while words and words[0] in _CLAUSES:
            del words[0]
        for at in range(0, len(words), MAX_SENTENCE):
            part = tuple(words[at : at + MAX_SENTENCE])
            self.sentences.append(Sentence(part, asks and at + MAX_SENTENCE >= len(words)))
        if asks and not words and self.sentences:  # "really ?" with a blank before the sign
            self.sentences[-1] = Sentence(self.sentences[-1].words, asks=True)
        self.words = []


_Chunk = tuple[tuple[str, ...], bool]
_CHUNKS: dict[str, _Chunk] = {}
MAX_CACHED_CHUNKS = 20_000


def _remember(chunk: str) -> _Chunk:
    """Read the text between two blanks; most texts repeat, and each is read once."""
    items = tuple(_read_chunk(chunk[:MAX_CHUNK]))
    found = (items, _STOP in items or _ASKS in items)
    if len(_CHUNKS) >= MAX_CACHED_CHUNKS:
        _CHUNKS.clear()
    if len(chunk) <= MAX_CHUNK:
        _CHUNKS[chunk] = found
    return found


_OPENING = "([{\"'*_~<“‘-–—=|#>"
_CLOSING = ".,;:!?)]}\"'*_~>”’…-–—=|。"
_VOTES = {
    **dict.fromkeys((":+1:", ":thumbsup:", ":shipit:", ":rocket:", "+1", "+2", "👍", "✅", "🚀", "🎉"), UP),
    **dict.fromkeys((":-1:", ":thumbsdown:", "-1", "-2", "👎", "❌"), DOWN),
}


def _read_chunk(chunk: str) -> list[str]:
    if chunk in _VOTES or chunk.rstrip(".,;!)") in _VOTES:
        return [_VOTES.get(chunk) or _VOTES[chunk.rstrip(".,;!)")]]
    rest = chunk.lstrip(_OPENING)
    if not rest:
        return [","] if chunk[0] in "-–—" else []
    core = rest.rstrip(_CLOSING)
    tail = rest[len(core) :]
    items = [","] if "(" in chunk[: len(chunk) - len(rest)] else []
    if core.endswith("(") and tail.startswith(")"):
        items.append(NAME)
        tail = tail[1:]
    elif core.lower() in _ABBREVIATIONS:
        return [*items, *((",",) if "," in tail else ())]
    elif core:
        items += _words(core)
    if sign := next((sign for signs, sign in _TAILS if not signs.isdisjoint(tail)), ""):
        items.append(sign)
    return items


_TAILS = (
    (frozenset("?"), _ASKS),
    (frozenset(":"), ":"),
    (frozenset(".!…;。"), _STOP),
    (frozenset(",)–—-"), ","),
)


_ABBREVIATIONS = frozenset(("e.g", "i.e", "eg", "ie", "etc", "cf", "vs", "imo", "imho", "afaik", "afaict"))
_JOINTS = ("...", "…", "—", "–", "--", "/", "-", ",", ":", "?", "!", ";", "&")


def _words(core: str) -> tuple[str, ...]:
    """Return the words of a chunk without the signs around it."""
    if core.isalpha() and (core.islower() or core[1:].islower() or core.isupper()):
        return expand_word(core)
    plain = core.replace("’", "'").replace("´", "'").replace("`", "'")
    if plain.replace("'", "").isalpha() and "'" in plain:
        return expand_word(plain)
    if stands_for := _stand_in(core):
        return (stands_for,)
    before, _, after = core.partition(".")
    if before.islower() and after[:1].isupper() and (before + after).isalpha():  # a blank was forgotten
        return (*expand_word(before), _STOP, *expand_word(after))
    return _joined_words(plain) or (NAME,)


def _stand_in(core: str) -> str:
    """Return the placeholder of a person, number, commit, address or exception; empty for other words."""
    is_hex = _FEWEST_HEX <= len(core) <= _MOST_HEX and all(sign in hexdigits for sign in core)
    if core[0] == "@":
        return WHO
    if is_hex and not core.isdigit() and not core.isalpha():
        return COMMIT
    if core[0].isdigit():
        return "zero" if core == "0" else NUMBER
    if "://" in core or core.startswith("www."):
        return CI if _CI.search(core) else ADDRESS
    if core.endswith(("Error", "Exception")):
        return EXCEPTION
    return NAME if "->" in core or "::" in core or core.isalpha() else ""


def _joined_words(plain: str) -> tuple[str, ...]:
    """Return the words that a sign joins, as in `and/or`; none if a part is no word."""
    for joint in _JOINTS:
        parts = [part for part in plain.split(joint) if part]
        if 1 < len(parts) <= _MOST_PARTS and all(part.replace("'", "").isalpha() for part in parts):
            return tuple([word for part in parts for word in expand_word(part)])
    return ()


_FEWEST_HEX, _MOST_HEX, _MOST_PARTS = 7, 40, 4
# Written forms, each with the words that it stands for.
_FORMS = """
    cannot can not; can't can not; won't will not; shan't shall not; ain't is not; let's let us; lets let us
    dont do not; doesnt does not; didnt did not; isnt is not; wasnt was not; arent are not; wont will not
    cant can not; shouldnt should not; wouldnt would not; couldnt could not; hasnt has not; havent have not
    thats that is; im i am; ive i have; u you; ur your; pls please; plz please; thx thanks; tnx thanks
"""
_ENTRIES = (entry.split() for line in _FORMS.split("\n") for entry in line.split(";"))
_SPLIT = {entry[0]: tuple(entry[1:]) for entry in _ENTRIES if entry}
_ENDINGS = {"n't": "not", "'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_IS = frozenset(("it", "that", "this", "there", "here", "what", "he", "she", "who", "where", "how", "which"))


def expand_word(written: str) -> tuple[str, ...]:
    """Return the words that a written word stands for: most often one, `don't` two."""
    word = written.lower()
    if word in _SPLIT:
        return _SPLIT[word]
    if "'" not in word:
        return (word,)
    for ending, meaning in _ENDINGS.items():
        if word.endswith(ending) and len(word) > len(ending):
            return (word[: -len(ending)], meaning)
    base = word.partition("'")[0]
    return (base, "is") if base in _IS else (base,) if base else ()
