"""Write the comment's marker, and parse its document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bot.feedback.model import Feedback
from bot.markdown import spans
from bot.markdown.escape import render_marker, truncate

FEEDBACK_MARKER = "REJECTION"
MAX_MARKER_LENGTH = 1_000
_MAX_NAME = 60  # characters of a reviewer's or a check's name


def feedback_marker(feedback: Feedback) -> str:
    """Render the marker, small enough for one line."""
    is_over = feedback.pull_request.merged or not feedback.rejecting
    data = {
        "issues": [] if is_over else list(feedback.issues),
        "source": truncate(feedback.source, _MAX_NAME),
        "ts": feedback.at.isoformat(timespec="seconds"),
        "v": 1,
        "id": feedback.id,
        "verdict": feedback.verdict,
        "blocking": [] if is_over else list(feedback.blocking_tags),
        "head": feedback.iteration.head,
        "iteration": feedback.iteration.number,
        "max_iterations": feedback.max_iterations,
        "best": {"iteration": feedback.best.number, "head": feedback.best.head},
        "open": {
            "blocking": 0 if is_over else len(feedback.blocking),
            "warnings": 0 if is_over else len(feedback.warnings),
        },
        "turn": feedback.turn.value,
        "pending": [truncate(name, _MAX_NAME) for name in feedback.pending],
    }
    return fit_marker(data, 0 if is_over else feedback.more)


def fit_marker(data: Mapping[str, Any], left_out: int = 0) -> str:
    """Render the marker with as many of its `issues` as fit into one line, and the number of the others.

    Warnings are dropped first, from the end, then blocking tags, the least important first.
    """
    issues, blocking, more = data["issues"], data["blocking"], left_out
    while True:
        fitted = {**data, "issues": issues, "blocking": blocking, **({"more": more} if more else {})}
        marker = render_marker(FEEDBACK_MARKER, fitted)
        if len(marker) <= MAX_MARKER_LENGTH or not (issues or blocking):
            break
        dropped = ([tag for tag in issues if tag not in blocking] or blocking)[-1]
        more += 1
        issues, blocking = ([tag for tag in tags if tag != dropped] for tags in (issues, blocking))
    if len(marker) > MAX_MARKER_LENGTH and len(pending := data.get("pending", ())) > 1:
        # One is enough to tell an agent to wait.
        return fit_marker({**data, "pending": pending[:-1]}, left_out)
    return marker


def parse_document(body: str) -> dict[str, object] | None:
    """Parse the first JSON fence, if it holds an object."""
    text = next((fence.text for fence in spans.find_fences(body) if fence.info.split()[:1] == ["json"]), None)
    try:
        document = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
