"""Which features of a text the learnt weights are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from bot.domain.detection.evidence import TYPES, Evidence
from bot.domain.detection.rules import Says
from bot.domain.detection.spelling import stem
from bot.domain.detection.words import Sentence
from bot.domain.prose import Kind


def facts(evidence: Evidence) -> set[str]:
    """Name what was found: cues with what took them away, structures, and how they go together."""
    found = {_of_cue(match.name, match.note) for match in evidence.matches}
    found.add("#bias")
    _add_shown(found, evidence)
    said = {(match.says, match.points) for match in evidence.matches}
    said.update((shown.structure.says, shown.points) for shown in evidence.shown)
    strong = {says for says, points in said if points >= 2}
    weak = {says for says, points in said if points == 1}
    approves = Says.APPROVAL in strong
    asks = Says.REQUEST in strong or Says.REQUEST in weak
    for says in TYPES:
        if says in strong:
            found.update(_STRONG[says, approves])
            if evidence.is_unrelated:
                found.add(f"#unrelated:{says}")
            if evidence.is_settled:
                found.add(f"#settled:{says}")
        elif says in weak:
            found.add(_WEAK[says])
    found.add(_STANCES[approves, asks])
    if evidence.is_unrelated:
        found.add("#unrelated")
    if evidence.is_settled:
        found.add("#settled")
    if not strong.intersection(TYPES):
        found.add("#not strong" if weak.intersection(TYPES) else "#nothing")
    if evidence.sentences and all(sentence.asks for sentence in evidence.sentences):
        found.add("#only asks")
    return found


def words(sentences: Iterable[Sentence], kinds: Mapping[str, str]) -> dict[str, str]:
    """Name the words, their kinds and pairs of these, each with what was said for it first.

    `Tests fail` is among others the pair `{tests} {fail}`.
    """
    found: dict[str, str] = {}
    for sentence in sentences:
        before, said = "^", ""
        for word in sentence.words:
            known = kinds.get(word) or stem(word)
            found.setdefault(stem(word), word)
            found.setdefault(known, word)
            found.setdefault(f"{before} {known}", f"{said} {word}".strip())
            before, said = known, word
        found.setdefault(f"{before} {'?' if sentence.asks else '$'}", said)
    return found


def _add_shown(found: set[str], evidence: Evidence) -> None:
    """A test or build that failed explains the trace that it printed."""
    verified = any(
        shown.points >= 2 and shown.structure.says is Says.VERIFICATION_FAILURE for shown in evidence.shown
    )
    for shown in evidence.shown:
        if verified and shown.structure.says is Says.RUNTIME_ERROR:
            found.add("#s:of a failed check")
        else:
            found.add(f"#s:{shown.structure.name}{_WHERE.get(shown.where, '')}")


@lru_cache(maxsize=2048)
def _of_cue(name: str, note: str) -> str:
    return f"#c:{name}!{note}" if note else f"#c:{name}"


_BOTH = (True, False)
_STRONG = {
    (says, approves): (f"#t:{says}", f"#{'approved' if approves else 'alone'}:{says}")
    for says in TYPES
    for approves in _BOTH
}
_WEAK = {says: f"#weak:{says}" for says in TYPES}
_STANCES = {(approves, asks): f"#approves:{approves}:asks:{asks}" for approves in _BOTH for asks in _BOTH}
_WHERE = {Kind.TEXT: "!said", Kind.QUOTE: "!quoted"}
