"""Does a stretch of a text state what it says, or is that denied, asked, a mere possibility, or over?"""

from __future__ import annotations

from itertools import pairwise

from bot.domain.detection.evidence import is_question
from bot.domain.detection.rules import DetectionRules, Says
from bot.domain.detection.stretch import CLAUSE_ENDS, MARKS, Stretch, clause_before, read
from bot.domain.detection.words import Sentence


def doubt(text: str, start: int, end: int, rules: DetectionRules) -> str:
    """Return why the stretch states nothing: negated, question, hypothetical or settled; empty where it does.

    The text comes with code and quotes already masked. However long it is, only what is near is read.
    """
    said = read(text, start, end)
    if said.start == said.end:
        return ""  # in letters that the detector does not read
    if _is_denied(said, rules):
        return "negated"
    if not _is_to_be_mended(said):  # whoever asks for the repair says that there is something to repair
        if _is_asked(said, rules):
            return "question"
        if _is_possibility(said):
            return "hypothetical"
    return "settled" if _is_over(said, rules) else ""


def _is_denied(said: Stretch, rules: DetectionRules) -> bool:
    """Say whether a negation before it takes it away: near by, or as what somebody does not think or see."""
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


def _is_to_be_mended(said: Stretch) -> bool:
    """Say whether repair is spoken of: right before it, or after it in its clause."""
    return not _MENDING.isdisjoint((*said.before[-_REACH:], *said.after))


def _is_asked(said: Stretch, rules: DetectionRules) -> bool:
    sentence, before = said.sentence, said.before
    if not sentence.asks or before[:1] == ("why",) or before[:2] in _PROPOSALS:
        return False
    clause = Sentence((*before, *sentence.words[said.start :]), asks=True)
    return is_question(sentence, rules) or is_question(clause, rules)


def _is_possibility(said: Stretch) -> bool:
    """Say whether it stands after an `if`, or is what something may be."""
    before = said.before
    if any(word in _CONDITIONS and before[at - 1 : at] != ("as",) for at, word in enumerate(before)):
        return True
    return any(one in _MODALS and next_one in _BEING for one, next_one in pairwise(before[-_REACH:]))


def _is_over(said: Stretch, rules: DetectionRules) -> bool:
    """Say whether it is told of as gone or repaired."""
    words, asks = said.sentence
    if asks:
        return False
    if not _NO_MORE.isdisjoint(pairwise((*said.after, ""))):
        return True
    if _REPAIRED.isdisjoint(words):
        return False
    found = [
        # What a cue has behind a comma is of another clause.
        (start, next((at for at in range(start + 1, end) if words[at] in MARKS), end))
        for cue, start, end in rules.lexicon.find(words)
        if rules.says[cue] is Says.SETTLED and rules.cues[cue].strong
    ]
    return any(_is_report(words, *cue, rules) and _is_about(said, *cue) for cue in found)


def _is_report(words: tuple[str, ...], start: int, end: int, rules: DetectionRules) -> bool:
    """Say whether a repair is told of as done, and not as wished for, denied, planned or done in part."""
    told, before = words[start:end], clause_before(words, start)
    if _REPAIRED.isdisjoint(told) or ("fixing" in told and not told[0].startswith("thank")):
        return False
    wished = not _WISHES.isdisjoint((*before, *told)) or not _POSSIBLE.isdisjoint(told)
    in_part = "except" in words[end:] or ("but", "not") in pairwise(words[end:])
    return not wished and not in_part and rules.doubts.isdisjoint(before)


def _is_about(said: Stretch, start: int, end: int) -> bool:
    """Say whether what is repaired is this: the words stand right before it, or say so after it."""
    words = said.sentence.words
    if end <= said.start:
        between = words[end : said.start]
        if between and MARKS.issuperset(between):  # "the lint is fixed now: ..." is about the lint
            return _WHOEVER.issuperset(clause_before(words, start))
        return len(between) <= _REACH and CLAUSE_ENDS.isdisjoint(between)
    if start <= said.end:
        return start == said.end
    if words[start - 1] in MARKS:
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
