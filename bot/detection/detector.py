"""Detect which type of feedback a text is, how confidently, and by which words."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt

from bot import regex
from bot.detection.context import find_doubt
from bot.detection.evidence import (
    CueMatch,
    Evidence,
    gather_evidence,
    name_facts,
    name_words,
    write_out_names,
)
from bot.detection.rules import (
    MAX_CONFIDENCE,
    SHOWN,
    UNIT,
    CueMeaning,
    DetectionRules,
    FeedbackType,
    unpack_weights,
)
from bot.detection.words import blank_struck_out
from bot.gates.model import phrase_spans
from bot.markdown.blocks import SpanKind
from bot.markdown.spans import mask_hidden

OWN_CUE_CONFIDENCE = 0.5
SECOND_CUE_BONUS = 0.1
"""For a repository's own cue with a second thing that speaks for the same type."""
FACT_CONFIDENCE = 0.5
"""For the source document's own pattern that is stated as a fact and is all that a comment says."""
BIAS_NAME, BIAS_SCALE = "#bias", 2.0
WORD_SCALE, FEWEST_WORDS, FACT_SCALE = 3.0, 6, 0.5
"""How much a word counts beside facts: less in a longer sentence, and beside more sentences."""

NONE_LENIENCE, LEAD, FORMAL_LEAD = 0.2, 1.45, 1.05
"""What none is given in advance, and how many times as probable as none a type has to be where only the words
decide, and beside a formal state: a false alarm costs more trust than a failure that stays unsaid."""
SHORT_STATEMENT, LIKELY = 14, 0.65
"""A failed check that is stated here and now is shown: in at most how many words, and how probable."""
TEMPERATURE = 2.0
"""Divides all scores, so that probabilities close to 1 still differ; it changes no decision."""

_TYPES, _NONE = tuple(FeedbackType), len(FeedbackType)
_MOST_WORDS, _MOST_CUES, _LONGEST, _MOST_MENTIONS = 5, 6, 80, 20
_NOT_SAID = tuple(kind for kind in SpanKind if kind is not SpanKind.TEXT)
_CHECKS = frozenset(("tests_fail", "ci_fails", "build_fails", "lint_fails"))
_FACT_CUE = "stated_failure"
_BARE_CUES = frozenset(("document_runtime_1", "document_runtime_3"))
_FACT_CUES = _BARE_CUES | {_FACT_CUE, "document_runtime_2", "something_fails"}


@dataclass(frozen=True, slots=True)
class Detection:
    """How a text was classified; without a type it is not a failure, or undecided."""

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


def detect(text: str, rules: DetectionRules, formal_state: str | None = None) -> Detection:
    """Say which type of feedback the text is; a review's formal state outranks its prose."""
    evidence = gather_evidence(text, rules)
    own, own_words = _own_cue(text, rules)
    is_formal = (formal_state or "").lower() in ("changes_requested", "approved")
    prose, probabilities = classify(evidence, rules, FORMAL_LEAD if is_formal else LEAD)
    found = _formal(formal_state, own or prose)
    if found is None:
        return Detection(None)
    cued = evidence.cued(found)
    signals = _find_signals(found, evidence, rules)
    words = _deciding_words(found, cued, evidence, rules)
    confidence = rules.model.calibrate(found, compute_confidence(found, probabilities, evidence, rules))
    if found is prose and _is_stated_fact(evidence):
        confidence = max(confidence, FACT_CONFIDENCE)
    is_failed_check = found is prose is FeedbackType.VERIFICATION_FAILURE
    if is_failed_check and cued and max(probabilities) >= LIKELY and _is_here_and_now(evidence, rules):
        confidence = max(confidence, SHOWN)
    signals = (*signals, *[*dict.fromkeys(f"{match.name}: {match.words}" for match in cued)][:_MOST_CUES])
    if own is found:
        second = SECOND_CUE_BONUS if cued or evidence.pasted(found) else 0.0
        confidence = max(confidence, OWN_CUE_CONFIDENCE + second)
        signals, words = (*signals, f"own cue: {own_words}"), _distinct([own_words, *words])
    elif not cued and words:
        signals = (*signals, f"words: {', '.join(words)}")
    by_words = round(min(MAX_CONFIDENCE, confidence), 2)
    sure = MAX_CONFIDENCE if is_formal else by_words
    actions = tuple([action.name for action in rules.actions.get(found, ())])
    return Detection(found, sure, signals, actions, words, sure >= rules.threshold, by_words)


def scale_of_words(words: int, sentences: int) -> float:
    """Return how much each word counts: less in a longer sentence, and beside more sentences."""
    return WORD_SCALE / sqrt(max(FEWEST_WORDS, words) * max(1, sentences))


def score(evidence: Evidence, rules: DetectionRules) -> list[float]:
    """Return the probability of each type in their order, and of none."""
    model, sentences = rules.model, evidence.sentences
    biases, facts = model.total((BIAS_NAME,)), model.total(name_facts(evidence, rules))
    pairs = zip(biases, facts, strict=True)
    totals = [BIAS_SCALE * (bias / UNIT) + FACT_SCALE * (fact / UNIT) for bias, fact in pairs]
    for sentence in sentences:
        names = {*name_words(sentence, rules.kind_of)}
        scale = scale_of_words(len(names), len(sentences))
        sums = zip(totals, model.total(names), strict=True)
        totals = [total + scale * (words / UNIT) for total, words in sums]
    totals[_NONE] += NONE_LENIENCE
    highest = max(totals)
    powers = [exp((total - highest) / TEMPERATURE) for total in totals]
    together = sum(powers)
    return [power / together for power in powers]


def classify(
    evidence: Evidence, rules: DetectionRules, lead: float = LEAD
) -> tuple[FeedbackType | None, list[float]]:
    """Return the most probable type, None if it is hardly ahead of none, and all probabilities."""
    probabilities = score(evidence, rules)
    if _is_stated_fact(evidence):
        return FeedbackType.RUNTIME_ERROR, probabilities
    best = probabilities.index(max(probabilities))
    is_ahead = best != _NONE and probabilities[best] >= lead * probabilities[_NONE]
    if not is_ahead or not _says_anything(evidence):
        return None, probabilities
    found = _TYPES[best]
    if found is FeedbackType.RUNTIME_ERROR and _a_check_failed(evidence):
        found = FeedbackType.VERIFICATION_FAILURE  # an error in a failed check is part of that
    return found, probabilities


def _a_check_failed(evidence: Evidence) -> bool:
    return any(match.name in _CHECKS and not match.note for match in evidence.matches)


def _says_anything(evidence: Evidence) -> bool:
    """Say whether there is more than a greeting, a name or a single word that no cue decides by."""
    if evidence.shown or any(match.name not in _BARE_CUES for match in evidence.matches):
        return True
    return sum(word[0].isalpha() for sentence in evidence.sentences for word in sentence.words) > 1


def _is_stated_fact(evidence: Evidence) -> bool:
    """Say whether a pattern of the source document, stated as a present fact, is all the evidence."""
    names = {match.name for match in evidence.matches}
    stated = any(match.name == _FACT_CUE and not match.note for match in evidence.matches)
    return stated and len(evidence.sentences) == 1 and names <= _FACT_CUES


def _is_here_and_now(evidence: Evidence, rules: DetectionRules) -> bool:
    """Say whether a comment is short, and has no word for what is past, conditional or of another change."""
    words = [word for sentence in evidence.sentences for word in sentence.words]
    kinds = map(rules.kind_of.get, words)
    return len(words) <= SHORT_STATEMENT and rules.elsewhere.isdisjoint((*words, *kinds))


_EXIT, _REDO, _CHANGE = "exit code mentioned", "request to redo", "specific adjustment requested"
_BOOSTS = {
    FeedbackType.RUNTIME_ERROR: (0.3, "a stack trace or an error message"),
    FeedbackType.VERIFICATION_FAILURE: (0.2, "specific test name"),
    FeedbackType.USER_REJECTION: (0.2, _REDO),
    FeedbackType.PARTIAL_SUCCESS: (0.1, _CHANGE),
}


def compute_confidence(
    found: FeedbackType, probabilities: list[float], evidence: Evidence, rules: DetectionRules
) -> float:
    """Return the probability of a type, and what the source document adds for signals, before calibration."""
    probability = probabilities[_TYPES.index(found)]
    if found is FeedbackType.VERIFICATION_FAILURE and _a_check_failed(evidence):
        probability += probabilities[_TYPES.index(FeedbackType.RUNTIME_ERROR)]
    boost, signal = _BOOSTS[found]
    signals = _find_signals(found, evidence, rules)
    is_there = {*signals} - {_EXIT} if found is FeedbackType.RUNTIME_ERROR else signal in signals
    return probability + boost if is_there else probability


def _formal(state: str | None, prose: FeedbackType | None) -> FeedbackType | None:
    """Let the review's state decide whether it is a failure, and the prose, where it agrees, which one."""
    match (state or "").lower():
        case "changes_requested":
            failures = (FeedbackType.RUNTIME_ERROR, FeedbackType.VERIFICATION_FAILURE)
            return prose if prose in failures else FeedbackType.USER_REJECTION
        case "approved":
            return FeedbackType.PARTIAL_SUCCESS if prose is not None else None
        case _:
            return prose


def _own_cue(text: str, rules: DetectionRules) -> tuple[FeedbackType | None, str]:
    """Return the type of the first of the repository's own phrases that the person states, and the words."""
    if not rules.own_cues:
        return None, ""
    visible = blank_struck_out(mask_hidden(text, *_NOT_SAID))
    for cue in rules.own_cues:
        for start, end in phrase_spans((cue.phrase,), visible)[:_MOST_MENTIONS]:
            if not find_doubt(visible, start, end, rules):
                return cue.type, " ".join(visible[start:end].split())
    return None, ""


def _deciding_words(
    found: FeedbackType, cued: list[CueMatch], evidence: Evidence, rules: DetectionRules
) -> tuple[str, ...]:
    """Return the words that decided: those of the cues, then what was pasted, or else single words."""
    words = [match.words for match in sorted(cued, key=lambda match: match.start - match.end)]
    words += [" ".join(shown.text.split())[:_LONGEST] for shown in evidence.pasted(found)]
    if not words:
        column, get, kind_of = _TYPES.index(found), rules.model.weights.get, rules.kind_of
        written: dict[str, str] = {}
        for one in evidence.sentences:
            written.update(zip(name_words(one, kind_of), write_out_names(one, kind_of), strict=True))
        named = ((unpack_weights(row), text) for name, text in written.items() if (row := get(name)))
        rows = [(row[_NONE] - row[column], text.strip()) for row, text in named]
        words = [text for margin, text in sorted(rows)[: 2 * _MOST_WORDS] if text and margin < 0]
    return _distinct(words)


def _distinct(words: list[str]) -> tuple[str, ...]:
    """Leave out words that are part of others, and all but the first few."""
    kept: list[str] = []
    for one in words:
        if any(f" {one} " in f" {other} " for other in kept):
            continue
        kept = [other for other in kept if f" {other} " not in f" {one} "]
        kept.append(one)
    return tuple(kept[:_MOST_WORDS])


_REDO_WORDS = regex.Regex(
    r"\b(?:try again|start over|from scratch|redo|re do|rewrite|rework|do (?:it|this) again|revert)\b"
)
_INTENT_WORDS = regex.Regex(
    r"\b(?:i meant|i mean|what i (?:want|need|asked)|i would (?:rather|prefer)|instead"
    r"|should (?:be|rather)|the (?:goal|point|idea|intention) (?:is|was))\b"
)
_REACH = 3  # words that a negation reaches forward


def _says(evidence: Evidence, pattern: regex.Regex, negations: frozenset[str] = frozenset()) -> bool:
    """Search the writer's own words; a negation right before takes a match away."""
    for sentence in evidence.sentences:
        said = " ".join(sentence.words)
        for match in pattern.finditer(said):
            if negations.isdisjoint(said[: match.start()].split()[-_REACH:]):
                return True
    return False


def _find_signals(found: FeedbackType, evidence: Evidence, rules: DetectionRules) -> tuple[str, ...]:
    """Return the source document's signals for a type, as far as the text has them."""
    if found is FeedbackType.USER_REJECTION:
        listed = {
            "negative sentiment": bool(evidence.cued(found)),
            _REDO: _says(evidence, _REDO_WORDS, rules.negations),
            "clarification of intent": _says(evidence, _INTENT_WORDS),
        }
    elif found is FeedbackType.PARTIAL_SUCCESS:
        says = {match.says for match in evidence.matches if not match.note}
        left = [match for match in evidence.matches if match.name in _SINGLE]
        has_slip = any(match.name == "slips" for match in left)
        listed = {
            "positive-negative combination": CueMeaning.APPROVAL in says,
            _CHANGE: has_slip or CueMeaning.REQUEST in says,
            "single issue mentioned": len({match.sentence for match in left}) == 1,
        }
    else:
        listed = dict.fromkeys((shown.structure.signal for shown in evidence.pasted(found)), True)
    return tuple([name for name, is_there in listed.items() if is_there])


_SINGLE = frozenset(("nit", "one_more", "slips", "almost_there", "missing", "document_partial"))
