"""How does a rejection read that is only tags, without any pull request around them?"""

from __future__ import annotations

from datetime import datetime

from bot.domain.comment import MOST_CHARACTERS, MOST_IN_FULL
from bot.domain.comment_folds import folded, only_named
from bot.domain.comment_lines import heading
from bot.domain.comment_marker import MARKER, fitting
from bot.domain.escape import code_span, cut, marker
from bot.domain.feedback import FailedGate
from bot.domain.gate_text import gate_block


def for_tags(
    failed: tuple[FailedGate, ...], issues: tuple[str, ...], source: str, at: datetime, identity: str
) -> str:
    """The comment, within the same bounds as one in a thread."""
    first = _marker(failed, issues, source, at, identity)
    for most in (MOST_IN_FULL, 5, 3, 1, 0):
        text = _text(first, failed, source, most)
        if len(text) <= MOST_CHARACTERS:
            return text
    return cut(text, MOST_CHARACTERS)


def _marker(
    failed: tuple[FailedGate, ...], issues: tuple[str, ...], source: str, at: datetime, identity: str
) -> str:
    known = {"source": cut(source, 100), "ts": at.isoformat(timespec="seconds"), "v": 1, "id": identity}
    blocking = [gate.tag for gate in failed if gate.blocking and gate.tag]

    def made(issues: list[str], blocking: list[str], left_out: int) -> dict[str, object]:
        more = {"more": left_out} if left_out else {}
        return {"issues": issues, **known, "verdict": "refine", "blocking": blocking, **more}

    return marker(MARKER, fitting(list(issues), blocking, 0, made))


def _text(first: str, failed: tuple[FailedGate, ...], source: str, most: int) -> str:
    blocking = sum(gate.blocking for gate in failed)
    asks = "" if blocking else f"{code_span(source)} requests changes without naming a blocking gate."
    full = failed[:most]
    blocks = [first, heading(blocking, len(failed) - blocking), asks]
    blocks += [gate_block(gate) for gate in full if gate.blocking or not blocking]
    if blocking:
        warnings = [gate for gate in full if not gate.blocking]
        blocks.append(folded(warnings, [gate_block(gate) for gate in warnings], len(failed) - blocking))
    blocks.append(only_named([gate.tag or gate.name for gate in failed[most:]], 0))
    return "\n\n".join(block for block in blocks if block) + "\n"
