"""How the weekly issue tells whether the advice of the briefs was accepted afterwards."""

from __future__ import annotations

from bot.domain.advice_rates import ENOUGH, AdviceRates
from bot.domain.phrasing import share

_NAMED = 3
"""Actions in the line; the rest is in the API."""


def advice_line(found: AdviceRates) -> tuple[str, ...]:
    """One line; none where too few briefs were judged."""
    if found.accepted.whole < ENOUGH:
        return ()
    line = f"Briefs: {share(found.accepted.part, found.accepted.whole)} were accepted at the next verdict."
    if not found.low:
        return (line,)
    named = ", ".join(f"`{action}` ({_told(found, action)})" for action in found.low[:_NAMED])
    return (f"{line} A person should look at what seldom helps: {named}.",)


def _told(found: AdviceRates, action: str) -> str:
    counts = found.actions[action]
    return f"{counts.part} of {counts.whole}"
