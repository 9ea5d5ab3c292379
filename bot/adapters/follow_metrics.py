"""Whether feedback of the last seven days was followed and helped, in Prometheus's words, without names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Gauge

from bot.adapters.store.memory_counts import Heeded
from bot.domain.follow_rates import together
from bot.domain.tracked import Observation

_MOST_TAGS = 200


def show_followed(found: CollectorRegistry, heeded: Counter[Heeded]) -> None:
    """The items by tag, by whether they named a place, and by what became of them."""
    what = "Items of feedback of the last seven days whose fate is known"
    shown = Gauge("whetstone_feedback_items", what, ["tag", "place", "followed"], registry=found)
    tags: Counter[str] = Counter()
    for item, number in heeded.items():
        tags[item.tag] += number
    named = {tag for tag, _ in tags.most_common(_MOST_TAGS)}
    for item, number in heeded.items():
        if item.tag in named:
            shown.labels(item.tag, word(item.placed), word(item.followed)).inc(number)


def show_tracked(found: CollectorRegistry, observed: Sequence[Observation]) -> None:
    """How often the quality rose afterwards, and how clear the feedback was; nothing before that is known."""
    rate = together(observed)
    if rate is None:
        return
    rose = "Items of the last seven days after which the quality rose, of those where it is known"
    if rate.improvement_rate is not None:
        Gauge("whetstone_feedback_improvement_rate", rose, registry=found).set(rate.improvement_rate)
    clear = "How clear the feedback of the last seven days was, from 0 to 1, the mean of its items"
    if rate.mean_clarity is not None:
        Gauge("whetstone_feedback_clarity_score", clear, registry=found).set(rate.mean_clarity)


def word(holds: bool) -> str:  # noqa: FBT001  a label's value
    """Yes or no."""
    return "yes" if holds else "no"
