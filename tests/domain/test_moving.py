"""An event of a repository that has moved speaks of it as it is now."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.domain.events import (
    CheckSeen,
    CommentSeen,
    ConfigPushed,
    InstallationSeen,
    PullRequestSeen,
    RepositoryChanged,
)
from bot.domain.model import GHOST, Repository
from bot.domain.moving import moved, repository_of
from bot.domain.own_events import PastSeen, WeekDue
from bot.domain.snapshots import PullRequestSnapshot

AT = datetime(2026, 11, 2, tzinfo=UTC)
HERE, THERE = Repository(77, "acme", "knowledge", 5), Repository(77, "other", "knowledge", 6, private=True)
SNAPSHOT = PullRequestSnapshot(
    HERE, 1, GHOST, "t", "main", "abc", AT, AT, open=True, merged=False, draft=False, closed_at=None
)
ELSEWHERE = replace(SNAPSHOT, repository=THERE)


@pytest.mark.parametrize(
    ("event", "there"),
    [
        (PullRequestSeen("opened", SNAPSHOT), PullRequestSeen("opened", ELSEWHERE)),
        (PastSeen(SNAPSHOT), PastSeen(ELSEWHERE)),
        (
            CheckSeen(HERE, "abc", "tests", "failure", AT, ""),
            CheckSeen(THERE, "abc", "tests", "failure", AT, ""),
        ),
        (ConfigPushed(HERE, "abc", SNAPSHOT), ConfigPushed(THERE, "abc", ELSEWHERE)),
        (
            CommentSeen("created", HERE, 1, 2, GHOST, GHOST, "", AT, AT, ""),
            CommentSeen("created", THERE, 1, 2, GHOST, GHOST, "", AT, AT, ""),
        ),
    ],
)
def test_what_was_told_before_a_move_is_told_of_the_repository_as_it_is(event, there):
    assert (moved(event, THERE), repository_of(event), repository_of(there)) == (there, HERE, THERE)


def test_news_of_the_repository_itself_stay_as_they_were_told():
    changed = RepositoryChanged("renamed", HERE)
    assert (moved(changed, THERE), repository_of(changed)) == (changed, HERE)


@pytest.mark.parametrize("event", [InstallationSeen("deleted", 5), WeekDue(77, "2026-W46")])
def test_an_event_without_a_repository_in_full_is_as_it_was(event):
    assert (moved(event, THERE), repository_of(event)) == (event, None)
