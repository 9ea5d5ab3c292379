"""Which features of a text the learnt weights are about."""

from __future__ import annotations

from functools import lru_cache

from bot.domain.detection.evidence import TYPES, Evidence
from bot.domain.detection.rules import DetectionRules, Says
from bot.domain.prose import Kind


def facts(evidence: Evidence) -> set[str]:
    """Name what was found: cues with what took them away, structures, and how they go together."""
    found = {
        f"c:{match.name}!{match.note}" if match.note else f"c:{match.name}" for match in evidence.matches
    }
    found.add("bias")
    _add_shown(found, evidence)
    strong = {match.says for match in evidence.matches if match.points >= 2}
    strong.update(shown.structure.says for shown in evidence.shown if shown.points >= 2)
    weak = {match.says for match in evidence.matches if match.points == 1}
    weak.update(shown.structure.says for shown in evidence.shown if shown.points == 1)
    approves = Says.APPROVAL in strong
    asks = any(match.says is Says.REQUEST for match in evidence.matches)
    for says in TYPES:
        if says in strong:
            found.add(f"t:{says}")
            found.add(f"{'approved' if approves else 'alone'}:{says}")
            if evidence.is_unrelated:
                found.add(f"unrelated:{says}")
        elif says in weak:
            found.add(f"weak:{says}")
    found.add(f"approves:{approves}:asks:{asks}")
    if evidence.is_unrelated:
        found.add("unrelated")
    if not strong.intersection(TYPES):
        found.add("not strong" if weak.intersection(TYPES) else "nothing")
    if evidence.sentences and all(sentence.asks for sentence in evidence.sentences):
        found.add("only asks")
    return found


def words(evidence: Evidence, rules: DetectionRules) -> set[str]:
    """Name the words and pairs of words that were said, groups of like words as one."""
    group = rules.groups
    found: set[str] = set()
    for sentence in evidence.sentences:
        before = "^"
        for word in sentence.words:
            known = group.get(word, word)
            found.add(stem(known))
            found.add(f"{before} {known}")
            before = known
        found.add(f"{before} {'?' if sentence.asks else '$'}")
    return found


def _add_shown(found: set[str], evidence: Evidence) -> None:
    """A test or build that failed explains the trace that it printed."""
    verified = any(
        shown.points >= 2 and shown.structure.says is Says.VERIFICATION_FAILURE for shown in evidence.shown
    )
    for shown in evidence.shown:
        if verified and shown.structure.says is Says.RUNTIME_ERROR:
            found.add("s:of a failed check")
        else:
            found.add(f"s:{shown.structure.name}{_WHERE.get(shown.where, '')}")


_WHERE = {Kind.TEXT: "!said", Kind.QUOTE: "!quoted"}
_ENDINGS = ("ations", "ation", "ings", "ing", "ed", "es", "ly", "s")


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Cut the ending of a word, so that its forms count as one."""
    if len(word) < 5 or word[0] in "<{":
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word
