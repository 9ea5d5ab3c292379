"""Decide whether a span of text is stated, negated, asked, hypothetical or settled."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import NamedTuple

from bot.detection.evidence import is_question
from bot.detection.rules import CueMeaning, DetectionRules
from bot.detection.words import Sentence, normalize_phrase, split_sentences
from bot.markdown.blocks import SpanKind

PUNCTUATION = frozenset((",", ":"))
CLAUSE_ENDS = PUNCTUATION | {"but", "though", "although", "however", "because", "since", "while", "except"}


class WordSpan(NamedTuple):
    """Words of a sentence: the sentence, and from where up to where."""

    sentence: Sentence
    start: int
    end: int

    @property
    def before(self) -> tuple[str, ...]:
        """The words before it in its clause."""
        return clause_before(self.sentence.words, self.start)

    @property
    def after(self) -> tuple[str, ...]:
        """The words after it in its clause."""
        rest = self.sentence.words[self.end :]
        return tuple(takewhile(lambda word: word not in CLAUSE_ENDS, rest))


def read_word_span(text: str, start: int, end: int) -> WordSpan:
    """Return the words of the stretch and of the sentence that it begins in; far away nothing is read."""
    end = min(end, start + _FAR)
    before = normalize_phrase(_set_apart(text[max(0, start - _FAR) : start + 1])[:-1])
    own = _first_sentence(text[start:end])
    words, asks = _first_sentence(_set_apart(text[start : end + _FAR]))
    last = len(before) + min(len(own.words), len(words))
    return WordSpan(Sentence((*before, *words), asks), len(before), last)


def clause_before(words: tuple[str, ...], end: int) -> tuple[str, ...]:
    """Return the words of a clause up to an end."""
    begin = next((at for at in range(end, 0, -1) if words[at - 1] in CLAUSE_ENDS), 0)
    return words[begin:end]


def _set_apart(text: str) -> str:
    """End a sentence with a short line, and where one begins with a capital: GitHub shows them as lines."""
    first, *others = text.split("\n")
    parts, before = [first], first
    for line in others:
        ends = 0 < len(before) <= _SHORT or "A" <= line.lstrip(" \t")[:1] <= "Z"
        parts += (" ; " if ends else "\n", line)
        before = line
    return "".join(parts)


def _first_sentence(text: str) -> Sentence:
    return next(iter(split_sentences(text, ((SpanKind.TEXT, 0, len(text)),))), Sentence((), asks=False))


_FAR, _SHORT = 400, 50  # characters: about as much as a long sentence has, and a short line


def find_doubt(text: str, start: int, end: int, rules: DetectionRules) -> str:
    """Return why the stretch states nothing: negated, question, hypothetical or settled; empty if it does.

    The text comes with code and quotes already masked. However long it is, only what is near is read.
    """
    said = read_word_span(text, start, end)
    if said.start == said.end:
        return ""  # in letters that the detector does not read
    if _is_denied(said, rules):
        return "negated"
    if not _mentions_repair(said):  # whoever asks for the repair says that there is something to repair
        if _is_asked(said, rules):
            return "question"
        if _is_possibility(said):
            return "hypothetical"
    return "settled" if _is_over(said, rules) else ""


def _is_denied(said: WordSpan, rules: DetectionRules) -> bool:
    """Whether a negation before it denies it: close to it, or as something that is not thought or seen."""
    before = said.before
    stops = rules.negations | {"and"}
    last = next((at for at in range(len(before) - 1, -1, -1) if before[at] in stops), None)
    if last is None or before[last] == "and":
        return False
    follows = before[last + 1 :]
    if not _MENDING.isdisjoint(follows) or not _UNWILLING.isdisjoint(follows[:1]):
        return False  # it is the repair or the consent that there is none of
    if last == 0 and not _REPAIRED.isdisjoint(said.sentence.words[: said.start - len(before)]):
        return False  # "you fixed the title, but not the wrong date"
    if not _OPINIONS.isdisjoint(follows[:1]):
        return _MENDING.isdisjoint(said.after)
    return len(follows) < _REACH


def _mentions_repair(said: WordSpan) -> bool:
    """Whether a repair is mentioned: right before it, or after it in its clause."""
    return not _MENDING.isdisjoint((*said.before[-_REACH:], *said.after))


def _is_asked(said: WordSpan, rules: DetectionRules) -> bool:
    sentence, before = said.sentence, said.before
    if not sentence.asks or before[:1] == ("why",) or before[:2] in _PROPOSALS:
        return False
    clause = Sentence((*before, *sentence.words[said.start :]), asks=True)
    return is_question(sentence, rules) or is_question(clause, rules)


def _is_possibility(said: WordSpan) -> bool:
    """Whether it follows an `if`, or is only a possibility."""
    before = said.before
    if any(word in _CONDITIONS and before[at - 1 : at] != ("as",) for at, word in enumerate(before)):
        return True
    return any(one in _MODALS and next_one in _BEING for one, next_one in pairwise(before[-_REACH:]))


def _is_over(said: WordSpan, rules: DetectionRules) -> bool:
    """Whether it is described as gone or fixed."""
    words, asks = said.sentence
    if asks:
        return False
    if not _NO_MORE.isdisjoint(pairwise((*said.after, ""))):
        return True
    if _REPAIRED.isdisjoint(words):
        return False
    found = [
        # What a cue has behind a comma is of another clause.
        (start, next((at for at in range(start + 1, end) if words[at] in PUNCTUATION), end))
        for cue, start, end in rules.matcher.find(words)
        if rules.cues[cue].says is CueMeaning.SETTLED
    ]
    return any(_is_report(words, *cue, rules) and _is_about(said, *cue) for cue in found)


def _is_report(words: tuple[str, ...], start: int, end: int, rules: DetectionRules) -> bool:
    """Whether a repair is reported as done: not wished for, denied, planned or partial."""
    told, before = words[start:end], clause_before(words, start)
    if _REPAIRED.isdisjoint(told) or ("fixing" in told and not told[0].startswith("thank")):
        return False
    wished = not _WISHES.isdisjoint((*before, *told)) or not _POSSIBLE.isdisjoint(told)
    in_part = "except" in words[end:] or ("but", "not") in pairwise(words[end:])
    is_plain = rules.negations.isdisjoint(before) and rules.hypotheticals.isdisjoint(before)
    return is_plain and not wished and not in_part


def _is_about(said: WordSpan, start: int, end: int) -> bool:
    """Whether this is what was repaired: the words are right before it, or follow it."""
    words = said.sentence.words
    if end <= said.start:
        between = words[end : said.start]
        if between and PUNCTUATION.issuperset(between):  # "the lint is fixed now: ..." is about the lint
            return _WHOEVER.issuperset(clause_before(words, start))
        return len(between) <= _REACH and CLAUSE_ENDS.isdisjoint(between)
    if start <= said.end:
        return start == said.end
    if words[start - 1] in PUNCTUATION:
        return words[start] in _BECAME or words[start] in _REPAIRED
    return words[start] in _BECAME and CLAUSE_ENDS.isdisjoint(words[said.end : start])


def _words(said: str) -> frozenset[str]:
    return frozenset(said.split())


_REACH = 3  # words that a negation, a modal or a repair reaches forward
_CONDITIONS = _words("if unless whether")
_MODALS = _words("may might could would can")
_POSSIBLE = _MODALS | _words("should must")
_BEING = _words("be have contain")
_PROPOSALS = frozenset((("what", "about"), ("how", "about"), ("can", "we"), ("could", "we"), ("would", "we")))
_OPINIONS = _words("think believe see find say saying notice mean need bother")
_UNWILLING = _words("only just merge accept approve take ship allow")
_MENDING = _words(
    "fix fixed fixing correct corrected correcting repair repaired repairing mend mended mending resolve "
    "resolved resolving solve solved solving remove removed removing replace replaced replacing"
)
_REPAIRED = _words(
    "fixed fixes fixing resolved resolves solved solves repaired corrected addressed addresses sorted gone "
    "away longer"
)
_WHOEVER = _words("i we you have has had just now already also")
_NO_MORE = frozenset((("no", "longer"), ("any", "more"), ("anymore", "")))
_BECAME = _words("is are was were has have had been got now already went no")
_WISHES = _words(
    "please until till once when after before ensure sure want wants expect need needs require requires get "
    "let make hope wish like if unless said say says claim claims thought"
)
