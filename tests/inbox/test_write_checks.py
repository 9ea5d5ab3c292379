"""A check run or a suggestion whose answer was lost is there once, not twice."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.github.auth import AppKey
from bot.github.client import connect_github
from bot.github.errors import GitHubUnavailable, RateLimited
from bot.inbox.retry import RetryLater
from bot.inbox.sender import Sender
from bot.pull_request.checks import CheckAnnotation, CheckRunText
from bot.pull_request.diff import Suggestion, hunks, new_side_lines
from bot.pull_request.effects import PostSuggestions, ShowCheckRun
from bot.store.model import LaneClaim, OutboxRow, RowState
from bot.values import Conclusion, Repository
from tests.fake_store import FakeStore

CLAIM = LaneClaim("pr:1:1", 5, 1, 1, 0, (), ())


class Store(FakeStore):
    """What was marked, in order."""

    def __init__(self) -> None:
        self.marks: list[str] = []

    async def mark_sending(self, row):
        self.marks.append("sending")
        return row

    async def mark_ready(self, row):
        self.marks.append("ready")
        return row

    def mark_sent(self, _row, _sticky, _then):
        self.marks.append("sent")

    async def spend_write(self, _installation_id, _priority):
        return 0

    async def load_blocks(self, _installation_id):
        return ()


def now():
    return datetime.now(UTC)


def row(effect, seconds_ago=None):
    if seconds_ago is None:
        return OutboxRow("r", "pr:1:1", effect, RowState.READY)
    return OutboxRow("r", "pr:1:1", effect, RowState.SENDING, now() - timedelta(seconds=seconds_ago))


@pytest.fixture
async def github(fake_github_server):
    return await fake_github_server()


@pytest.fixture
def place(github):
    return github.repository("acme/kb")


@pytest.fixture
def pull(github, place):
    return github.open_pull_request(place, "bob")


@pytest.fixture
def repository(github, place):
    return Repository(place.id, "acme", "kb", github.installation_of(place).id)


@pytest.fixture
def store():
    return Store()


@pytest.fixture
async def write(github, keys, store, place):  # noqa: ARG001  the App is installed there
    key = AppKey(4242, keys.private_pem)
    async with connect_github(key, github.api_url, github.graphql_url, seconds=60) as client:
        sender = Sender(store, client, now)

        async def write(effect, **lost):
            await sender.send(CLAIM, (row(effect, **lost),), None)

        yield write


def shown(repository, pull, title="Rejected", places="p1"):
    return ShowCheckRun(
        repository, CheckRunText("whetstone/gates", pull.head_sha, Conclusion.FAILURE, title, "s", places)
    )


def offered(repository, pull, *lines):
    suggestions = tuple(Suggestion("claims/first.md", line, "```suggestion\nx\n```") for line in lines)
    return PostSuggestions(
        repository, pull.number, pull.head_sha, '<!-- SUGGESTIONS: {"v": 1} -->\n\nFixes.', suggestions
    )


async def test_a_check_run_whose_answer_was_lost_is_adopted(github, write, store, repository, pull):
    effect = shown(repository, pull)
    github.lose_answer("POST", "*/check-runs")
    with pytest.raises(GitHubUnavailable):
        await write(effect)
    with pytest.raises(RetryLater):
        await write(effect, seconds_ago=1)
    await write(effect, seconds_ago=6)
    assert (len(pull.repository.check_runs), store.marks) == (1, ["sending", "sent"])


async def test_the_same_places_are_an_update_and_others_a_new_run(write, place, repository, pull):
    for title, places in (("One", "p1"), ("Two", "p1"), ("Three", "p2")):
        effect = shown(repository, pull, title, places)
        await write(effect)
    assert [run.title for run in place.check_runs.values()] == ["Two", "Three"]


async def test_a_check_run_whose_places_are_refused_is_written_without_them(
    github, write, place, repository, pull
):
    told = replace(
        shown(repository, pull).said, annotations=(CheckAnnotation("a.md", 1, 1, "m", "t", "failure"),)
    )
    effect = ShowCheckRun(repository, told)
    github.fail("POST", "*/check-runs", status=422)
    await write(effect)
    assert [(run.title, run.annotations) for run in place.check_runs.values()] == [("Rejected", [])]


async def test_suggestions_whose_answer_was_lost_are_not_sent_again(github, write, store, repository, pull):
    effect = offered(repository, pull, 1)
    github.lose_answer("POST", "*/reviews")
    with pytest.raises(GitHubUnavailable):
        await write(effect)
    await write(effect, seconds_ago=6)
    assert (len(pull.reviews), store.marks) == (1, ["sending", "sent"])


async def test_suggestions_that_never_arrived_are_sent_after_all(github, write, repository, pull):
    effect = offered(repository, pull, 1)
    github.reset("POST", "*/reviews")
    with pytest.raises(GitHubUnavailable):
        await write(effect)
    await write(effect, seconds_ago=6)
    assert len(pull.reviews) == 1


async def test_what_the_rate_limit_kept_from_being_written_is_not_looked_up(
    github, write, store, repository, pull
):
    github.fail("POST", "*/reviews", status=429)
    with pytest.raises(RateLimited):
        await write(offered(repository, pull, 1))
    assert store.marks == ["sending", "ready"]


async def test_where_no_line_is_in_the_diff_nothing_is_offered(write, store, repository, pull):
    effect = offered(repository, pull, 99)
    await write(effect)
    assert (pull.reviews, store.marks) == ({}, ["sending", "sent"])


def test_the_lines_of_a_diff_that_take_a_comment_are_those_of_the_new_side():
    patch = "@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n@@ -20 +20,2 @@\n e\n+f\n\\ No newline at end of file"
    assert set(new_side_lines(hunks(patch))) == {1, 2, 3, 20, 21}
