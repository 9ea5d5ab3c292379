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
_MAX_NAME = 60  # characters of a reviewer's or a check's name


def feedback_marker(feedback: Feedback) -> str:
    """Render the marker, small enough for one line: tags that don't fit are counted."""
    is_over = feedback.pull_request.merged or not feedback.rejecting
    issues = [] if is_over else list(feedback.issues)
    blocking = [] if is_over else [gate.tag for gate in feedback.blocking if gate.tag]
    left_out, pending = (0 if is_over else feedback.more), list(feedback.pending)
    marker = fit_marker(issues, blocking, left_out, partial(_marker_data, feedback, pending))
    while len(marker) > MAX_MARKER_LENGTH and len(pending) > 1:
        # One is enough to tell an agent to wait.
        pending.pop()
        marker = fit_marker(issues, blocking, left_out, partial(_marker_data, feedback, pending))
    return marker


def fit_marker(
    issues: list[str],
    blocking: list[str],
    left_out: int,
    build: Callable[[list[str], list[str], int], dict[str, object]],
) -> str:
    """Render the marker with as many tags as fit into one line, and the number of the others.

    Warnings are dropped first, from the end, then blocking tags, the least important first.
    """
    while True:
        marker = render_marker(FEEDBACK_MARKER, build(issues, blocking, left_out))
        if len(marker) <= MAX_MARKER_LENGTH or not (issues or blocking):
            return marker
        dropped = ([tag for tag in issues if tag not in blocking] or blocking)[-1]
        left_out += 1
        issues, blocking = ([tag for tag in tags if tag != dropped] for tags in (issues, blocking))


def _marker_data(
    feedback: Feedback, pending: list[str], issues: list[str], blocking: list[str], left_out: int
) -> dict[str, object]:
    is_over = feedback.pull_request.merged or not feedback.rejecting
    data: dict[str, object] = {
        "issues": issues,
        "source": truncate(feedback.source, _MAX_NAME),
        "ts": feedback.at.isoformat(timespec="seconds"),
        "v": 1,
        "id": feedback.id,
        "verdict": feedback.verdict,
        "blocking": blocking,
        "head": feedback.iteration.head,
        "iteration": feedback.iteration.number,
        "max_iterations": feedback.max_iterations,
        "best": {"iteration": feedback.best.number, "head": feedback.best.head},
        "open": {
            "blocking": 0 if is_over else len(feedback.blocking),
            "warnings": 0 if is_over else len(feedback.warnings),
        },
        "turn": feedback.turn.value,
        "pending": [truncate(name, _MAX_NAME) for name in pending],
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
