"""Write the comment's marker, and parse its document."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from bot.feedback.model import Feedback
from bot.markdown import spans
from bot.markdown.escape import render_marker, truncate

FEEDBACK_MARKER = "REJECTION"
MAX_MARKER_LENGTH = 1_000


def marker_data(feedback: Feedback) -> dict[str, object]:
    """Return the marker's object, small enough for one line: tags that don't fit are counted."""
    blocking = [gate.tag for gate in feedback.blocking if gate.tag]
    return fit_marker(list(feedback.issues), blocking, feedback.more, partial(_marker, feedback))


def fit_marker(
    issues: list[str],
    blocking: list[str],
    left_out: int,
    build: Callable[[list[str], list[str], int], dict[str, object]],
) -> dict[str, object]:
    """Build the marker with as many tags as fit into one line, and the number of the others.

    Warnings are dropped first, from the end, then blocking tags, the least important first.
    """
    while True:
        data = build(issues, blocking, left_out)
        if len(render_marker(FEEDBACK_MARKER, data)) <= MAX_MARKER_LENGTH or not (issues or blocking):
            return data
        dropped = ([tag for tag in issues if tag not in blocking] or blocking)[-1]
        left_out += 1
        issues, blocking = ([tag for tag in tags if tag != dropped] for tags in (issues, blocking))


def _marker(feedback: Feedback, issues: list[str], blocking: list[str], left_out: int) -> dict[str, object]:
    data: dict[str, object] = {
        "issues": issues,
        "source": truncate(feedback.source, 100),
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


def parse_document(body: str) -> dict[str, object] | None:
    """Parse the first JSON fence, if it holds an object."""
    text = next((fence.text for fence in spans.find_fences(body) if fence.info.split()[:1] == ["json"]), None)
    try:
        document = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
