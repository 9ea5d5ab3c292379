"""Which of the source document's context signals a text shows."""

from __future__ import annotations

from bot.domain import regex
from bot.domain.detection.evidence import Evidence, Match
from bot.domain.detection.rules import FeedbackType, Says
from bot.domain.detection.words import Sentence

_REDO = regex.Pattern(
    r"\b(?:try again|start over|from scratch|redo|re do|rewrite|rework|do (?:it|this) again|revert)\b"
)
_REDO_PARTS = ("again", "over", "scratch", "redo", "re do", "rewrite", "rework", "revert")
_INTENT = regex.Pattern(
    r"\b(?:i meant|i mean|what i (?:want|need|asked)|i would (?:rather|prefer)|instead"
    r"|should (?:be|rather)|the (?:goal|point|idea|intention) (?:is|was))\b"
)
_INTENT_PARTS = (
    "i mean",
    "what i ",
    "rather",
    "prefer",
    "instead",
    "should ",
    "the goal",
    "the point",
    "the i",
)
_MOST_CUES = 6
_REACH = 3  # how many words a negation reaches forward
_EXIT = "exit code mentioned"
REDO, CHANGE = "request to redo", "specific adjustment requested"


def signals(
    found: FeedbackType, cued: list[Match], evidence: Evidence, negations: frozenset[str]
) -> tuple[str, ...]:
    """Return the signals of this type, then each cue that spoke for it with its words."""
    cues = dict.fromkeys([f"{match.name}: {match.words}" for match in cued])
    return (*_CONTEXT[found](found, cued, evidence, negations), *[*cues][:_MOST_CUES])


def has_error_message(evidence: Evidence) -> bool:
    """Say whether a stack trace or an error message was pasted."""
    return any(shown.structure.signal != _EXIT for shown in evidence.pasted(FeedbackType.RUNTIME_ERROR))


def has_test_name(evidence: Evidence) -> bool:
    """Say whether a specific test is named."""
    named = evidence.pasted(FeedbackType.VERIFICATION_FAILURE)
    return any(shown.structure.name == "test_name" for shown in named)


def _says(
    evidence: Evidence,
    parts: tuple[str, ...],
    pattern: regex.Pattern,
    negations: frozenset[str] = frozenset(),
) -> bool:
    """Search the writer's own words, and only those that have at least one of the parts; most have none."""
    for sentence in evidence.sentences:
        said = " ".join(sentence.words)
        if any(map(said.__contains__, parts)):
            for match in pattern.finditer(said):
                if negations.isdisjoint(said[: match.start()].split()[-_REACH:]):
                    return True
    return False


def _failure(
    found: FeedbackType, _cued: list[Match], evidence: Evidence, _negations: frozenset[str]
) -> tuple[str, ...]:
    return tuple(dict.fromkeys([shown.structure.signal for shown in evidence.pasted(found)]))


def _rejection(
    _found: FeedbackType, cued: list[Match], evidence: Evidence, negations: frozenset[str]
) -> tuple[str, ...]:
    listed = (
        (bool(cued), "negative sentiment"),
        (_says(evidence, _REDO_PARTS, _REDO, negations), REDO),
        (_says(evidence, _INTENT_PARTS, _INTENT), "clarification of intent"),
    )
    return tuple([name for is_there, name in listed if is_there])


def _partial(
    _found: FeedbackType, _cued: list[Match], evidence: Evidence, _negations: frozenset[str]
) -> tuple[str, ...]:
    approves = any(match.says is _APPROVAL for match in evidence.matches)
    changes = any(match.name in _CHANGES for match in evidence.matches)
    remainders = _apart([match for match in evidence.matches if match.name in _SINGLE])
    listed = (
        (approves, "positive-negative combination"),
        (changes, CHANGE),
        (remainders == 1, "single issue mentioned"),
    )
    return tuple([name for is_there, name in listed if is_there])


def _apart(matches: list[Match]) -> int:
    """Count things that were said; words that several cues share are one of them."""
    many = reach = 0
    before: Sentence | None = None
    for match in sorted(matches, key=lambda one: (one.sentence, one.start)):
        many += match.sentence != before or match.start >= reach
        reach = match.end if match.sentence != before else max(reach, match.end)
        before = match.sentence
    return many


_APPROVAL = Says.APPROVAL
_CONTEXT = {
    FeedbackType.RUNTIME_ERROR: _failure,
    FeedbackType.VERIFICATION_FAILURE: _failure,
    FeedbackType.USER_REJECTION: _rejection,
    FeedbackType.PARTIAL_SUCCESS: _partial,
}
_CHANGES = frozenset(("asks_for_change", "slips", "then_merge"))
_SINGLE = frozenset(("nit", "one_more", "slips", "apart_from", "document_partial_2"))
