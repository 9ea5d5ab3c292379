"""What is said in a comment of its own, beside the sticky one: stop, or which iteration is selected."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.escape import code_span, marker
from bot.domain.feedback import Feedback
from bot.domain.links import short
from bot.domain.model import Repository
from bot.domain.selection_report import Report, render

MOST_TAGS = 10

_STOP = (
    "If you are an agent: push nothing more until a person with `write` access has answered here, "
    "or the feedback comment says **Resolved**."
)


class Kind(StrEnum):
    """The word of the marker: never the one that agents read as feedback."""

    ESCALATION = "ESCALATION"
    SELECTION = "SELECTION-REPORT"


@dataclass(frozen=True, slots=True)
class Announce:
    """The thread gets one comment more; it is never edited."""

    repository: Repository
    number: int
    kind: Kind
    marker_id: str
    body: str

    @property
    def target(self) -> str:
        """One a kind."""
        return f"announce:{self.kind}"


def escalation(feedback: Feedback, identity: str, why: str, mention: str | None = None) -> str:
    """Tell an agent to stop and a person to decide; nobody is mentioned unless a team is given."""
    tags = [code_span(gate.tag or gate.name) for gate in feedback.blocking]
    named = ", ".join(tags[:MOST_TAGS]) + (
        f" and {len(tags) - MOST_TAGS} more" if len(tags) > MOST_TAGS else ""
    )
    still = f", and {_open(len(tags))} at {_head(feedback)}: {named}" if tags else f" at {_head(feedback)}"
    parts = [
        marker(Kind.ESCALATION, _marker(feedback, identity)),
        f"**Stop, a person decides** — {why}{still}.",
        _STOP,
        f"If you are that person: approve it, close it, or say what to change.{_selectable(feedback)}",
        f"@{mention}" if mention else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def selection(feedback: Feedback, report: Report, identity: str) -> str:
    """The report where the branch was closed with less than its best."""
    return f"{marker(Kind.SELECTION, _marker(feedback, identity))}\n\n{render(report)}"


def _marker(feedback: Feedback, identity: str) -> dict[str, object]:
    return {
        "id": identity,
        "ts": feedback.at.isoformat(timespec="seconds"),
        "v": 1,
        "head": feedback.iteration.head,
        "iteration": feedback.iteration.number,
        "max_iterations": feedback.max_iterations,
    }


def _open(count: int) -> str:
    return "1 blocking issue is open" if count == 1 else f"{count} blocking issues are open"


def _head(feedback: Feedback) -> str:
    return code_span(short(feedback.iteration.head))


def _selectable(feedback: Feedback) -> str:
    """The best iteration, where it is another one than the present."""
    if feedback.best.number == feedback.iteration.number:
        return ""
    return f" Iteration {feedback.best.number} scored highest: `/feedback-select best reason: …` selects it."
