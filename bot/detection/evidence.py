"""Find cues and pasted output in a text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from string import ascii_uppercase
from typing import NamedTuple

from bot import regex
from bot.detection.automaton import MAX_REPETITIONS, PhraseMatch
from bot.detection.rules import CueMeaning, DetectionRules, FeedbackType, OutputStructure
from bot.detection.words import Sentence, split_sentences
from bot.markdown.blocks import Piece, SpanKind
from bot.markdown.spans import cover_pieces


def readable_part(text: str) -> str:
    """Leave out the middle of a text that is broken up as no person's words are; its ends are heard."""
    if "\r" in text:  # what ends a line on some systems would count as no break
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    share = max(_FEWEST_BREAKS, len(text) // _PER_BREAK)
    if len(text) <= share or _breaks_at_most(text) <= share or sum(map(text.count, _BREAKS)) <= share:
        return text
    fences = [*_fence_lines(text)]
    outside = [*_outside(text, fences)]
    backwards = [(len(text) - end, len(text) - start) for start, end in reversed(outside)]
    first = _nth(text, outside, share // 2, ahead=1)
    last = _nth(text[::-1], backwards, share // 2, ahead=-1)
    if first is None or last is None or first + last >= len(text):
        return text
    return f"{text[: _beside(first, fences)]}\n\n{text[_beside(len(text) - last, fences) :]}"


def _breaks_at_most(text: str) -> int:
    """Return a number that the breaks of a text do not exceed; faster than counting each kind."""
    read = text.encode("utf-8", "replace")
    signs = len(read) - len(read.translate(None, _BREAKING))
    return signs + text.count("    ") + text.count("www.")


def _nth(text: str, spans: list[tuple[int, int]], number: int, ahead: int) -> int | None:
    """Return where the break of that number begins within the spans, counted from 0.

    `ahead` is 1, or -1 in a text that is read backwards.
    """
    two, four = _OF_TWO[ahead], _OF_FOUR[ahead]
    for start, end in spans:
        at = start
        while at < end:
            if text[at] in _ALONE:
                size = 1
            elif text[at : at + 4] in four and at + 4 <= end:
                size = 4
            elif text[at : at + 2] in two and at + 2 <= end:
                size = 2
            else:
                size = int(text[at] in _BEFORE and _breaks(text, at, at + ahead, end))
            if size and not number:
                return at
            number -= size > 0
            at += size or 1
    return None


def _breaks(text: str, at: int, beside: int, end: int) -> bool:
    """Say whether a sign breaks the text for what stands beside it: a dot in a name does not."""
    if not 0 <= beside < end:
        return False
    return text[beside] in _BEFORE[text[at]] or (text[at] == "." and text[beside].isspace())


def _fence_lines(text: str) -> Iterator[tuple[int, int, bool]]:
    """Return the lines that open or close a fenced block, and whether each one opens it."""
    opened = ""
    for line in _FENCE.finditer(text):
        if not opened:
            opened = line[1]
            yield *line.span(), True
        elif line[1].startswith(opened) and not line[2].strip():
            opened = ""
            yield *line.span(), False


def _outside(text: str, fences: list[tuple[int, int, bool]]) -> Iterator[tuple[int, int]]:
    """Return what is not in a fenced block: what is pasted there is set apart, however many its marks.

    A block that is never closed, or that stands in a list and ends with it, sets nothing apart.
    """
    done = 0
    for (start, end, _), (closing, _, _) in zip(fences[::2], fences[1::2], strict=False):
        if text[start] != " ":
            yield done, end
            done = closing
    yield done, len(text)


def _beside(at: int, fences: list[tuple[int, int, bool]]) -> int:
    """Move a cut out of a fence's line, so that no block is left half: before it opens, or behind its end."""
    near = ((start, end, opens) for start, end, opens in fences if start + opens <= at <= end)
    return next((start if opens else end for start, end, opens in near), at)


_BREAKS = (*"`[<>~\t\n(,!?:;.…。–—", "    ", "www.", "](", "- ", "* ", "+ ")
_BREAKING = b"`[]<>~\t\n(,!?:;.-*+\x80"  # a byte of each break; the last one is in all that are not ASCII
_ALONE = frozenset(one for one in _BREAKS if len(one) == 1 and one != ".")
_OF_TWO = {ahead: frozenset(one[::ahead] for one in ("- ", "* ", "+ ")) for ahead in (1, -1)}
_OF_FOUR = {ahead: frozenset(one[::ahead] for one in ("    ", "www.")) for ahead in (1, -1)}
_BEFORE = {"]": "(", ".": f")]\"'*_{ascii_uppercase}"}
_FENCE = regex.Regex(r"(?m)^ {0,3}(`{3,}|~{3,})([^`\n]*)$")
_PER_BREAK, _FEWEST_BREAKS = 16, 64


FAILURES = (CueMeaning.RUNTIME_ERROR, CueMeaning.VERIFICATION_FAILURE)
TYPES = (*FAILURES, CueMeaning.USER_REJECTION, CueMeaning.PARTIAL_SUCCESS)
# By these names they are found without asking the enum, which is slow for what is asked of every word.
_REJECTION, _PARTIAL, _APPROVAL = CueMeaning.USER_REJECTION, CueMeaning.PARTIAL_SUCCESS, CueMeaning.APPROVAL
_HARMLESS, _SETTLED, _UNRELATED = CueMeaning.HARMLESS, CueMeaning.SETTLED, CueMeaning.UNRELATED
_REAL, _NEUTRAL = CueMeaning.REAL, CueMeaning.NEUTRAL
_QUOTE = SpanKind.QUOTE


class CueMatch(NamedTuple):
    """A cue that was found: what it says, with how many points, why it was taken away, and where."""

    name: str
    says: CueMeaning
    points: int
    note: str
    sentence: Sentence
    start: int
    end: int

    @property
    def words(self) -> str:
        """The words that the cue was found in."""
        return " ".join(self.sentence.words[self.start : self.end])


class PastedOutput(NamedTuple):
    """Pasted output that was found: what it shows, with how many points, and what kind of text it is in."""

    structure: OutputStructure
    points: int
    where: SpanKind
    text: str


class Evidence(NamedTuple):
    """All that was found in one text."""

    sentences: tuple[Sentence, ...]
    matches: tuple[CueMatch, ...]
    shown: tuple[PastedOutput, ...]
    is_unrelated: bool
    is_settled: bool
    """Whether any sentence says that something is over or repaired."""

    def cued(self, found: FeedbackType) -> list[CueMatch]:
        """Return the cues that speak for a type, in the order of the text; of one cue's words the most."""
        says = found.says
        speaking = [match for match in self.matches if match.says is says and match.points]
        return _longest(speaking) if len(speaking) > 1 else speaking

    def pasted(self, found: FeedbackType) -> list[PastedOutput]:
        """Return what was pasted that shows a type; what stands in a quote is somebody else's."""
        if not self.shown:
            return []
        says = found.says
        return [one for one in self.shown if one.structure.says is says and one.where is not _QUOTE]


def _longest(matches: list[CueMatch]) -> list[CueMatch]:
    """Leave out what lies within a longer match of the same cue: it was said once."""
    heard: dict[tuple[str, int], list[CueMatch]] = {}
    for match in sorted(matches, key=_shorter):
        kept = heard.setdefault((match.name, id(match.sentence)), [])
        if not any(one.start <= match.start and match.end <= one.end for one in kept):
            kept.append(match)
    return [match for match in matches if match in heard[match.name, id(match.sentence)]]


def _shorter(match: CueMatch) -> int:
    return match.start - match.end


def gather_evidence(text: str, rules: DetectionRules) -> Evidence:
    """Find every cue and every structure of the rules in the text."""
    text = readable_part(text)
    parts = cover_pieces(text)
    said = split_sentences(text, parts)
    says, find = rules.says, rules.lexicon.find
    heard = [
        (sentence, found, {says[cue] for cue, _, _ in found})
        for sentence in said
        if (found := find(sentence.words))
    ]
    real = any(_REAL in spoken for _, _, spoken in heard)
    repeats = sum([len(found) for _, found, _ in heard]) > MAX_REPETITIONS
    times: dict[int, int] = {}
    matches: list[CueMatch] = []
    unrelated = settled = False
    for sentence, found, spoken in heard:
        if real:
            spoken.discard(_UNRELATED)
        unrelated = unrelated or _UNRELATED in spoken
        settled = settled or (_SETTLED in spoken and _settled(found, rules) == "settled")
        if not spoken <= _ONLY_CONTEXT:
            news = _drop_repetition(found, times, rules) if repeats else found
            matches += _in_context(sentence, news, spoken, rules)
    excused = unrelated and not any(match.points and match.says in FAILURES for match in matches)
    pasted = () if excused else _pasted(text, parts, rules)
    return Evidence(said, tuple(matches), pasted, unrelated, settled)


def _drop_repetition(
    found: list[PhraseMatch], times: dict[int, int], rules: DetectionRules
) -> list[PhraseMatch]:
    """Return what was found without endless repetition in the text, which says no more."""
    kept = []
    for one in found:
        cue = one[0]
        times[cue] = many = times.get(cue, 0) + 1
        if many <= MAX_REPETITIONS or rules.says[cue] in _ONLY_CONTEXT:
            kept.append(one)
    return kept


def _in_context(
    sentence: Sentence, found: list[PhraseMatch], said: set[CueMeaning], rules: DetectionRules
) -> list[CueMatch]:
    words = sentence.words
    covers = _covers(sentence, found, rules) if _HARMLESS in said else ()
    over = "unrelated" if _UNRELATED in said else _settled(found, rules) if _SETTLED in said else ""
    asks = sentence.asks and is_question(sentence, rules)
    remainder = _remainder(sentence, found, rules) if _REJECTION in said else 0
    doubtful = words[0] == "if" or not rules.doubts.isdisjoint(words)
    matches = []
    for cue, start, end in found:
        name, says, points = rules.heard[cue]
        if says in _ONLY_CONTEXT:
            continue
        note = ""
        if says in _OF_TYPE:
            if covers and covers[start] >= end:
                note = "harmless"
            elif doubtful and says is not _PARTIAL:
                note = _doubt(says, start, end, sentence, rules)
            if not note and says in FAILURES:
                note = over or ("question" if asks else "")
            elif not note and says is _REJECTION and start >= remainder:
                note = "remainder"
            if note:
                points = 1 if note == "past" else 0
            elif asks and says is _REJECTION:
                note, points = "question", 1
        matches.append(CueMatch(name, says, points, note, sentence, start, end))
    return matches


def _doubt(says: CueMeaning, start: int, end: int, sentence: Sentence, rules: DetectionRules) -> str:
    """Say whether a match is denied or a mere possibility, by the words before it or its own."""
    words = sentence.words
    failure = says in FAILURES
    if failure and _is_denied_within(words[start:end], rules):
        return "negated"
    if failure and end <= _end_of_condition(sentence):
        return "hypothetical"
    for far, word in enumerate(reversed(words[max(0, start - _REACH) : start]), 1):
        if word in _CLAUSE_ENDS:
            return ""
        if word in rules.negations:
            return "negated"
        if failure and far <= _NEAR and word in rules.hypotheticals:
            return "hypothetical"
    return ""


def _settled(found: list[PhraseMatch], rules: DetectionRules) -> str:
    """Say whether a failure is over, or whether only a time is named that may be that of the failure."""
    strong = any(rules.says[cue] is _SETTLED and rules.cues[cue].strong for cue, _, _ in found)
    return "settled" if strong else "past"


def _covers(sentence: Sentence, found: list[PhraseMatch], rules: DetectionRules) -> list[int]:
    """For each word, up to where a harmless phrase reaches that began there or before."""
    reach = [0] * (len(sentence.words) + 1)
    for cue, start, end in found:
        if rules.says[cue] is _HARMLESS and end > reach[start]:
            reach[start] = end
    return list(accumulate(reach, max))


def _remainder(sentence: Sentence, found: list[PhraseMatch], rules: DetectionRules) -> int:
    """Return where an exception to consent begins: what is not liked there is only what is left to do."""
    consents = [end for cue, _, end in found if rules.says[cue] is _APPROVAL]
    end = len(sentence.words)
    if not consents or _EXCEPTIONS.isdisjoint(sentence.words):
        return end
    first = min(consents)
    return next((at for at in range(first, end) if sentence.words[at] in _EXCEPTIONS), end)


def _is_denied_within(words: tuple[str, ...], rules: DetectionRules) -> bool:
    """Say whether the failure itself is what is denied: `tests do not fail`, unlike `tests do not pass`."""
    return len(words) > 1 and words[-1] in rules.failing and words[-2] in rules.negations


def _end_of_condition(sentence: Sentence) -> int:
    """Return where the clause ends that begins a sentence with `if`; 0 where there is none."""
    is_condition = sentence.words[0] == "if" and "," in sentence.words
    return sentence.words.index(",") if is_condition else 0


_OF_TYPE = frozenset(TYPES)
_ONLY_CONTEXT = frozenset((_HARMLESS, _SETTLED, _UNRELATED, _NEUTRAL))
_CLAUSE_ENDS = frozenset((",", "but"))
_EXCEPTIONS = frozenset(("except", "modulo", "apart", "aside", "besides", "barring"))
_REACH = 3  # how many words a negation reaches forward
_NEAR = 2  # and a mere possibility: in "can reproduce the crash" it is the telling that can be done
_MODALS = frozenset(("can", "could", "would", "will"))
_ASKED = frozenset(("you", "someone", "somebody", "anyone"))
_OPENERS = frozenset(
    (",", "hi", "hello", "hey", "hmm", "hm", "well", "btw", "also", "ah", "oh", "so", "and", "<who>", "but")
)


def is_question(sentence: Sentence, rules: DetectionRules) -> bool:
    """Say whether something is asked; "can you fix it?" is a request and no question."""
    first, second, *_ = (*(word for word in sentence.words if word not in _OPENERS), "", "")
    return first in rules.questions and not (first in _MODALS and second in _ASKED)


def _pasted(text: str, parts: list[Piece], rules: DetectionRules) -> tuple[PastedOutput, ...]:
    places = rules.pasted.find(_readable(text, parts, _NOT_OWN))
    if any(kind is _QUOTE for kind, _, _ in parts):  # somebody else's output, where the writer shows none
        own = {place.number for place in places}
        others = rules.pasted.find(_readable(text, parts, _UNSEEN))
        places = sorted([*places, *(place for place in others if place.number not in own)])
    shown = []
    for number, start, found in places:
        structure = rules.structures[number]
        where = _kind_at(start, parts)
        strong = structure.strong and where in _PASTED
        shown.append(PastedOutput(structure, 2 if strong else 1, where, found))
    return tuple(shown)


def _kind_at(offset: int, parts: list[Piece]) -> SpanKind:
    return next((kind for kind, start, end in parts if start <= offset < end), SpanKind.TEXT)


def _readable(text: str, parts: list[Piece], hidden: frozenset[SpanKind]) -> str:
    """Blank some kinds of text, as addresses and what is not shown."""
    if hidden.isdisjoint([kind for kind, _, _ in parts]):
        return text
    return "".join([" " * (end - start) if kind in hidden else text[start:end] for kind, start, end in parts])


_PASTED = frozenset((SpanKind.CODE, SpanKind.FENCE))
_UNSEEN = frozenset((SpanKind.URL, SpanKind.LINK, SpanKind.COMMENT, SpanKind.IMAGE))
_NOT_OWN = _UNSEEN | {_QUOTE}
