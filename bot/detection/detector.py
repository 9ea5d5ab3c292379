"""Detect which type of feedback a text is, how confidently, and by which words."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase

from bot.detection.context import find_doubt
from bot.detection.evidence import CueMatch, Evidence, gather_evidence
from bot.detection.rules import DetectionRules, FeedbackType
from bot.detection.scores import MAX_CONFIDENCE, compute_confidence, find_signals, score_types
from bot.detection.words import blank_struck_out
from bot.gates.model import phrase_spans
from bot.markdown.blocks import SpanKind
from bot.markdown.spans import mask_hidden

_TYPES = tuple(FeedbackType)
_MOST_WORDS = 5
_LONGEST = 80  # characters of what was pasted
_MOST_MENTIONS = 20
_CHECKS = frozenset(("tests_fail", "ci_fails", "lint_fails", "build_fails"))
_NOT_SAID = tuple(kind for kind in SpanKind if kind is not SpanKind.TEXT)


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
    evidence = gather_evidence(text, rules)
    own, own_words = _own(text, rules)
    found = _formal(formal_state, own or _highest_type(evidence, rules))
    if found is None:
        return _NOTHING
    cued = evidence.cued(found)
    told = find_signals(found, cued, evidence, rules.negations)
    words = _deciding(found, cued, evidence, rules)
    if own is found:
        told, words = (*told, f"own cue: {own_words}"), _first_ones([own_words, *words])
    elif not cued and words:
        told = (*told, f"words: {', '.join(words)}")
    by_words = compute_confidence(found, cued, evidence, told, is_own=own is found)
    sure = MAX_CONFIDENCE if _is_formal(formal_state) else by_words
    return Detection(
        found,
        sure,
        told,
        tuple([action.name for action in rules.actions.get(found, ())]),
        words,
        sure >= rules.threshold,
        by_words,
    )


def _highest_type(evidence: Evidence, rules: DetectionRules) -> FeedbackType | None:
    """Return the type whose score is the highest, or None where that is the score of none."""
    *of_types, none = score_types(evidence, rules)
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
    said = blank_struck_out(mask_hidden(text, *_NOT_SAID))
    for cue in rules.own_cues:
        for start, end in phrase_spans((cue.phrase,), said)[:_MOST_MENTIONS]:
            if not find_doubt(said, start, end, rules):
                return cue.type, " ".join(said[start:end].split())
    return None, ""


def _deciding(
    found: FeedbackType, cued: list[CueMatch], evidence: Evidence, rules: DetectionRules
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


def _less_sure(match: CueMatch) -> int:
    return -match.points


_LETTERS = frozenset(ascii_lowercase)
_AT_ONCE = 20  # a sentence as long as people's


def _words(phrase: str) -> list[str]:
    return "".join([sign if sign in _LETTERS else " " for sign in phrase]).split()


def warm_up(rules: DetectionRules) -> None:
    """Have what a word leads to, counts as and looks like worked out for every word that phrases name."""
    named = {word for cue in rules.cues for phrase in cue.phrases for word in _words(phrase)}
    listed = {word for words in rules.lists.values() for word in words}
    words = sorted(named | listed)
    for first in range(0, len(words), _AT_ONCE):
        detect(" ".join(words[first : first + _AT_ONCE]), rules)
