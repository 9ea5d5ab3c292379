"""Say whether the author can tell from a review comment what to do, and what is missing.

A comment that names what to change is clear, however short. The others are judged by a logistic regression
over a few counts, learned from review comments that people labelled (docs/detection.md). What is missing is
found by words: what is wrong, where, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from math import exp, log

from bot import regex
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
_QUESTION = regex.Regex(
    r"(?i)^\s*(?:\W*\w+\W+)?(?:why|what|how|is|are|do|does|did|was|where|which|who|any|should|can|could)\b"
)
_NIT = regex.Regex(r"(?i)^\W*nit")
_FIRST_PERSON = regex.Regex(r"(?i)\b(?:i|i've|i'm|we)\b")
_ANSWER = regex.Regex(
    r"(?i)\b(?:done|fixed|removed|updated|added|changed|good catch|good point|thanks|thank you|oops|sorry"
    r"|agreed|yes|ok|okay|sure|nice|great|lgtm|ditto|same here)\b"
)
_DEMAND = regex.Regex(
    r"(?i)\b(?:should|must|need|needs|needed|have to|has to|want|could|can|please|let's|lets|may|might"
    r"|suggest|recommend|prefer|consider|better|instead)\b"
)
_CONDITION = regex.Regex(r"(?i)\b(?:if|when|unless|whenever|while|where|which|after|before)\b")
_EDIT = regex.Regex(
    r"(?i)\b(?:add|remove|rename|move|drop|delete|replace|split|update|use|put|make|extract|fix|document|mention"
    r"|sort|inline|wrap|handle|avoid|keep|write|convert|declare|set|change|return|call|check|pass|test|revert)\b"
)
_NOUN = regex.Regex(r"(?i)\b(?:this|the|that|an?|your|its|our|my|these)\s+\w+")
_PROBLEM = regex.Regex(
    r"(?i)\b(?:wrong|incorrect|missing|broken|fails?|failing|bug|typo|unused|redundant|duplicat\w+|unnecessary"
    r"|deprecated|confus\w+|mislead\w+|inconsistent|breaks?|because|since|otherwise|so that|instead|not|never"
    r"|no|error|leaks?|unsafe|too|slow|nit)\b|n't\b"
)
_LOCATION = regex.Regex(
    r"(?i)`[^`]+`|\w+\(|\w\.\w|[a-z]_[a-z]|\b(?:line|file|function|method|class|test|variable|parameter|argument"
    r"|field|name|comment|docstring|import|loop|module|section|paragraph|sentence|title|column|table|header)s?\b"
)
_LOCATION_BY_CASE = regex.Regex(r"[a-z][A-Z]|\b[A-Z]{2,}\b")


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
        float(_QUESTION.match(text) is not None),
        float(_NIT.match(text) is not None),
        _share(_FIRST_PERSON, text),
        _share(_ANSWER, text),
        _share(_DEMAND, text),
        _share(_CONDITION, text),
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
_ASKED = (
    r"(?:can|could|would|will) you|(?:can|could) we|let's|lets|let us|please|(?:do|would) you mind|mind"
    r"|do not|don't|never|always"
)
_REQUEST = regex.Regex(rf"{_OPENING}(?:{_ASKED})\b", ignore_case=True)
_IMPERATIVE = regex.Regex(
    rf"{_OPENING}(?:(?:{_ASKED}|(?:you|we) (?:can|could|may|might)|(?:you )?(?:may|might) want to|i would|i'd"
    r"|we'd|better(?: to)?|remember to|make sure to|try to|want to|feel free to)\s+"
    r"(?:(?:please|just|also|rather|maybe|probably|not)\s+)*)?(?:add|annotate|assert|avoid|bump|cache|call|catch"
    r"|change|check|clarify|close|comment|consider|consolidate|convert|correct|cover|create|declare|define|delete"
    r"|describe|document|drop|ensure|escape|exclude|explain|export|expose|extract|fix|format|handle|hide|import"
    r"|include|indent|inline|introduce|keep|leave|limit|link|list|log|make|mark|mention|merge|mock|move|open"
    r"|override|pass|pin|prefer|prefix|print|provide|put|quote|raise|rebase|reduce|refactor|regenerate|remove"
    r"|rename|reorder|replace|return|reuse|revert|reword|run|set|shorten|show|simplify|skip|sort|specify|split"
    r"|squash|stop|store|swap|switch|test|throw|uncomment|update|use|validate|verify|wrap|write)(?:ing)?\s",
    ignore_case=True,
)
_DUTY = regex.Regex(r"\b(?:has to|have to|needs? to|must|ought to)\b", ignore_case=True)
_ADVICE = regex.Regex(
    r"\b(?:should|shall|needs? (?:an?|the)|had better|is supposed to|instead|rather than"
    r"|(?:can|could|may|might)(?: just| simply| also| probably| all)? (?:be|go|use|live|move|become|have))\b",
    ignore_case=True,
)
# Its repair goes without saying.
_DEFECT = regex.Regex(
    r"\b(?:typos?|unused|redundant|duplicated?|unnecessary|superfluous|misspelled|missing|leftover|dead code"
    r"|trailing|deprecated|not (?:needed|used|necessary|required)|never used|no longer (?:needed|used))\b",
    ignore_case=True,
)
_ANSWERED = regex.Regex(
    r"^\W*(?:ah|ok|oh|thanks|done|fixed|i (?:have|'ve|did|was|wasn't|updated|just|added|removed|changed"
    r"|agree))\b|\b(?:should (?:have|help|work)|i wasn't|so i|i removed|i updated"
    r"|should be (?:ok|fine|good|enough|able))\b",
    ignore_case=True,
)
# Words that name nothing, and verbs that don't say what to do.
_VAGUE_WORDS = """
    the that this these those its them they she you your our are was were been being does did done has
    have having had can could may might must shall should will would not never just also too please
    maybe perhaps really very some any all most more again now still yet out into about over off and but
    then than from for with here there fix fixed change changed improve improved look looks work works
    better clean cleaned rewrite redo update updated correct handle handled address addressed make made
    thing things stuff something anything everything somehow nothing code way okay good bad wrong nit
    well right get got what why how when where which who need needs needed want think like see know sure
    lets let's kindly i'd don't doesn't isn't can't shouldn't won't needn't
"""
_VAGUE = frozenset(_VAGUE_WORDS.split())


def names_change(text: str) -> bool:
    """Say whether a sentence names the change that it demands, or a defect that says what to do."""
    return any(_names_it(str(sentence[0]).strip()) for sentence in _SENTENCE.finditer(text))


def _names_it(sentence: str) -> bool:
    is_request = _REQUEST.match(sentence) is not None
    if _ANSWERED.search(sentence) or (sentence.endswith("?") and not is_request):
        return False
    tokens = [str(token) for token in _TOKEN.findall(sentence)]
    named = sum(
        2 if _NAME.search(token) else len(token) > 2 and token.lower() not in _VAGUE for token in tokens
    )
    if named < _FEW_NAMED:
        return False
    is_imperative = _IMPERATIVE.match(sentence) is not None
    if is_request and is_imperative:
        return True
    if sentence.endswith("?"):
        return False
    if named >= _MANY_NAMED and (is_imperative or _ADVICE.search(sentence)):
        return True
    has_defect = _DEFECT.search(sentence) and named >= _MANY_NAMED + ("`" not in sentence)
    return bool(has_defect or _DUTY.search(sentence))


_FEW_NAMED, _MANY_NAMED = 3, 4  # words that name something; code and quoted words count as two


def _find_missing(text: str) -> tuple[MissingPart, ...]:
    has_location = _LOCATION.search(text) or _LOCATION_BY_CASE.search(text)
    has_fence = any(kind is SpanKind.FENCE for kind, _, _ in cover_pieces(text))
    verbs = _NOUN.sub("", text)
    is_asked = text.strip().endswith("?") and not _REQUEST.match(text)
    has_change = has_fence or (_EDIT.search(verbs) and not is_asked)
    parts = (
        (_PROBLEM.search(text), MissingPart.PROBLEM),
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
