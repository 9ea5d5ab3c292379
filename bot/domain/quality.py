"""What keeps feedback from being acted on, and how clear it was (document 000's validation rules)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.specificity import names_a_thing, orders_a_change, says_an_effect, says_an_outcome
from bot.domain.wording import Phrase, Wording, phrases


class Level(StrEnum):
    """How much a finding weighs: an error is broken, a note is a guess."""

    ERROR = "error"
    NOTE = "note"


class Field(StrEnum):
    """The part of the feedback that a finding is about."""

    ISSUE = "issue"
    ACTION = "action"
    RATIONALE = "rationale"
    PLACE = "place"
    TEXT = "text"


class Rule(StrEnum):
    """Everything that is looked for."""

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
    def level(self) -> Level:
        """Judgement by word lists only makes notes; the rest is an error."""
        return Level.NOTE if self in _GUESSES else Level.ERROR


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with feedback, where in its text, and what to write instead."""

    rule: Rule
    field: Field
    message: str
    instead: str
    start: int = 0
    end: int = 0

    @property
    def level(self) -> Level:
        """How much it weighs."""
        return self.rule.level


@dataclass(frozen=True, slots=True)
class FeedbackText:
    """The words of one item, and whether it names a place and blocks."""

    issue: str
    action: str
    rationale: str
    has_place: bool
    blocking: bool = False


LENGTHS = {Field.ISSUE: (20, 500), Field.ACTION: (20, 1000), Field.RATIONALE: (20, 500)}
"""Characters that each text may have (document 000)."""


def findings(item: FeedbackText) -> tuple[Finding, ...]:
    """Everything that keeps one item from being acted on, in the order of its parts."""
    issue = *_lengths(Field.ISSUE, item.issue), *_wording(Field.ISSUE, item.issue, Wording.VAGUE)
    action = *_lengths(Field.ACTION, item.action), *_wording(Field.ACTION, item.action, Wording.ADVISORY)
    # What is already known to be empty words needs no guess about what else they lack.
    return (
        *(issue or _guessed_of_issue(item.issue)),
        *(() if item.has_place else (_no_place(item),)),
        *(action or _guessed_of_action(item.action)),
        *_lengths(Field.RATIONALE, item.rationale),
        *_wording(Field.RATIONALE, item.rationale),
        *_guessed_of_outcome(item),
    )


def wording(text: str) -> tuple[Finding, ...]:
    """The vague, advisory and ungrounded phrases of a review's prose, by place."""
    return tuple(_worded(Field.TEXT, phrase) for phrase in phrases(text))


def ungrounded(text: str) -> tuple[Finding, ...]:
    """The phrases that claim what nobody looked up, by place."""
    return tuple(_worded(Field.TEXT, phrase) for phrase in phrases(text, Wording.UNGROUNDED))


def clarity(findings_per_item: Sequence[Sequence[Finding]], *, followed: bool) -> float:
    """How clear the feedback was, 0 to 1; feedback without a single item is not clear at all."""
    if not findings_per_item:
        return 0.0
    average = sum(1.0 - 0.25 * len(found) for found in findings_per_item) / len(findings_per_item)
    return round(min(1.0, max(0.0, average + (0.1 if followed else 0.0))), 4)


def blocks(item: FeedbackText, *, strict: bool) -> bool:
    """Whether the item can keep a pull request rejected: in strict mode only where it names a place."""
    return item.blocking and (item.has_place or not strict)


def is_place(kind: str, reference: str) -> bool:
    """Whether a location says where to look: not `.`, not a word like `everywhere`, a number for a line."""
    place = reference.strip().strip("`'\"").lower()
    if place.rstrip("/") in _NOWHERE | _ANYWHERE:
        return False
    return kind not in {"line", "range"} or any(char.isdigit() for char in place)


def hint(found: Sequence[Finding], most: int = 3) -> str:
    """One line for the writer: what was found and what to write instead, each once; or nothing."""
    lines = list(dict.fromkeys(f"{finding.message}: {finding.instead}" for finding in found))
    rest = f"; and {len(lines) - most} more" if len(lines) > most else ""
    return "; ".join(lines[:most]) + rest


_GUESSES = frozenset({Rule.NO_PROBLEM, Rule.NO_EFFECT, Rule.NO_ACTION, Rule.NO_OUTCOME})
_NOWHERE = frozenset({"", ".", "*", "-", "?", "n/a", "na", "none", "null", "tbd", "todo", "unknown"})
_ANYWHERE = frozenset(
    {"all", "any", "anywhere", "code", "everywhere", "general", "here", "overall", "somewhere"}
)
_WORDED = {
    Wording.VAGUE: (Rule.VAGUE, "is vague"),
    Wording.ADVISORY: (Rule.ADVISORY, "is advice, not an action"),
    Wording.UNGROUNDED: (Rule.UNGROUNDED, "claims what nobody looked up"),
}


def _lengths(field: Field, text: str) -> Iterator[Finding]:
    low, high = LENGTHS[field]
    size = len(text)
    instead = f"write {low} to {high} characters"
    if size < low:
        yield Finding(Rule.TOO_SHORT, field, f"the {field} has {_characters(size)}", instead, 0, size)
    if size > high:
        yield Finding(Rule.TOO_LONG, field, f"the {field} has {_characters(size)}", instead, high, size)


def _characters(number: int) -> str:
    return f"{number} character{'' if number == 1 else 's'}"


def _wording(field: Field, text: str, *kinds: Wording) -> Iterator[Finding]:
    for phrase in phrases(text, *kinds, Wording.UNGROUNDED):
        yield _worded(field, phrase)


def _worded(field: Field, phrase: Phrase) -> Finding:
    rule, why = _WORDED[phrase.kind]
    return Finding(rule, field, f"`{phrase.words}` {why}", phrase.instead, phrase.start, phrase.end)


def _no_place(item: FeedbackText) -> Finding:
    which = "a blocking issue" if item.blocking else "the issue"
    return Finding(
        Rule.NO_PLACE, Field.PLACE, f"{which} has no place", "name the file and the line, function or heading"
    )


def _guessed_of_issue(text: str) -> Iterator[Finding]:
    if not names_a_thing(text):
        yield Finding(
            Rule.NO_PROBLEM,
            Field.ISSUE,
            "the issue names no part of the work",
            "name the function, field, file or section that is wrong",
        )
    if not says_an_effect(text):
        yield Finding(
            Rule.NO_EFFECT,
            Field.ISSUE,
            "the issue says no observable effect",
            "say what happens as a result, and when",
        )


def _guessed_of_action(text: str) -> Iterator[Finding]:
    if not orders_a_change(text):
        yield Finding(
            Rule.NO_ACTION,
            Field.ACTION,
            "the suggestion orders no concrete change",
            "start with a verb and say what to change, as in “Replace X with Y”",
        )


def _guessed_of_outcome(item: FeedbackText) -> Iterator[Finding]:
    repeated = _bare(item.rationale) in {"", _bare(item.action), _bare(item.issue)}
    if repeated and not says_an_outcome(item.action):
        yield Finding(
            Rule.NO_OUTCOME,
            Field.RATIONALE,
            "the rationale says nothing new",
            "say what will be better once the change is made",
        )


def _bare(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())
