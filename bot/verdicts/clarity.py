"""Say whether the author can tell from a review comment what to do, and what is missing.

A comment that names what to change is clear, however short. The others are judged by a logistic regression
over a few counts, learned from review comments that people labelled (docs/detection.md). What is missing is
found by words: what is wrong, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache
from math import exp, log

from bot import regex
from bot.gates.packs import load_rules
from bot.markdown.blocks import SpanKind
from bot.markdown.spans import cover_pieces
from bot.pull_request.model import Item, Stance, Verdict


class MissingPart(StrEnum):
    """A part that a clear comment has."""

    PROBLEM = "what is wrong"
    LOCATION = "where"
    CHANGE = "what to do"


@dataclass(frozen=True, slots=True)
class Clarity:
    """Whether a comment is clear, how much so from 0 to 1, and what would make it clearer."""

    clear: bool
    score: float
    missing: tuple[MissingPart, ...] = ()
    hint: str = ""


MAX_TEXT = 4_000
"""Characters that are read; a longer comment is judged by its beginning."""


def clarity(text: str) -> Clarity:
    """Judge one review comment; a comment without words is unclear."""
    text = text[:MAX_TEXT]
    score = 1 / (
        1 + exp(-sum(weight * count for weight, count in zip(_WEIGHTS, count_features(text), strict=True)))
    )
    if score < _CLEAR_FROM and names_change(text):
        score = _NAMED_CHANGE
    if _SUGGESTION.search(text):  # the change itself, ready to commit
        score = 1.0
    score = round(score, 2) if _WORD.search(text) else 0.0
    if score >= _CLEAR_FROM:
        return Clarity(clear=True, score=score)
    missing = _find_missing(text) or (MissingPart.LOCATION,)  # "the variable" is no name
    return Clarity(clear=False, score=score, missing=missing, hint=write_hint(missing))


def item_clarity(item: Item) -> Clarity:
    """Judge a reported item: its location, tag and suggestion say what its words may leave out."""
    result = _words_clarity("\n".join(filter(None, (item.words, item.action, item.rationale))))
    missing = tuple(part for part in result.missing if part not in _parts_beside_words(item))
    if missing and not item.suggestion:
        return Clarity(clear=False, score=result.score, missing=missing, hint=write_hint(missing))
    return Clarity(clear=True, score=max(result.score, _CLEAR_FROM))


def names_nothing(verdict: Verdict) -> bool:
    """Whether the verdict rejects without any item, and without repeating earlier ones: it is unclear."""
    is_empty = not (verdict.items or verdict.more or verdict.repeats)
    return is_empty and verdict.stance is Stance.REJECTS


def _parts_beside_words(item: Item) -> frozenset[MissingPart]:
    parts = (
        (item.place or item.part, MissingPart.LOCATION),
        # The gate says both; the comment shows its description and its fix.
        (item.tag, MissingPart.PROBLEM),
        (item.tag or item.action, MissingPart.CHANGE),
    )
    return frozenset(part for is_there, part in parts if is_there)


_words_clarity = lru_cache(1024)(clarity)  # the same texts are judged at every turn


_CLEAR_FROM, _NAMED_CHANGE = 0.5, 0.75
# Printed by benchmarks/_train_clarity.py, in the order of `count_features`.
_WEIGHTS = (
    *(-13.105, 0.717, 0.69, 3.34, 0.726, 4.788, 1.731, -0.482, 0.709, 0.377, 0.52, -0.424, 0.599, 2.136),
    *(-1.219, -2.519, 0.892, 1.048),
)
_SUGGESTION = regex.Regex(r"(?m)^\s{0,3}```+suggestion\b")
_WORD = regex.Regex(r"[A-Za-z']+")
_CODE = regex.Regex(r"`[^`]+`|\w+\(|\w\.\w|[a-z][A-Z]|\w_\w|```")
_DIGIT = regex.Regex(r"[0-9]")
_SENTENCE_END = regex.Regex(r"[.!?]\s+|\n")
_QUESTION = r"^\s*(?:\W*\w+\W+)?<question>\b"
_NIT = regex.Regex(r"(?i)^\W*nit")
_FIRST_PERSON = regex.Regex(r"(?i)\b(?:i|i've|i'm|we)\b")
_ANSWER, _DEMAND, _CONDITION, _EDIT = r"\b<answer>\b", r"\b<demand>\b", r"\b<condition>\b", r"\b<edit>\b"
_NOUN = regex.Regex(r"(?i)\b(?:this|the|that|an?|your|its|our|my|these)\s+\w+")
_PROBLEM = r"\b<problem>\b|n't\b"
_LOCATION = r"`[^`]+`|\w+\(|\w\.\w|[a-z]_[a-z]|\b<location>s?\b"
_LOCATION_BY_CASE = regex.Regex(r"[a-z][A-Z]|\b[A-Z]{2,}\b")


@cache
def _worded(pattern: str) -> regex.Regex:
    """Compile a pattern in which `<name>` stands for any of the words of `rules/clarity.yml`."""
    return regex.with_words(pattern, _shipped_words())


@cache
def _shipped_words() -> Mapping[str, Sequence[str]]:
    return {name: words for name, words in load_rules("clarity").items() if isinstance(words, list)}


@cache
def _vague_words() -> frozenset[str]:
    """Return words that name nothing, and verbs that don't say what to do."""
    return frozenset(load_rules("clarity")["vague"].split())


def count_features(text: str) -> tuple[float, ...]:
    """Return what the judgement is made from, in the order of the weights; the first is always 1."""
    words = [str(word) for word in _WORD.findall(text)]
    many = len(words)
    bare = text.strip()
    sentences = sum(1 for part in _SENTENCE_END.split(text) if part.strip())
    asks = bare.endswith("?")
    return (
        1.0,
        log(len(bare) + 1),
        log(many + 1),
        min(many, 10) / 10,
        min(max(many - 10, 0), 20) / 20,
        len({word.lower() for word in words}) / (many + 1),
        sum(map(len, words)) / many / 6 if many else 0.0,
        log(sentences + 1),
        _share(_CODE, text),
        float(_DIGIT.search(text) is not None),
        float(asks),
        float(asks and sentences == 1),
        float(_worded(_QUESTION).match(text) is not None),
        float(_NIT.match(text) is not None),
        _share(_FIRST_PERSON, text),
        _share(_worded(_ANSWER), text),
        _share(_worded(_DEMAND), text),
        _share(_worded(_CONDITION), text),
    )


_MOST = 3


def _share(pattern: regex.Regex, text: str) -> float:
    """Return how often a pattern is there, up to three times, as a share of three."""
    return min(len(pattern.findall(text)), _MOST) / _MOST


_SENTENCE = regex.Regex(r"(?:[^.!?;\n]|[.!?;]+[^\s.!?;])+[.!?;]*")
_NAME = regex.Regex(r"`[^`]+`|^\"|\w\(|\w\.\w|[a-z][A-Z]|\w_\w|\w/\w|^[A-Z]{2,}$")
_TOKEN = regex.Regex(r"`[^`\n]+`|\"[^\"\n]+\"|[A-Za-z_][\w'.()/-]*[\w')]|\w")
_OPENING = (
    r"^\W*(?:(?:nit|nitpick|minor|style|suggestion|optional|typo|todo)\w*\W*)?(?:(?:please|also|and|then|just|so"
    r"|maybe|perhaps|probably|kindly|instead|simply|again|here|rather)[\s,]+)*"
)
_REQUEST = rf"{_OPENING}<asked>\b"
_IMPERATIVE = rf"{_OPENING}(?:(?:<asked>|<softened>)\s+(?:<adverb>\s+)*)?<imperative>(?:ing)?\s"
_DUTY = regex.Regex(r"\b(?:has to|have to|needs? to|must|ought to)\b", ignore_case=True)
_ADVICE, _DEFECT = r"\b<advice>\b", r"\b<defect>\b"
_ANSWERED = r"^\W*<answered>\b|\b<settled>\b"


def names_change(text: str) -> bool:
    """Say whether a sentence names the change that it demands, or a defect that says what to do."""
    return any(_names_it(str(sentence[0]).strip()) for sentence in _SENTENCE.finditer(text))


def _names_it(sentence: str) -> bool:
    is_request = _worded(_REQUEST).match(sentence) is not None
    if _worded(_ANSWERED).search(sentence) or (sentence.endswith("?") and not is_request):
        return False
    tokens = [str(token) for token in _TOKEN.findall(sentence)]
    named = sum(
        2 if _NAME.search(token) else len(token) > 2 and token.lower() not in _vague_words()
        for token in tokens
    )
    if named < _FEW_NAMED:
        return False
    is_imperative = _worded(_IMPERATIVE).match(sentence) is not None
    if is_request and is_imperative:
        return True
    if sentence.endswith("?"):
        return False
    if named >= _MANY_NAMED and (is_imperative or _worded(_ADVICE).search(sentence)):
        return True
    has_defect = _worded(_DEFECT).search(sentence) and named >= _MANY_NAMED + ("`" not in sentence)
    return bool(has_defect or _DUTY.search(sentence))


_FEW_NAMED, _MANY_NAMED = 3, 4  # words that name something; code and quoted words count as two


def _find_missing(text: str) -> tuple[MissingPart, ...]:
    has_location = _worded(_LOCATION).search(text) or _LOCATION_BY_CASE.search(text)
    has_fence = any(kind is SpanKind.FENCE for kind, _, _ in cover_pieces(text))
    verbs = _NOUN.sub("", text)
    is_asked = text.strip().endswith("?") and not _worded(_REQUEST).match(text)
    has_change = has_fence or (_worded(_EDIT).search(verbs) and not is_asked)
    parts = (
        (_worded(_PROBLEM).search(text), MissingPart.PROBLEM),
        (has_location, MissingPart.LOCATION),
        (has_change, MissingPart.CHANGE),
    )
    return tuple(part for is_there, part in parts if not is_there)


_HINTS = {
    MissingPart.PROBLEM: "say what is wrong",
    MissingPart.LOCATION: "name the file, line or name that it is about",
    MissingPart.CHANGE: "say what to do instead",
}


def write_hint(missing: Iterable[MissingPart]) -> str:
    """Return one sentence that says what to add, each part once."""
    parts = frozenset(missing)
    *first, last = (hint for part, hint in _HINTS.items() if part in parts)
    sentence = f"{', '.join(first)} and {last}" if first else last
    return f"{sentence[0].upper()}{sentence[1:]}."
