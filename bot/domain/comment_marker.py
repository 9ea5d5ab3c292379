"""What does a comment's first line tell a machine?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bot.domain.escape import cut, marker
from bot.domain.feedback import Feedback

MARKER = "REJECTION"
MOST_MARKER = 1_000


def marker_data(feedback: Feedback) -> dict[str, object]:
    """The marker's object, small enough for one line: tags that don't fit are counted."""
    blocking = [gate.tag for gate in feedback.blocking if gate.tag]
    return fitting(list(feedback.issues), blocking, feedback.more, partial(_marker, feedback))


def fitting(
    issues: list[str],
    blocking: list[str],
    left_out: int,
    made: Callable[[list[str], list[str], int], dict[str, object]],
) -> dict[str, object]:
    """The object that is made of as many tags as fit into one line, and of the number of the others.

    Warnings go first, the last one before the others, then what blocks, the least important first.
    """
    while True:
        data = made(issues, blocking, left_out)
        if len(marker(MARKER, data)) <= MOST_MARKER or not (issues or blocking):
            return data
        dropped = ([tag for tag in issues if tag not in blocking] or blocking)[-1]
        left_out += 1
        issues, blocking = ([tag for tag in tags if tag != dropped] for tags in (issues, blocking))


def _marker(feedback: Feedback, issues: list[str], blocking: list[str], left_out: int) -> dict[str, object]:
    data: dict[str, object] = {
        "issues": issues,
        "source": cut(feedback.source, 100),
        "ts": feedback.at.isoformat(timespec="seconds"),
        "v": 1,
        "id": feedback.id,
        "verdict": feedback.verdict,
        "blocking": blocking,
        "head": feedback.iteration.head,
        "iteration": feedback.iteration.number,
        "max_iterations": feedback.max_iterations,
        "best": {"iteration": feedback.best.number, "head": feedback.best.head},
    }
    return {**data, "more": left_out} if left_out else data
