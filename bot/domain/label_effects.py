"""Which labels of ours should stand on a pull request?"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.feedback import Feedback
from bot.domain.model import Repository

REJECTED = "whetstone: rejected"
WARNINGS = "whetstone: warnings"
DEGRADED = "whetstone: degraded"

LOOKS = {
    REJECTED: ("b60205", "Something blocks this pull request"),
    WARNINGS: ("fbca04", "Something was found, and none of it blocks"),
    DEGRADED: ("d4c5f9", "The last iteration is worse than the one before"),
}
"""Label → colour and description, where the repository has none of this name yet."""


@dataclass(frozen=True, slots=True)
class ShowLabel:
    """Of our labels this one stands on the pull request, and no other; none where it is empty.

    Beside it, while it stands, that the last iteration made things worse.
    """

    repository: Repository
    number: int
    label: str
    degraded: bool = False

    @property
    def target(self) -> str:
        """One label a pull request."""
        return "label"

    @property
    def labels(self) -> tuple[str, ...]:
        """Those that stand there, by name."""
        return tuple(name for name in (self.label, DEGRADED if self.degraded else "") if name)


def is_degraded(feedback: Feedback | None) -> bool:
    """Whether the iteration that is held up now is flagged as worse than the one before."""
    if feedback is None or feedback.course is None:
        return False
    return bool(label_for(feedback)) and feedback.course.present.flagged


def label_for(feedback: Feedback | None) -> str:
    """The label that says what the comment's heading says; none where nothing is wrong."""
    if feedback is None or not feedback.rejecting or not feedback.gates:
        return ""
    return REJECTED if feedback.blocking else WARNINGS
