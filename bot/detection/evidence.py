"""Find cues and pasted output in a text, and name them as features."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import NamedTuple

from bot.detection.phrases import PhraseMatch
from bot.detection.rules import CueMeaning, DetectionRules, FeedbackType, OutputStructure
from bot.detection.words import Sentence, split_sentences, stem
from bot.markdown.blocks import Piece, SpanKind
from bot.markdown.spans import cover_pieces

MAX_TEXT = 20_000
"""Characters that are read: of a longer text the middle is left out."""
MAX_SENTENCES = 80

FAILURES = frozenset((CueMeaning.RUNTIME_ERROR, CueMeaning.VERIFICATION_FAILURE))
_TYPES = FAILURES | {CueMeaning.USER_REJECTION, CueMeaning.PARTIAL_SUCCESS}
_REACH, _NEAR = 3, 2  # words that a negation and a mere possibility reach forward
_CLAUSE_ENDS = frozenset((",", ":", "but"))
_MODALS = frozenset(("can", "could", "would", "will"))
_ASKED = frozenset(("you", "someone", "somebody", "anyone"))
_OPENERS = frozenset(
    (",", "hi", "hello", "hey", "hmm", "hm", "well", "btw", "also", "ah", "oh", "so", "and", "<who>", "but")
)


class CueMatch(NamedTuple):
    """A cue that was found: what it says, why it was taken away, and where."""

    name: str
    says: CueMeaning
    note: str
    sentence: Sentence
    start: int
    end: int

    @property
    def words(self) -> str:
        """The words that the cue was found in."""
        return " ".join(self.sentence.words[self.start : self.end])


class PastedOutput(NamedTuple):
    """Pasted output that was found, what kind of text it is in, and its own text."""

    structure: OutputStructure
    where: SpanKind
    text: str


class Evidence(NamedTuple):
    """All that was found in one text."""

    sentences: tuple[Sentence, ...]
    matches: tuple[CueMatch, ...]
    shown: tuple[PastedOutput, ...]
    kinds: frozenset[SpanKind]
    """Which kinds of Markdown the text has."""

    def cued(self, found: FeedbackType) -> list[CueMatch]:
        """Return the cues that speak for a type, in the order of the text."""
        return [match for match in self.matches if match.says.value == found.value and not match.note]

    def pasted(self, found: FeedbackType) -> list[PastedOutput]:
        """Return pasted output that shows a type; output in a quote is another person's."""
        shown = [one for one in self.shown if one.structure.says.value == found.value]
        return [one for one in shown if one.where is not SpanKind.QUOTE]


def readable_part(text: str) -> str:
    """Return the text with plain line ends, without the middle of a very long one."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) <= MAX_TEXT:
        return text
    return f"{text[: MAX_TEXT // 2]}\n\n{text[-MAX_TEXT // 2 :]}"


def gather_evidence(text: str, rules: DetectionRules) -> Evidence:
    """Find every cue and every structure of the rules in the text."""
    text = readable_part(text)
    pieces = cover_pieces(text)
    sentences = split_sentences(text, pieces)
    if len(sentences) > MAX_SENTENCES:
        sentences = (*sentences[: MAX_SENTENCES // 2], *sentences[-MAX_SENTENCES // 2 :])
    matches: list[CueMatch] = []
    for sentence in sentences:
        if phrases := rules.matcher.find(sentence.words):
            matches += _in_context(sentence, phrases, rules)
    kinds = frozenset([kind for kind, _, _ in pieces])
    return Evidence(sentences, tuple(matches), _pasted(text, pieces, kinds, rules), kinds)


def _in_context(sentence: Sentence, phrases: list[PhraseMatch], rules: DetectionRules) -> list[CueMatch]:
    """Return the cues of a sentence; one that is denied, asked, over or a mere possibility has a note."""
    words = sentence.words
    cues = rules.cues
    meanings = {cues[phrase.cue].says for phrase in phrases}
    covers = _covers(len(words), phrases, rules) if CueMeaning.HARMLESS in meanings else ()
    is_settled = CueMeaning.SETTLED in meanings
    asks = sentence.asks and is_question(sentence, rules)
    is_doubtful = not (rules.negations.isdisjoint(words) and rules.hypotheticals.isdisjoint(words))
    matches: dict[tuple[int, str], CueMatch] = {}
    for cue, start, end in phrases:
        says = cues[cue].says
        note = ""
        if says in _TYPES:
            if covers and covers[start] >= end:
                note = "harmless"
            elif is_doubtful and says is not CueMeaning.PARTIAL_SUCCESS:
                note = _doubt(says, start, end, sentence, rules)
            if not note and says in FAILURES:
                note = "settled" if is_settled else "question" if asks else ""
        # Of one cue's matches in a sentence the longest stays.
        before = matches.get((cue, note))
        if before is None or end - start > before.end - before.start:
            matches[cue, note] = CueMatch(cues[cue].name, says, note, sentence, start, end)
    return list(matches.values())


def _doubt(says: CueMeaning, start: int, end: int, sentence: Sentence, rules: DetectionRules) -> str:
    """Say whether a match is denied or a mere possibility, by the words before it or its own."""
    words = sentence.words
    is_failure = says in FAILURES
    # "tests do not fail", unlike "tests do not pass"
    *_, before_last, last = ("", *words[start:end])
    if is_failure and before_last in rules.negations and last in rules.failing:
        return "negated"
    if is_failure and words[0] == "if" and ("," not in words or start < words.index(",")):
        return "hypothetical"
    for far, word in enumerate(reversed(words[max(0, start - _REACH) : start]), 1):
        if word in _CLAUSE_ENDS:
            return ""
        if word in rules.negations:
            return "negated"
        if is_failure and far <= _NEAR and word in rules.hypotheticals:
            return "hypothetical"
    return ""


def _covers(length: int, phrases: list[PhraseMatch], rules: DetectionRules) -> list[int]:
    """For each word, up to where a harmless phrase reaches that began there or before."""
    reach = [0] * (length + 1)
    for cue, start, end in phrases:
        if rules.cues[cue].says is CueMeaning.HARMLESS and end > reach[start]:
            reach[start] = end
    return list(accumulate(reach, max))


def is_question(sentence: Sentence, rules: DetectionRules) -> bool:
    """Say whether something is asked; "can you fix it?" is a request and no question."""
    first, second, *_ = (*(word for word in sentence.words if word not in _OPENERS), "", "")
    return first in rules.questions and not (first in _MODALS and second in _ASKED)


def _pasted(
    text: str, pieces: list[Piece], kinds: frozenset[SpanKind], rules: DetectionRules
) -> tuple[PastedOutput, ...]:
    """Find program output: the writer's own first, then what appears only in quotes."""
    shown: dict[str, PastedOutput] = {}
    for layer in filter(kinds.__contains__, _LAYERS):
        part = "\n".join([text[start:end] for kind, start, end in pieces if kind is layer])
        for number, found in rules.structure_matcher.find(part):
            structure = rules.structures[number]
            shown.setdefault(structure.name, PastedOutput(structure, layer, found))
    return tuple(shown.values())


_LAYERS = (SpanKind.FENCE, SpanKind.CODE, SpanKind.TEXT, SpanKind.QUOTE)


def name_facts(evidence: Evidence, rules: DetectionRules) -> set[str]:
    """Name what was found besides single words: cues, structures, and the form of the comment."""
    sentences = evidence.sentences
    facts: set[str] = set()
    strong: set[str] = set()
    for match in evidence.matches:
        facts.add(f"#c:{match.name}!{match.note}" if match.note else f"#c:{match.name}")
        if match.note:
            facts.add(f"#{match.note}:{match.says}")
        else:
            strong.add(match.says)
    for one in evidence.shown:
        facts.add(f"#s:{one.structure.name}:{_WHERE[one.where]}")
        if one.where is not SpanKind.QUOTE:
            strong.add(f"shown {one.structure.says}")
    facts |= {f"#t:{says}" for says in strong}
    facts |= {f"#t:{one}+{two}" for one, two in _PAIRS if one in strong and two in strong}
    facts |= {f"#has:{kind.value}" for kind in evidence.kinds if kind in _TOLD_KINDS}
    facts.add(f"#length:{min(8, sum([len(sentence.words) for sentence in sentences]).bit_length())}")
    facts.add(f"#sentences:{min(5, len(sentences))}")
    if sentences:
        asks = [sentence.asks for sentence in sentences]
        facts.add(f"#asks:{'all' if all(asks) else 'some' if any(asks) else 'none'}:{asks[0]:d}{asks[-1]:d}")
        for place, sentence in (("first", sentences[0]), ("last", sentences[-1])):
            word = sentence.words[0]
            facts.add(f"#{place}:{rules.kind_of.get(word) or stem(word)}")
    return facts


_WHERE = {SpanKind.FENCE: "block", SpanKind.CODE: "code", SpanKind.TEXT: "text", SpanKind.QUOTE: "quote"}
_TOLD_KINDS = frozenset(SpanKind) - {SpanKind.TEXT, SpanKind.COMMENT, SpanKind.HTML, SpanKind.TASK}
# Meanings that say something else together than each alone.
_TOGETHER = """
    approval+request approval+partial_success approval+user_rejection approval+verification_failure
    approval+runtime_error request+user_rejection request+partial_success neutral+request settled+request
    neutral+user_rejection unrelated+verification_failure verification_failure+runtime_error
    shown_verification_failure+shown_runtime_error shown_verification_failure+verification_failure
    shown_runtime_error+runtime_error
"""
_PAIRS = [pair.replace("shown_", "shown ").split("+") for pair in _TOGETHER.split()]


def name_words(sentence: Sentence, kind_of: Mapping[str, str]) -> list[str]:
    """Name the words, their kinds, and two or three of these in a row."""
    bases = [*map(stem, sentence.words)]
    kinds = [*map(kind_of.get, sentence.words)]
    units = [kind or base for kind, base in zip(kinds, bases, strict=True)]
    return [*bases, *filter(None, kinds), *_in_a_row(["^", *units, "?" if sentence.asks else "$"])]


def write_out_names(sentence: Sentence, kind_of: Mapping[str, str]) -> list[str]:
    """Return for each name of `name_words` the words as written."""
    words = sentence.words
    return [*words, *filter(kind_of.__contains__, words), *_in_a_row(["", *words, ""])]


def _in_a_row(units: list[str]) -> list[str]:
    pairs = [f"{one} {two}" for one, two in pairwise(units)]
    return [*pairs, *[f"{pair} {unit}" for pair, unit in zip(pairs, units[2:], strict=False)]]
