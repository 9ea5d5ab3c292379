"""Which manifests are worth reading, so that a brief can name the framework?"""

from __future__ import annotations

from bot.domain import iterations
from bot.domain.detection import FeedbackType
from bot.domain.framework import in_trace, manifests_for
from bot.domain.model import PullRequest, Stance
from bot.domain.rules import Rules

LAST_ROUND = 3


def wanted_manifests(pull_request: PullRequest, rules: Rules) -> tuple[tuple[str, str], ...]:
    """Head and path of the files to read, once a pull request: for an error whose brief is still poor."""
    present = iterations.current(pull_request)
    told = pull_request.briefs[-1] if pull_request.briefs else None
    if present is None or told is None or pull_request.framework is not None:
        return ()
    is_poor = told.actions[-1:] == ("request_clarification",)
    if told.feedback_type != FeedbackType.RUNTIME_ERROR or not is_poor or told.iteration != present.number:
        return ()
    rejecting = [verdict for verdict in present.standing if verdict.stance is Stance.REJECTS]
    said = "\n".join(
        part for verdict in rejecting for part in (verdict.said, *(item.words for item in verdict.items))
    )
    allowed = rules.detection.max_refinement_iterations >= LAST_ROUND and not in_trace(said)
    return tuple((present.head, path) for path in manifests_for(said)) if allowed else ()
