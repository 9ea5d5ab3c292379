"""Which type of feedback a text is, how sure that is, and by which words."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.detection.confidence import SURE, confidence
from bot.domain.detection.evidence import Evidence, Match, gather
from bot.domain.detection.rules import DetectionRules, FeedbackType, OwnCue
from bot.domain.detection.scores import scores
from bot.domain.detection.signals import signals
from bot.domain.phrases import occur
from bot.domain.prose import Kind, mask

_TYPES = tuple(FeedbackType)
_MOST_WORDS = 5
_CHECKS = frozenset(("tests_fail", "ci_fails", "lint_fails", "build_fails"))
_NOT_SAID = tuple(kind for kind in Kind if kind is not Kind.TEXT)


@dataclass(frozen=True, slots=True)
class Detection:
    """What a text was understood as; without a type it is no failure, or nothing can be told."""

    type: FeedbackType | None
    confidence: float = 0.0
    signals: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    """What the next revision is told, most important first."""
    words: tuple[str, ...] = ()
    """The words that decided."""
    is_shown: bool = False
    """Whether the confidence reaches the repository's threshold."""


_NOTHING = Detection(None)


def detect(text: str, rules: DetectionRules, formal_state: str | None = None) -> Detection:
    """Say which type of feedback the text is; a review's formal state outranks its prose."""
    evidence = gather(text, rules)
    own = _own_type(text, rules.own_cues)
    found = _formal(formal_state, own or _judged(evidence, rules))
    if found is None:
        return _NOTHING
    cued = evidence.cued(found)
    told = signals(found, cued, evidence, text)
    words = _deciding(found, cued, evidence, rules)
    sure = SURE if _is_formal(formal_state) else confidence(found, cued, evidence, told, is_own=own is found)
    return Detection(
        found,
        sure,
        told or ((f"words: {', '.join(words)}",) if words else ()),
        tuple([action.name for action in rules.actions.get(found, ())]),
        words,
        sure >= rules.threshold,
    )


def _judged(evidence: Evidence, rules: DetectionRules) -> FeedbackType | None:
    """Return the type whose score is the highest, or None where that is the score of none."""
    *of_types, none = scores(evidence, rules)
    best = max(of_types)
    if best <= none:
        return None
    found = _TYPES[of_types.index(best)]
    if found is FeedbackType.RUNTIME_ERROR and _a_check_failed(evidence):
        return FeedbackType.VERIFICATION_FAILURE
    return found


def _a_check_failed(evidence: Evidence) -> bool:
    """Say whether a test, build, lint or check is what failed: then an error in it is part of that."""
    return any(match.name in _CHECKS and match.points > 1 for match in evidence.matches)


def _formal(state: str | None, prose: FeedbackType | None) -> FeedbackType | None:
    """Let the review's state decide whether it is a failure, and the prose, where it agrees, which one."""
    if state is None:
        return prose
    match state.lower():
        case "changes_requested":
            failures = (FeedbackType.RUNTIME_ERROR, FeedbackType.VERIFICATION_FAILURE)
            return prose if prose in failures else FeedbackType.USER_REJECTION
        case "approved":
            return FeedbackType.PARTIAL_SUCCESS if prose is not None else None
        case _:
            return prose


def _is_formal(state: str | None) -> bool:
    return state is not None and state.lower() in ("changes_requested", "approved")


def _own_type(text: str, cues: tuple[OwnCue, ...]) -> FeedbackType | None:
    """Return the type of the first of the repository's own phrases that stands in the person's words."""
    if not cues:
        return None
    said = mask(text, *_NOT_SAID)
    return next((cue.type for cue in cues if occur((cue.phrase,), said)), None)


def _deciding(
    found: FeedbackType, cued: list[Match], evidence: Evidence, rules: DetectionRules
) -> tuple[str, ...]:
    """Return the words that decided: those of the cues, then what was pasted, then single words."""
    said = [match.words for match in (sorted(cued, key=_less_sure) if len(cued) > 1 else cued)]
    said += [shown.text.strip() for shown in evidence.pasted(found)]
    if not said:
        said += rules.learnt.telling(evidence.sentences, _TYPES.index(found), _MOST_WORDS)
    return _first_ones(said)


def _first_ones(said: list[str]) -> tuple[str, ...]:
    """Tell words that stand in others with those, at the place of the first; leave out all beyond a few."""
    kept: list[str] = []
    for words in said:
        if any(_has(one, words) for one in kept):
            continue
        within = [one for one in kept if _has(words, one)]
        if within:
            kept[kept.index(within[0])] = words
            kept = [one for one in kept if one not in within]
        else:
            kept.append(words)
            if len(kept) == _MOST_WORDS:
                break
    return tuple(kept)


def _has(words: str, some: str) -> bool:
    return f" {some} " in f" {words} "


def _less_sure(match: Match) -> int:
    return -match.points
