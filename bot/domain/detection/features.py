"""Which features of a text the learnt weights are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise

from bot.domain.detection.evidence import TYPES, Evidence
from bot.domain.detection.rules import Says
from bot.domain.detection.spelling import stem
from bot.domain.detection.words import Sentence
from bot.domain.prose import Kind


def facts(evidence: Evidence) -> set[str]:
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
    approves, asks = bool(strong & _BITS[Says.APPROVAL]), bool((strong | weak) & _BITS[Says.REQUEST])
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


def words(sentences: Iterable[Sentence], kinds: Mapping[str, str]) -> set[str]:
    """Name the words, their kinds, and two or three of these in a row: for the training.

    `Tests fail` is among others the pair `{tests} {fail}`. `Learnt` finds the same by number.
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


_BITS = {says: 1 << number for number, says in enumerate(Says)}
_WHERE = {Kind.TEXT: "!said", Kind.QUOTE: "!quoted"}
