"""Find what keeps a feedback document from being actionable, and score its clarity.

The phrases are those of documents 000 (vague, advisory) and 002 (ungrounded). They count as whole words in
any case, whatever emphasis, line break or kind of apostrophe they are written with; in code, quotes and
links they don't.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import re2

from bot import regex
from bot.gates.packs import load_rules
from bot.markdown.blocks import SpanKind
from bot.markdown.scan import quotations
from bot.markdown.spans import mask_hidden


def names_a_thing(text: str) -> bool:
    """Whether the text names something to look for: code, a file, a number, a part of the work."""
    return _has_any(text, _CODE, _any_word("parts", "s?"))


def states_an_effect(text: str) -> bool:
    """Whether the text says what is observed: something fails, lacks, contradicts, or happens when."""
    return _has_any(text, _any_word("faults", r"\w{0,6}"), _any_word("effects"))


def names_a_change(text: str) -> bool:
    """Whether some sentence of the text orders a change to something."""
    return _has_any(text, _any_verb(rf"{_CLAUSE}{_LEAD}", r"\b[:*_]*\s+\S"), _DEMAND)


def is_imperative(text: str) -> bool:
    """Whether the text begins with a verb that tells what to do."""
    return _any_verb(_LEAD, r"\b", _ANSWERING_VERBS).match(regex.encodable(text)) is not None


def states_an_outcome(text: str) -> bool:
    """Whether the text states the expected improvement."""
    return _has_any(text, _any_word("outcomes"))


def _has_any(text: str, *patterns: Any) -> bool:
    plain = regex.encodable(text).replace("’", "'")
    return any(pattern.search(plain) is not None for pattern in patterns)


@cache
def _shipped_wording() -> Mapping[str, Any]:
    """Return the words and phrases of `rules/wording.yml`."""
    return dict(load_rules("wording"))


def _either(name: str) -> str:
    return "|".join(_shipped_wording()[name].split(", ")).replace(" ", r"\s+")


@cache
def _any_word(name: str, ending: str = "") -> Any:
    """Compile a pattern for any of the words of a list, whole."""
    return re2.compile(rf"(?i)\b(?:{_either(name)}){ending}\b")


@cache
def _any_verb(before: str, behind: str, more: str = "") -> Any:
    """Compile a pattern for any of the verbs between two others."""
    return re2.compile(rf"(?i){before}(?:{_either('verbs')}{more}){behind}")


_CODE = re2.compile(
    r"`[^`]+`|\w\(|\w/\w|\w::\w|\w->\w|\[\[|--\w|\w\.[a-zA-Z]|[a-zA-Z]_[a-zA-Z0-9]|[a-z][A-Z]|[0-9]"
    r"|\b[A-Z][A-Z0-9]+\b|(?:^|\s)[\"“«‘']\w"
)
_ANSWERING_VERBS = "|agree|argue|ask|claim|leave|look|say|search|sign|tell"
_CLAUSE = r"(?:^|[.!?;:,(\n–—]|\b(?:and|or|then|please)\s)[\s*_>#0-9.)•-]*"
_LEAD = r"(?:(?:please|only|always|never|also|then|first|next|instead|just|do\s+not|don't|either)[,\s]+){0,3}"
_DEMAND = re2.compile(r"(?i)\b(?:must|needs?\s+to|has\s+to|have\s+to)\s+\w+\s+\S|\S\s=\s\S|(?:→|->)\s*\S")


class Wording(StrEnum):
    """Why a phrase can't be acted on."""

    VAGUE = "vague"
    ADVISORY = "advisory"
    UNGROUNDED = "ungrounded"


@dataclass(frozen=True, slots=True)
class WordingMatch:
    """A forbidden phrase, its position, and what to write instead."""

    kind: Wording
    words: str
    start: int
    end: int
    suggestion: str


def find_wording(text: str, *kinds: Wording) -> tuple[WordingMatch, ...]:
    """Return the forbidden phrases in the writer's own words, by position; of two that overlap, the first."""
    visible = _visible_text(text)
    own = _own_words(visible)
    matches = sorted(
        _find_matches(visible, own, kinds or tuple(Wording)), key=lambda phrase: (phrase.start, -phrase.end)
    )
    separate: list[WordingMatch] = []
    for phrase in matches:
        if not separate or phrase.start >= separate[-1].end:
            separate.append(phrase)
    return tuple(separate)


def _find_matches(visible: str, own: str, kinds: Iterable[Wording]) -> Iterator[WordingMatch]:
    for kind in kinds:
        for match in _pattern(kind).finditer(own):
            start, end = match.span()
            if _stands_alone(visible, start, end):
                words = " ".join(visible[start:end].translate(_EMPHASIS).split())
                yield WordingMatch(kind, words, start, end, _suggestion(kind, match.lastindex or 0))


_GAP = r"[\s*_~]+"
_EMPHASIS = str.maketrans("*_~", "   ")
_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "\u00a0": " ", "\u202f": " ", "\u2009": " "})
_NOT_OWN = tuple(kind for kind in SpanKind if kind not in {SpanKind.TEXT, SpanKind.TASK})
_MARKS = {'"': '"', "“": "”", "„": "“”", "«": "»", "‘": "'", "'": "'"}
_BEFORE_MARK = "([{,;:"
_IN_A_NAME = frozenset("/\\@#$")
_OF_A_NAME = frozenset("<([/\\")


@cache
def _pattern(kind: Wording) -> Any:
    phrases = _shipped_wording()[kind]
    patterns = (phrase["pattern"] if kind is Wording.UNGROUNDED else phrase for phrase in phrases)
    return re2.compile("(?i)" + "|".join(f"({pattern.replace(' ', _GAP)})" for pattern in patterns))


def _suggestion(kind: Wording, group: int) -> str:
    match kind:
        case Wording.VAGUE:
            return "name what is wrong and what happens because of it"
        case Wording.ADVISORY:
            return "say what to change, as an instruction"
        case Wording.UNGROUNDED:
            claim = _shipped_wording()[kind][group - 1]
            mitigation = claim["mitigation"]
            return f"write “{claim['rewrite']}”; {mitigation[0].lower()}{mitigation[1:]}"


def _visible_text(text: str) -> str:
    # Character for character, so that every offset still fits; half of a surrogate pair is no text for RE2.
    encodable = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
    return encodable.translate(_APOSTROPHES)


def _own_words(visible: str) -> str:
    own, done, parts = mask_hidden(visible, *_NOT_OWN), 0, []
    for start, end in quotations(own, _MARKS, _BEFORE_MARK):
        parts += [own[done:start], " " * (end - start)]
        done = end
    return "".join((*parts, own[done:]))


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the words are not part of a word or of a name such as `maybe_none` or `./consider.py`."""
    before = text[max(start - 4, 0) : start].rstrip("_")
    after = text[end : end + 4].lstrip("_")
    if before[-1:].isalnum() or after[:1].isalnum():
        return False
    if before[-1:] in _IN_A_NAME or after[:1] in _OF_A_NAME:
        return False
    goes_on = after[:1] in {".", ":", "-", "="} and (after[1:2].isalnum() or after[:2] == "::")
    return not goes_on and not (before[-1:] in {".", ":", "-"} and before[-2:-1].isalnum())


class ProblemLevel(StrEnum):
    """The weight of a problem: an error is certain, a note is a guess."""

    ERROR = "error"
    NOTE = "note"


class FeedbackField(StrEnum):
    """The part of the feedback that a problem is about."""

    ISSUE = "issue"
    ACTION = "action"
    RATIONALE = "rationale"
    PLACE = "place"
    TEXT = "text"


class QualityRule(StrEnum):
    """The rules that feedback is checked against."""

    TOO_SHORT = "too-short"
    TOO_LONG = "too-long"
    VAGUE = "vague-wording"
    ADVISORY = "advisory-wording"
    UNGROUNDED = "ungrounded-wording"
    NO_PLACE = "no-place"
    NO_PROBLEM = "no-specific-problem"
    NO_EFFECT = "no-observable-effect"
    NO_ACTION = "no-concrete-action"
    NO_OUTCOME = "no-expected-outcome"

    @property
    def level(self) -> ProblemLevel:
        """Rules that go by word lists only give notes; the others give errors."""
        return ProblemLevel.NOTE if self in _HEURISTIC_RULES else ProblemLevel.ERROR


@dataclass(frozen=True, slots=True)
class QualityProblem:
    """One problem of a feedback text, its position, and what to write instead."""

    rule: QualityRule
    field: FeedbackField
    message: str
    suggestion: str
    start: int = 0
    end: int = 0

    @property
    def level(self) -> ProblemLevel:
        """The level of its rule."""
        return self.rule.level


@dataclass(frozen=True, slots=True)
class FeedbackText:
    """The texts of one item, and whether it has a location and blocks."""

    issue: str
    action: str
    rationale: str
    has_place: bool
    blocking: bool = False


LENGTH_LIMITS = {
    FeedbackField.ISSUE: (20, 500),
    FeedbackField.ACTION: (20, 1000),
    FeedbackField.RATIONALE: (20, 500),
}
"""Characters that each text may have (document 000)."""


def find_problems(item: FeedbackText) -> tuple[QualityProblem, ...]:
    """Return everything that keeps one item from being acted on, in the order of its parts."""
    issue = (
        *_length_problems(FeedbackField.ISSUE, item.issue),
        *_wording_problems(FeedbackField.ISSUE, item.issue, Wording.VAGUE),
    )
    action = (
        *_length_problems(FeedbackField.ACTION, item.action),
        *_wording_problems(FeedbackField.ACTION, item.action, Wording.ADVISORY),
    )
    # What is already known to be empty words needs no guess about what else they lack.
    return (
        *(issue or _issue_notes(item.issue)),
        *(() if item.has_place else (_missing_location(item),)),
        *(action or _notes(names_a_change(item.action), QualityRule.NO_ACTION)),
        *_length_problems(FeedbackField.RATIONALE, item.rationale),
        *_wording_problems(FeedbackField.RATIONALE, item.rationale),
        *_notes(_has_outcome(item), QualityRule.NO_OUTCOME),
    )


def ungrounded_problems(text: str) -> tuple[QualityProblem, ...]:
    """Return the phrases that claim something unverified, by position."""
    return tuple(
        _wording_problem(FeedbackField.TEXT, phrase) for phrase in find_wording(text, Wording.UNGROUNDED)
    )


def clarity_score(problems_per_item: Sequence[Sequence[QualityProblem]], *, followed: bool) -> float:
    """Return how clear the feedback was, from 0 to 1; feedback without items scores 0."""
    if not problems_per_item:
        return 0.0
    average = sum(1.0 - 0.25 * len(problems) for problems in problems_per_item) / len(problems_per_item)
    return round(min(1.0, max(0.0, average + (0.1 if followed else 0.0))), 4)


def is_location(kind: str, reference: str) -> bool:
    """Whether a reference says where to look: not `.`, not a word like `everywhere`, a number for a line."""
    location = reference.strip().strip("`'\"").lower()
    if location.rstrip("/") in _NOWHERE | _ANYWHERE:
        return False
    return kind not in {"line", "range"} or any(char.isdigit() for char in location)


_HEURISTIC_RULES = {
    QualityRule.NO_PROBLEM: (
        FeedbackField.ISSUE,
        "the issue names no part of the work",
        "name the function, field, file or section that is wrong",
    ),
    QualityRule.NO_EFFECT: (
        FeedbackField.ISSUE,
        "the issue names no observable effect",
        "say what happens as a result, and when",
    ),
    QualityRule.NO_ACTION: (
        FeedbackField.ACTION,
        "the suggestion names no concrete change",
        "start with a verb and say what to change, as in “Replace X with Y”",
    ),
    QualityRule.NO_OUTCOME: (
        FeedbackField.RATIONALE,
        "the rationale says nothing new",
        "say what will be better once the change is made",
    ),
}
"""The field, the message and the suggestion of each rule that goes by words."""
_NOWHERE = frozenset({"", ".", "*", "-", "?", "n/a", "na", "none", "null", "tbd", "todo", "unknown"})
_ANYWHERE = frozenset(
    {"all", "any", "anywhere", "code", "everywhere", "general", "here", "overall", "somewhere"}
)
_WORDING_RULES = {
    Wording.VAGUE: (QualityRule.VAGUE, "is vague"),
    Wording.ADVISORY: (QualityRule.ADVISORY, "is advice, not an action"),
    Wording.UNGROUNDED: (QualityRule.UNGROUNDED, "states an assumption as a fact"),
}


def _length_problems(field: FeedbackField, text: str) -> Iterator[QualityProblem]:
    low, high = LENGTH_LIMITS[field]
    size = len(text)
    instead = f"write {low} to {high} characters"
    if size < low:
        yield QualityProblem(
            QualityRule.TOO_SHORT, field, f"the {field} has {_characters(size)}", instead, 0, size
        )
    if size > high:
        yield QualityProblem(
            QualityRule.TOO_LONG, field, f"the {field} has {_characters(size)}", instead, high, size
        )


def _characters(number: int) -> str:
    return f"{number} character{'' if number == 1 else 's'}"


def _wording_problems(field: FeedbackField, text: str, *kinds: Wording) -> Iterator[QualityProblem]:
    for phrase in find_wording(text, *kinds, Wording.UNGROUNDED):
        yield _wording_problem(field, phrase)


def _wording_problem(field: FeedbackField, phrase: WordingMatch) -> QualityProblem:
    rule, why = _WORDING_RULES[phrase.kind]
    return QualityProblem(rule, field, f"`{phrase.words}` {why}", phrase.suggestion, phrase.start, phrase.end)


def _missing_location(item: FeedbackText) -> QualityProblem:
    subject = "a blocking issue" if item.blocking else "the issue"
    return QualityProblem(
        QualityRule.NO_PLACE,
        FeedbackField.PLACE,
        f"{subject} has no location",
        "name the file and the line, function or heading",
    )


def _issue_notes(text: str) -> Iterator[QualityProblem]:
    yield from _notes(names_a_thing(text), QualityRule.NO_PROBLEM)
    yield from _notes(states_an_effect(text), QualityRule.NO_EFFECT)


def _has_outcome(item: FeedbackText) -> bool:
    is_repeated = _letters(item.rationale) in {"", _letters(item.action), _letters(item.issue)}
    return not is_repeated or states_an_outcome(item.action)


def _notes(is_there: bool, rule: QualityRule) -> Iterator[QualityProblem]:  # noqa: FBT001
    if not is_there:
        yield QualityProblem(rule, *_HEURISTIC_RULES[rule])


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())
