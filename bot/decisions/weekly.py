"""What should a repository's summary issue say about a week?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.effects import Effect
from bot.domain.memory import Record
from bot.domain.memos import Memo, WeekRun
from bot.domain.summary import MINIMUM, WeekAsk, summary
from bot.domain.thread_effects import ShowIssue
from bot.domain.weekly import WeeklyIssue, weekly_issue
from bot.domain.worth_doing import Page

MINIMUM_BY_HAND = 1
"""Whoever asks for the running week gets it from the first pull request on."""


@dataclass(frozen=True, slots=True)
class Week:
    """What a week comes to: the issue, and that the clock's run is decided."""

    issue: WeeklyIssue | None
    effects: tuple[Effect, ...] = ()
    memos: tuple[Memo, ...] = ()


def decide(records: Sequence[Record], ask: WeekAsk, page: Page, now: datetime) -> Week:
    """The clock's run covers the finished week and adds its comment; a week so far is only described."""
    scheduled = ask.so_far is None
    found = weekly_issue(summary(records, page.gates, ask), page, MINIMUM if scheduled else MINIMUM_BY_HAND)
    week = str(ask.week)
    memos: tuple[Memo, ...] = ()
    if scheduled:
        memos = (WeekRun(ask.repository.id, week, now, told=found is not None),)
    if found is None:
        return Week(None, (), memos)
    shown = ShowIssue(
        repository=ask.repository,
        week=week,
        title=found.title,
        labels=found.labels,
        body=found.body,
        comment=found.comment if scheduled else None,
    )
    return Week(found, (shown,), memos)
