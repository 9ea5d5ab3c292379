"""Score each feedback type from features, and derive signals and confidence.

Half for a type whose own cue stands in the text, document 004's boosts, a tenth for a second
independent cue, and never more than 0.95, which is what a formal state gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import combinations, pairwise
from math import sqrt

from bot import regex
from bot.detection.evidence import TYPES, CueMatch, Evidence, PastedOutput
from bot.detection.rules import CueMeaning, DetectionRules, FeedbackType, unpack_weights
from bot.detection.words import Sentence, stem
from bot.markdown.blocks import SpanKind

_REDO = regex.Regex(
    r"\b(?:try again|start over|from scratch|redo|re do|rewrite|rework|do (?:it|this) again|revert)\b"
)
_REDO_PARTS = ("again", "over", "scratch", "redo", "re do", "rewrite", "rework", "revert")
_INTENT = regex.Regex(
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


def find_signals(
    found: FeedbackType, cued: list[CueMatch], evidence: Evidence, negations: frozenset[str]
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
    pattern: regex.Regex,
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
    found: FeedbackType, _cued: list[CueMatch], evidence: Evidence, _negations: frozenset[str]
) -> tuple[str, ...]:
    return tuple(dict.fromkeys([shown.structure.signal for shown in evidence.pasted(found)]))


def _rejection(
    _found: FeedbackType, cued: list[CueMatch], evidence: Evidence, negations: frozenset[str]
) -> tuple[str, ...]:
    listed = (
        (bool(cued), "negative sentiment"),
        (_says(evidence, _REDO_PARTS, _REDO, negations), REDO),
        (_says(evidence, _INTENT_PARTS, _INTENT), "clarification of intent"),
    )
    return tuple([name for is_there, name in listed if is_there])


def _partial(
    _found: FeedbackType, _cued: list[CueMatch], evidence: Evidence, _negations: frozenset[str]
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


def _apart(matches: list[CueMatch]) -> int:
    """Count things that were said; words that several cues share are one of them."""
    many = reach = 0
    before: Sentence | None = None
    for match in sorted(matches, key=lambda one: (one.sentence, one.start)):
        many += match.sentence != before or match.start >= reach
        reach = match.end if match.sentence != before else max(reach, match.end)
        before = match.sentence
    return many


_APPROVAL = CueMeaning.APPROVAL
_CONTEXT = {
    FeedbackType.RUNTIME_ERROR: _failure,
    FeedbackType.VERIFICATION_FAILURE: _failure,
    FeedbackType.USER_REJECTION: _rejection,
    FeedbackType.PARTIAL_SUCCESS: _partial,
}
_CHANGES = frozenset(("asks_for_change", "slips", "then_merge"))
_SINGLE = frozenset(("nit", "one_more", "slips", "apart_from", "document_partial_2"))


BASE_CONFIDENCE = 0.5
CONFIDENCE_WITHOUT_CUE = 0.4
"""For a type that single words speak for, and no cue."""
SECOND_CUE_BONUS = 0.1
MAX_CONFIDENCE = 0.95
_MOST = 12
"""How many of the things that were found are compared with each other."""


def compute_confidence(
    found: FeedbackType, cued: list[CueMatch], evidence: Evidence, signals: tuple[str, ...], *, is_own: bool
) -> float:
    """Return how sure the detector is that the text is feedback of this type, between 0 and 0.95."""
    pasted = evidence.pasted(found)
    several = is_own + bool(cued or pasted) + _are_independent(cued, pasted)
    sure = (BASE_CONFIDENCE if several else CONFIDENCE_WITHOUT_CUE) + (
        SECOND_CUE_BONUS if several > 1 else 0.0
    )
    return round(min(MAX_CONFIDENCE, sure + _boost(found, evidence, signals)), 2)


def _are_independent(cued: list[CueMatch], pasted: list[PastedOutput]) -> bool:
    """Say whether two different things were found, each with words or output that the other lacks."""
    return (
        any(_are_apart(one, other) for one, other in combinations(cued[:_MOST], 2))
        or len({shown.structure.name for shown in pasted}) > 1
        or any(_is_apart(match, shown) for match in cued[:_MOST] for shown in pasted)
    )


def _are_apart(one: CueMatch, other: CueMatch) -> bool:
    if one.name == other.name:
        return False
    first, last = sorted((one, other), key=_place)
    return one.sentence is not other.sentence or (first.start < last.start and first.end < last.end)


def _place(match: CueMatch) -> tuple[int, int]:
    return match.start, match.end


def _is_apart(match: CueMatch, shown: PastedOutput) -> bool:
    """Say whether output was not merely said in the same words that the cue was found in."""
    return shown.where is not SpanKind.TEXT or set(match.words.split()).isdisjoint(shown.text.lower().split())


def _boost(found: FeedbackType, evidence: Evidence, signals: tuple[str, ...]) -> float:
    boost, is_there = _BOOSTS[found]
    return boost if is_there(evidence, signals) else 0.0


_BOOSTS: dict[FeedbackType, tuple[float, Callable[[Evidence, tuple[str, ...]], bool]]] = {
    FeedbackType.RUNTIME_ERROR: (0.3, lambda evidence, _: has_error_message(evidence)),
    FeedbackType.VERIFICATION_FAILURE: (0.2, lambda evidence, _: has_test_name(evidence)),
    FeedbackType.USER_REJECTION: (0.2, lambda _, signals: REDO in signals),
    FeedbackType.PARTIAL_SUCCESS: (0.1, lambda _, signals: CHANGE in signals),
}


def fact_features(evidence: Evidence) -> set[str]:
    """Name what was found: cues with what took them away, structures, and how they go together."""
    found: set[str] = set()
    strong = weak = 0
    for name, says, points, note, *_ in evidence.matches:
        found.add(_of_cue(name, note))
        if points >= 2:
            strong |= _BITS[says]
        elif points:
            weak |= _BITS[says]
    if evidence.shown:
        _add_shown(found, evidence)
        for shown in evidence.shown:
            if shown.points >= 2:
                strong |= _BITS[shown.structure.says]
            else:
                weak |= _BITS[shown.structure.says]
    only_asks = bool(evidence.sentences) and all(sentence.asks for sentence in evidence.sentences)
    return found | _together(strong, weak, evidence.is_unrelated, evidence.is_settled, only_asks)


@lru_cache(maxsize=1024)
def _together(strong: int, weak: int, unrelated: bool, settled: bool, only_asks: bool) -> frozenset[str]:  # noqa: FBT001
    """Name how the things that were said go together; there are few ways, and each is worked out once."""
    approves, asks = (
        bool(strong & _BITS[CueMeaning.APPROVAL]),
        bool((strong | weak) & _BITS[CueMeaning.REQUEST]),
    )
    found = {"#bias", f"#approves:{approves}:asks:{asks}"}
    types = [says for says in TYPES if strong & _BITS[says]]
    for says in types:
        found |= {f"#t:{says}", f"#{'approved' if approves else 'alone'}:{says}"}
        found |= {f"#unrelated:{says}"} if unrelated else set()
        found |= {f"#settled:{says}"} if settled else set()
    hints = [says for says in TYPES if weak & _BITS[says] and says not in types]
    found |= {f"#weak:{says}" for says in hints}
    named = ((unrelated, "#unrelated"), (settled, "#settled"), (only_asks, "#only asks"))
    found |= {name for is_so, name in named if is_so}
    if not types:
        found.add("#not strong" if hints else "#nothing")
    return frozenset(found)


def word_features(sentences: Iterable[Sentence], kinds: Mapping[str, str]) -> set[str]:
    """Name the words, their kinds, and two or three of these in a row: for the training.

    `Tests fail` is among others the pair `{tests} {fail}`. `LearnedWeights` finds the same by number.
    """
    found: set[str] = set()
    for said, asks in sentences:
        stems = [stem(word) for word in said]
        row = ["^", *(kinds.get(word) or base for word, base in zip(said, stems, strict=True))]
        found |= {*stems, *row[1:]}
        row.append("?" if asks else "$")
        found |= {f"{one} {two}" for one, two in pairwise(row)}
        found |= {f"{one} {two} {three}" for one, two, three in zip(row, row[1:], row[2:], strict=False)}
    return found


def _add_shown(found: set[str], evidence: Evidence) -> None:
    """A test or build that failed explains the trace that it printed."""
    verified = any(
        shown.points >= 2 and shown.structure.says is CueMeaning.VERIFICATION_FAILURE
        for shown in evidence.shown
    )
    for shown in evidence.shown:
        if verified and shown.structure.says is CueMeaning.RUNTIME_ERROR:
            found.add("#s:of a failed check")
        else:
            found.add(f"#s:{shown.structure.name}{_WHERE.get(shown.where, '')}")


@lru_cache(maxsize=2048)
def _of_cue(name: str, note: str) -> str:
    return f"#c:{name}!{note}" if note else f"#c:{name}"


_BITS = {says: 1 << number for number, says in enumerate(CueMeaning)}
_WHERE = {SpanKind.TEXT: "!said", SpanKind.QUOTE: "!quoted"}


Scores = tuple[float, float, float, float, float]
"""For the four types in their order, and for none."""

NONE_LENIENCE = 0.3
"""What none is given in advance: a false alarm costs more trust than a failure that stays unsaid."""
_VOICE = 0.8  # how much single words count beside cues
_USUAL = 12.0  # known words of a usual sentence; of a longer text each one counts less
_FEWEST = 6


def score_types(evidence: Evidence, rules: DetectionRules) -> Scores:
    """Add up what the weights say of everything that was found."""
    known = rules.learnt.facts.get
    of_facts = unpack_weights(sum(filter(None, map(known, fact_features(evidence)))))
    said, many = rules.learnt.weigh(evidence.sentences)
    of_words = unpack_weights(said)
    loud = word_weight(many) / 100
    return (
        of_facts[0] / 100 + loud * of_words[0],
        of_facts[1] / 100 + loud * of_words[1],
        of_facts[2] / 100 + loud * of_words[2],
        of_facts[3] / 100 + loud * of_words[3],
        of_facts[4] / 100 + loud * of_words[4] + NONE_LENIENCE,
    )


def word_weight(known: int) -> float:
    """Say how much each of so many known words counts."""
    return _VOICE / sqrt(max(_FEWEST, known) / _USUAL)
