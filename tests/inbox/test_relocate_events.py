"""An event of a repository that has moved speaks of it as it is now."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.inbox.ownership import event_repository, relocate_event
from bot.pull_request.events import (
    CheckEvent,
    CommentEvent,
    ConfigPushEvent,
    InstallationEvent,
    PastPullRequestEvent,
    PullRequestEvent,
    PullRequestSnapshot,
    RepositoryEvent,
    WeekDueEvent,
)
from bot.values import GHOST, Repository

AT = datetime(2026, 11, 2, tzinfo=UTC)
HERE, THERE = Repository(77, "acme", "knowledge", 5), Repository(77, "other", "knowledge", 6, private=True)
SNAPSHOT = PullRequestSnapshot(
    HERE, 1, GHOST, "t", "main", "abc", AT, AT, open=True, merged=False, draft=False, closed_at=None
)
ELSEWHERE = replace(SNAPSHOT, repository=THERE)


@pytest.mark.parametrize(
    ("event", "there"),
    [
        (PullRequestEvent("opened", SNAPSHOT), PullRequestEvent("opened", ELSEWHERE)),
        (PastPullRequestEvent(SNAPSHOT), PastPullRequestEvent(ELSEWHERE)),
        (
            CheckEvent(HERE, "abc", "tests", "failure", AT, ""),
            CheckEvent(THERE, "abc", "tests", "failure", AT, ""),
        ),
        (ConfigPushEvent(HERE, "abc", SNAPSHOT), ConfigPushEvent(THERE, "abc", ELSEWHERE)),
        (
            CommentEvent("created", HERE, 1, 2, GHOST, GHOST, "", AT, AT, ""),
            CommentEvent("created", THERE, 1, 2, GHOST, GHOST, "", AT, AT, ""),
        ),
    ],
)
def test_what_was_told_before_a_move_is_told_of_the_repository_as_it_is(event, there):
    assert (relocate_event(event, THERE), event_repository(event), event_repository(there)) == (
        there,
        HERE,
        THERE,
    )


def test_news_of_the_repository_itself_stay_as_they_were_told():
    changed = RepositoryEvent("renamed", HERE)
    assert (relocate_event(changed, THERE), event_repository(changed)) == (changed, HERE)


@pytest.mark.parametrize("event", [InstallationEvent("deleted", 5), WeekDueEvent(77, "2026-W46")])
def test_an_event_without_a_repository_in_full_is_as_it_was(event):
    assert (relocate_event(event, THERE), event_repository(event)) == (event, None)
