"""What is no longer true of a pull request's record when GitHub did not take a write?"""

from __future__ import annotations

from dataclasses import replace

from bot.domain.check_effects import ShowCheck, Suggest
from bot.domain.check_runs import GATES
from bot.domain.effects import Effect
from bot.domain.label_effects import ShowLabel
from bot.domain.model import PullRequest


def not_shown(known: PullRequest, effect: Effect) -> PullRequest:
    """The record without the note that this is shown, so that the next event owes it again."""
    match effect:
        case ShowCheck() if effect.said.name == GATES and effect.said.head == known.head:
            return replace(known, check="")
        case Suggest() if effect.head == known.suggested:
            return replace(known, suggested="")
        case ShowLabel():
            return replace(known, labelled=_UNKNOWN)
        case _:
            return known


_UNKNOWN = "?"
"""No label has this name, so whatever should stand there is owed; also that none should."""
