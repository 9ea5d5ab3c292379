"""Which label of ours should stand on a pull request?"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.feedback import Feedback
from bot.domain.model import Repository

REJECTED = "whetstone: rejected"
WARNINGS = "whetstone: warnings"

LOOKS = {
    REJECTED: ("b60205", "Something blocks this pull request"),
    WARNINGS: ("fbca04", "Something was found, and none of it blocks"),
}
"""Label → colour and description, where the repository has none of this name yet."""


@dataclass(frozen=True, slots=True)
class ShowLabel:
    """Of our labels this one stands on the pull request, and no other; none where it is empty."""

    repository: Repository
    number: int
    label: str

    @property
    def target(self) -> str:
        """One label a pull request."""
        return "label"


def label_for(feedback: Feedback | None) -> str:
    """The label that says what the comment's heading says; none where nothing is wrong."""
    if feedback is None or not feedback.rejecting or not feedback.gates:
        return ""
    return REJECTED if feedback.blocking else WARNINGS
