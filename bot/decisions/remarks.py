"""What is worth remarking at a gate: an appeal, or that its author breaks it again?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.domain.commands.ruling_text import appealed_line
from bot.domain.feedback import FailedGate, Feedback
from bot.domain.iterations import Iteration
from bot.domain.links import Web
from bot.domain.memory import Record, record_of
from bot.domain.recurrence import again, recurrence
from bot.domain.rulings import for_memory, in_force, open_appeals, overturned


def with_remarks(feedback: Feedback, recent: Sequence[Record], web: Web) -> Feedback:
    """The feedback with what the author's last pull requests and the appeals add to its gates."""
    known = feedback.pull_request
    others = [record for record in recent if record.number != known.number]
    records = (*others, record_of(for_memory(known), overturned(known)))
    appeals = open_appeals(known)
    before = in_force(known)[: feedback.iteration.number]

    def remarked(gate: FailedGate) -> FailedGate:
        if not gate.tag:
            return gate
        appeal = appeals.get(gate.tag)
        return replace(
            gate,
            appealed=appealed_line(appeal) if appeal else "",
            again="; ".join(
                said for said in (_since(gate.tag, before), _again(gate.tag, feedback, records, web)) if said
            ),
        )

    return replace(feedback, gates=tuple(map(remarked, feedback.gates)))


def _again(tag: str, feedback: Feedback, records: Sequence[Record], web: Web) -> str:
    known = feedback.pull_request
    # GitHub's clock may be ahead of ours.
    now = max(feedback.at, *(record.last_active for record in records))
    found = recurrence(tag, known.number, records, now)
    return again(found, known.repository, web) if found else ""


def _since(tag: str, known: Sequence[Iteration]) -> str:
    """Since when it is open without a break, where that is longer than this iteration."""
    first = len(known)
    while first > 0 and tag in known[first - 1].tags:
        first -= 1
    return f"open since iteration {known[first].number}" if first < len(known) - 1 else ""
