"""Which type of feedback a text is, how sure that is, and by which words."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.detection.confidence import SURE, confidence
from bot.domain.detection.context import doubt
from bot.domain.detection.evidence import Evidence, Match, gather
from bot.domain.detection.rules import DetectionRules, FeedbackType
from bot.domain.detection.scores import scores
from bot.domain.detection.signals import signals
from bot.domain.detection.words import without_struck_out
from bot.domain.phrases import spans
from bot.domain.prose import Kind, mask

_TYPES = tuple(FeedbackType)
_MOST_WORDS = 5
_LONGEST = 80  # characters of what was pasted
_MOST_MENTIONS = 20
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
    prose_confidence: float = 0.0
    """The confidence by the words alone, whatever the formal state."""


_NOTHING = Detection(None)


def detect(text: str, rules: DetectionRules, formal_state: str | None = None) -> Detection:
    """Say which type of feedback the text is; a review's formal state outranks its prose."""
    evidence = gather(text, rules)
    own, own_words = _own(text, rules)
    found = _formal(formal_state, own or _judged(evidence, rules))
    if found is None:
        return _NOTHING
    cued = evidence.cued(found)
    told = signals(found, cued, evidence, rules.negations)
    words = _deciding(found, cued, evidence, rules)
    if own is found:
        told, words = (*told, f"own cue: {own_words}"), _first_ones([own_words, *words])
    elif not cued and words:
        told = (*told, f"words: {', '.join(words)}")
    by_words = confidence(found, cued, evidence, told, is_own=own is found)
    sure = SURE if _is_formal(formal_state) else by_words
    return Detection(
        found,
        sure,
        told,
        tuple([action.name for action in rules.actions.get(found, ())]),
        words,
        sure >= rules.threshold,
        by_words,
    )


def _judged(evidence: Evidence, rules: DetectionRules) -> FeedbackType | None:
    """Return the type whose score is the highest, or None where that is the score of none."""
    *of_types, none = scores(evidence, rules)
    best = max(of_types)
    if best <= none:
        return None
    found = _TYPES[of_types.index(best)]
    if found is FeedbackType.RUNTIME_ERROR and _a_check_failed(evidence, rules):
        return FeedbackType.VERIFICATION_FAILURE
    return found


def _a_check_failed(evidence: Evidence, rules: DetectionRules) -> bool:
    """Say whether a test, build, lint or check is what failed: then an error in it is part of that."""
    failed = (match for match in evidence.matches if match.name in _CHECKS and match.points > 1)
    return any(
        not rules.verified.isdisjoint(match.sentence.words[match.start : match.end]) for match in failed
    )


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


def _own(text: str, rules: DetectionRules) -> tuple[FeedbackType | None, str]:
    """Return the type of the first of the repository's own phrases that the person states, and the words."""
    if not rules.own_cues:
        return None, ""
    said = without_struck_out(mask(text, *_NOT_SAID))
    for cue in rules.own_cues:
        for start, end in spans((cue.phrase,), said)[:_MOST_MENTIONS]:
            if not doubt(said, start, end, rules):
                return cue.type, " ".join(said[start:end].split())
    return None, ""


def _deciding(
    found: FeedbackType, cued: list[Match], evidence: Evidence, rules: DetectionRules
) -> tuple[str, ...]:
    """Return the words that decided: those of the cues, then what was pasted, then single words."""
    said = [match.words for match in (sorted(cued, key=_less_sure) if len(cued) > 1 else cued)]
    said += [" ".join(shown.text.split())[:_LONGEST] for shown in evidence.pasted(found)]
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
