"""What were authors told to do next, and was it accepted: in codes, without anybody's words?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.model import Briefed, PullRequest


@dataclass(frozen=True, slots=True)
class Advised:
    """One brief: how the feedback was understood, the actions it asked for, and what came of it."""

    at: datetime
    feedback_type: str
    actions: tuple[str, ...] = ()
    success: bool | None = None
    """Whether the next verdict accepted; None while there is none."""


def advised(pull_request: PullRequest) -> tuple[Advised, ...]:
    """What is remembered of each brief that was posted, oldest first: the last of its rounds."""
    briefs = pull_request.briefs
    posted = (told for told, then in zip(briefs, (*briefs[1:], None), strict=False) if _is_last(told, then))
    return tuple(Advised(told.at, told.feedback_type, told.actions, told.success) for told in posted)


def _is_last(told: Briefed, then: Briefed | None) -> bool:
    return then is None or then.iteration != told.iteration or then.round <= told.round
