"""Which of a reviewer's own words say nothing that can be acted on or checked.

The phrases are those of documents 000 (vague, advisory) and 002 (ungrounded). They count as whole words in
any case, whatever emphasis, line break or kind of apostrophe they are written with; in code, quotes and
links they don't.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import re2

from bot.domain.prose import Kind, mask
from bot.domain.scan import quotations


class Wording(StrEnum):
    """Why a phrase is of no use to whoever has to act on it."""

    VAGUE = "vague"
    ADVISORY = "advisory"
    UNGROUNDED = "ungrounded"


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that should not stand there, where they stand, and what to write instead."""

    kind: Wording
    words: str
    start: int
    end: int
    instead: str


VAGUE = ("could be better", "needs improvement", "consider changing", "might want to", "should probably")
"""Forbidden in an issue (document 000, issue_specificity)."""

ADVISORY = ("think about", "consider", "maybe", "perhaps", "you might")
"""Forbidden in a suggestion (document 000, suggestion_actionability)."""


@dataclass(frozen=True, slots=True)
class Assumption:
    """A claim nobody looked up: how it sounds, what to do about it, and how a checked one reads."""

    said: str
    """As document 002 gives it."""
    heard: str
    """The same as a pattern; a space stands for any gap between words."""
    mitigation: str
    rewrite: str


_CONTENT = "The file contains [X] (Read src/file.ts:42)"

ASSUMPTIONS = (
    Assumption(
        "The file probably contains...",
        "probably (?:also |still |just )?contains?",
        "Always Read before claiming content",
        _CONTENT,
    ),
    Assumption(
        "This should work because...",
        "should (?:also |now |still |just )?work,? because",
        "Run tests to verify behavior",
        "The test passes (npm test output: 'PASS')",
    ),
    Assumption(
        "The error is likely...",
        "errors?(?:'s| is| are| was| were) (?:most |very |quite )?likely",
        "Check actual error messages",
        "The error message is [X] (observed in output)",
    ),
    Assumption(
        "I assume the config has...",
        "(?:i(?:'d|'ll| would| will| just)? assume|i(?:'m| am) assuming) "
        "(?:that )?(?:(?:the|this|that|your|our|its) )?config(?:uration)?s?",
        "Read config files directly",
        # Not `.env`, as the document has it: nobody should be led to quote a secrets file in a review.
        "Config value is [X] (Read config.yml)",
    ),
    Assumption(
        "Based on typical patterns...",
        "based on (?:the )?typical patterns?",
        "Always Read before claiming content",
        _CONTENT,
    ),
)
"""Forbidden as a claim (document 002, forbidden_claim_patterns), with what prevents it."""


def phrases(text: str, *kinds: Wording) -> tuple[Phrase, ...]:
    """The forbidden phrases in the writer's own words, by place; where two overlap, the first."""
    told = _told(text)
    own = _own_words(told)
    found = sorted(_found(told, own, kinds or tuple(Wording)), key=lambda phrase: (phrase.start, -phrase.end))
    kept: list[Phrase] = []
    for phrase in found:
        if not kept or phrase.start >= kept[-1].end:
            kept.append(phrase)
    return tuple(kept)


def _found(told: str, own: str, kinds: Iterable[Wording]) -> Iterator[Phrase]:
    for kind in kinds:
        for match in _pattern(kind).finditer(own):
            start, end = match.span()
            if _stands_alone(told, start, end):
                words = " ".join(told[start:end].translate(_EMPHASIS).split())
                yield Phrase(kind, words, start, end, _instead(kind, match.lastindex or 0))


_GAP = r"[\s*_~]+"
_EMPHASIS = str.maketrans("*_~", "   ")
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})
_NOT_OWN = tuple(kind for kind in Kind if kind not in {Kind.TEXT, Kind.TASK})
_MARKS = {'"': '"', "“": "”", "„": "“”", "«": "»", "‘": "'", "'": "'"}
_BEFORE_MARK = "([{,;:"
_IN_A_NAME = frozenset("/\\@#$")
_OF_A_NAME = frozenset("<([/\\")


@cache
def _pattern(kind: Wording) -> Any:
    match kind:
        case Wording.VAGUE:
            heard: Iterable[str] = VAGUE
        case Wording.ADVISORY:
            heard = ADVISORY
        case Wording.UNGROUNDED:
            heard = (assumption.heard for assumption in ASSUMPTIONS)
    return re2.compile("(?i)" + "|".join(f"({words.replace(' ', _GAP)})" for words in heard))


def _instead(kind: Wording, group: int) -> str:
    match kind:
        case Wording.VAGUE:
            return "name what is wrong and what happens because of it"
        case Wording.ADVISORY:
            return "say what to change, as an order"
        case Wording.UNGROUNDED:
            assumption = ASSUMPTIONS[group - 1]
            return (
                f"write “{assumption.rewrite}”; {assumption.mitigation[0].lower()}{assumption.mitigation[1:]}"
            )


def _told(text: str) -> str:
    # Character for character, so that every offset still fits; half of a surrogate pair is no text for RE2.
    whole = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    return whole.translate(_APOSTROPHES)


def _own_words(told: str) -> str:
    own, done, parts = mask(told, *_NOT_OWN), 0, []
    for start, end in quotations(own, _MARKS, _BEFORE_MARK):
        parts += [own[done:start], " " * (end - start)]
        done = end
    return "".join((*parts, own[done:]))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the words are no part of a longer word or of a name such as `maybe_none` or `./consider.py`."""
    before = text[max(start - 4, 0) : start].rstrip("_")
    after = text[end : end + 4].lstrip("_")
    if before[-1:].isalnum() or after[:1].isalnum():
        return False
    if before[-1:] in _IN_A_NAME or after[:1] in _OF_A_NAME:
        return False
    goes_on = after[:1] in {".", ":", "-", "="} and (after[1:2].isalnum() or after[:2] == "::")
    return not goes_on and not (before[-1:] in {".", ":", "-"} and before[-2:-1].isalnum())
