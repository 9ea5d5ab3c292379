"""Which advice was accepted afterwards, which kinds of feedback come again, and which action seldom helps?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bot.domain.advice import Share
from bot.domain.memory import Record, Window
from bot.domain.model import Account

ENOUGH = 5
"""Judged briefs from which a rate says anything."""
LOW = 0.5
"""An action that was accepted less often should be looked at by a person; nothing changes by itself."""


@dataclass(frozen=True, slots=True)
class Kind:
    """How often feedback of one type led to a brief, and in how many pull requests."""

    briefs: int
    pull_requests: int


@dataclass(frozen=True, slots=True)
class AdviceRates:
    """What was advised in a span of time, and how much of it the next verdict accepted."""

    pull_requests: int = 0
    briefs: int = 0
    accepted: Share = field(default_factory=Share)
    """Of the briefs that a later verdict judged."""
    types: Mapping[str, Kind] = field(default_factory=dict)
    actions: Mapping[str, Share] = field(default_factory=dict)
    """Action → accepted of judged; those that wait for a verdict are left out."""

    @property
    def low(self) -> tuple[str, ...]:
        """Actions judged often enough and accepted seldom, the least accepted first."""
        rates = {action: _rate(share) for action, share in self.actions.items() if share.whole >= ENOUGH}
        return tuple(
            sorted((each for each in rates if rates[each] < LOW), key=lambda each: (rates[each], each))
        )

    @property
    def figures(self) -> dict[str, object]:
        """As the API gives them."""
        return {
            "pull_requests": self.pull_requests,
            "briefs": self.briefs,
            "judged": self.accepted.whole,
            "accepted": self.accepted.part,
            "types": {
                name: {"briefs": kind.briefs, "pull_requests": kind.pull_requests}
                for name, kind in self.types.items()
            },
            "actions": {name: _figures(share) for name, share in self.actions.items()},
        }

    @property
    def low_figures(self) -> list[dict[str, object]]:
        """The actions that a person should look at, as the API gives them."""
        return [{"action": action, **_figures(self.actions[action])} for action in self.low]


def advice_rates(records: Iterable[Record], window: Window) -> AdviceRates:
    """What the briefs that were given in the window came to."""
    given = [(record.number, told) for record in records for told in record.advice if told.at in window]
    told = [each for _, each in given]
    asked = sorted({action for each in told for action in each.actions})
    actions = {name: _share(each.success for each in told if name in each.actions) for name in asked}
    kinds = sorted({each.feedback_type for each in told})
    return AdviceRates(
        pull_requests=len({number for number, _ in given}),
        briefs=len(given),
        accepted=_share(each.success for each in told),
        types={
            kind: _kind([number for number, each in given if each.feedback_type == kind]) for kind in kinds
        },
        actions={name: share for name, share in actions.items() if share.whole},
    )


def by_author(records: Iterable[Record], window: Window) -> tuple[tuple[Account, AdviceRates], ...]:
    """The same for each author who was advised, by login."""
    theirs: dict[int, list[Record]] = {}
    for record in sorted(records, key=lambda each: each.last_active):
        theirs.setdefault(record.author.id, []).append(record)
    found = [(each[-1].author, advice_rates(each, window)) for each in theirs.values()]
    return tuple(sorted((one for one in found if one[1].briefs), key=lambda one: one[0].login))


def _share(fates: Iterable[bool | None]) -> Share:
    known = [fate for fate in fates if fate is not None]
    return Share(sum(known), len(known))


def _kind(numbers: list[int]) -> Kind:
    return Kind(len(numbers), len(set(numbers)))


def _rate(share: Share) -> float:
    return share.part / share.whole


def _figures(share: Share) -> dict[str, object]:
    return {"judged": share.whole, "accepted": share.part, "rate": round(_rate(share), 3)}
