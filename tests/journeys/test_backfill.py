"""A repository's past, brought in after the fact: as if the bot had been there, and without a word."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot import app
from bot.cli import run_command_line
from bot.cli.backfill import run_backfill
from bot.cli.history import all_author_patterns, author_history
from bot.fakegithub.reviews import InlineDraft
from bot.history.store import load_records
from bot.resources import open_existing_store
from bot.store.model import JobFailed
from bot.store.pull_requests import load_newest_pull_requests
from bot.store.repositories import find_repository
from tests.journeys.harness import SECRET

REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
DATE = "<!-- ISSUES: date_errors -->"
MANY = 60
HOUR, DAY = 3600, 86_400
ACME = ("acme", "knowledge")


@pytest.fixture
def alone(harness, unused_tcp_port):
    """The harness's settings, with nobody at the port."""
    return replace(harness.settings, port=unused_tcp_port)


@asynccontextmanager
async def present(harness, url):
    """The bot on a store of its own, by the harness's clock."""
    async with app.run_instance(replace(harness.settings, database_url=url), clock=harness.clock) as made:
        host, port = made.address
        harness.github.webhook_url = f"http://{host}:{port}/webhook"
        harness.bot = made
        yield made
    harness.github.webhook_url = harness.bot = None


def lived(harness, knowledge) -> None:
    """Forty days in which things were rejected, fixed, merged, given up, and left alone."""
    github = harness.github
    harness.clock_offset = timedelta(days=-40)
    fixed = github.open_pull_request(knowledge, "rio-agent[bot]")
    harness.advance_clock(HOUR)
    github.submit_review(fixed, "alice", REJECT, DATE)
    harness.advance_clock(HOUR)
    github.push(fixed, {"notes/one.md": b"one\n"})
    harness.advance_clock(HOUR)
    github.submit_review(fixed, "alice", APPROVE)
    harness.advance_clock(HOUR)
    github.merge(fixed, by="alice")
    harness.advance_clock(DAY)
    inline = github.open_pull_request(knowledge, "rio-agent[bot]")
    harness.advance_clock(HOUR)
    place = InlineDraft("notes/claim.md", "[near_duplicate] as in the other one", 1)
    github.push(inline, {"notes/claim.md": b"a claim\n"})
    harness.advance_clock(HOUR)
    github.submit_review(inline, "bob", REJECT, "Please look again.", [place])
    harness.advance_clock(HOUR)
    github.close(inline, by="bob")
    harness.advance_clock(DAY)
    dead = github.open_pull_request(knowledge, "sam")
    harness.advance_clock(HOUR)
    github.submit_review(dead, "alice", REJECT, DATE)
    github.submit_review(dead, "carol", REJECT, "<!-- ISSUES: scope_error -->")
    harness.advance_clock(DAY)
    quiet = github.open_pull_request(knowledge, "rio-agent[bot]")
    harness.advance_clock(HOUR)
    github.merge(quiet, by="alice")
    harness.advance_clock(DAY)
    worse = github.open_pull_request(knowledge, "sam")
    for _ in range(5):
        harness.advance_clock(HOUR)
        github.push(worse, {"notes/two.md": harness.clock().isoformat().encode()})
        harness.advance_clock(2)
        github.submit_review(worse, "alice", REJECT, "<!-- ISSUES: date_errors, scope_error -->")
    harness.clock_offset = timedelta(days=-1)
    github.comment(dead, "sam", "Is anybody there?")


async def told(url, monkeypatch) -> list:
    """Everything that the terminal tells of the two authors and of everybody."""
    monkeypatch.setenv("DATABASE_URL", url)
    everybody = [await all_author_patterns("acme/knowledge", hours) for hours in (24 * 30, 24 * 90)]
    return [
        *everybody,
        await author_history("acme/knowledge", "rio-agent[bot]", 24 * 90),
        await author_history("acme/knowledge", "sam", 24 * 90),
    ]


async def filled(settings, since=None) -> int:
    """How many pull requests a whole backfill read."""
    async with aclosing(run_backfill(settings, "acme/knowledge", since)) as steps:
        return [progress.done async for progress in steps][-1]


def written(harness) -> list[str]:
    """Everything that was written to GitHub."""
    asked = [each for each in harness.github.asked() if each.method != "GET"]
    return [f"{each.method} {each.path}" for each in asked if not each.path.endswith("/access_tokens")]


def lists(harness) -> list[str]:
    """The pages of pull requests that were asked for and given."""
    asked = harness.github.asked("GET", "*/acme/knowledge/pulls")
    return [each.query.get("page", "1") for each in asked if each.status == 200]


async def records(url) -> dict:
    """What is remembered, by number."""
    async with open_existing_store(url) as store:
        where = await store.read(find_repository, "acme/knowledge")
        found = await store.read(load_records, where.id, datetime(2000, 1, 1, tzinfo=UTC))
    return {each.number: each for each in found}


def many(harness, knowledge) -> None:
    """More pull requests than fit on a page, merged without a word."""
    harness.clock_offset = timedelta(days=-3)
    for _ in range(MANY):
        harness.github.merge(harness.github.open_pull_request(knowledge, "rio-agent[bot]"), by="alice")
    harness.clock_offset = timedelta(0)


@pytest.fixture
def witnessed(empty_sqlite_file, tmp_path) -> str:
    """A store of its own for the bot that was there."""
    return f"sqlite:///{shutil.copy(empty_sqlite_file, tmp_path / 'witness.db')}"


async def test_the_history_is_as_if_the_bot_had_been_there(harness, knowledge, alone, witnessed, monkeypatch):
    async with present(harness, witnessed):
        lived(harness, knowledge)
        await harness.wait_until_idle()
    harness.clock_offset = timedelta(0)
    assert await filled(alone) == 5
    assert await told(alone.database_url, monkeypatch) == await told(witnessed, monkeypatch)


async def test_nothing_is_posted_and_what_comes_later_is_answered_as_ever(harness, knowledge, alone):
    lived(harness, knowledge)
    harness.clock_offset = timedelta(0)
    await filled(alone)
    assert written(harness) == []
    rejected = knowledge.threads[5]
    async with harness.run_bot():
        harness.github.submit_review(rejected, "alice", REJECT, DATE)
        await harness.wait_until_idle()
    (marker,) = harness.markers(rejected)
    assert (marker["issues"], marker["iteration"], marker["verdict"]) == (
        ["scope_error", "date_errors"],
        5,
        "escalate",
    )


async def test_twice_is_once(harness, knowledge, alone):
    lived(harness, knowledge)
    harness.clock_offset = timedelta(0)
    await filled(alone)
    once = await records(alone.database_url)
    await filled(alone)
    assert (await records(alone.database_url), sorted(once), written(harness)) == (once, [1, 2, 3, 4, 5], [])


async def test_only_what_changed_since_the_day_is_read(harness, knowledge, alone):
    lived(harness, knowledge)
    harness.clock_offset = timedelta(0)
    since = datetime.now(UTC) - timedelta(days=37, hours=12)
    assert await filled(alone, since) == 3
    assert sorted(await records(alone.database_url)) == [3, 4, 5]


async def test_an_interrupted_one_goes_on_where_it_was(harness, knowledge, alone):
    many(harness, knowledge)
    harness.github.fail("GET", "*/acme/knowledge/pulls", status=502, skip=1)
    async with aclosing(run_backfill(alone, "acme/knowledge", None)) as steps:
        async for _ in steps:
            if len(harness.github.asked("GET", "*/acme/knowledge/pulls")) == 2:
                break
    before = len(await records(alone.database_url))
    read = await filled(alone)
    assert (before < MANY, read, len(await records(alone.database_url))) == (True, MANY, MANY)
    assert lists(harness) == ["1", "2"]


async def test_the_running_server_does_it_beside_its_daily_work(harness, knowledge):
    many(harness, knowledge)
    async with harness.run_bot() as bot:
        settings = replace(harness.settings, port=bot.address[1])
        pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
        async with aclosing(run_backfill(settings, "acme/knowledge", None)) as steps:
            seen = [await anext(steps)]
            harness.github.submit_review(pull, "alice", REJECT, DATE)
            seen += [progress async for progress in steps]
        await harness.wait_until_idle()
    assert (seen[-1].done, seen[-1].finished) == (MANY + 1, True)
    assert len(await records(settings.database_url)) == MANY + 1
    assert [marker["issues"] for marker in harness.markers(pull)] == [["date_errors"]]
    assert len(written(harness)) == 1


async def test_a_limit_of_github_is_waited_for_and_said(harness, knowledge, alone):
    lived(harness, knowledge)
    harness.clock_offset = timedelta(0)
    harness.github.limit_secondary(60, pattern="*/reviews", times=8)
    begun = datetime.now(UTC)
    async with aclosing(run_backfill(alone, "acme/knowledge", None)) as steps:
        until = await anext(each.waits_until async for each in steps if each.waits_until)
    assert begun + timedelta(seconds=30) < until <= datetime.now(UTC) + timedelta(seconds=60)


async def test_the_last_quarter_of_the_hours_calls_is_left_to_the_daily_work(harness, knowledge, alone):
    lived(harness, knowledge)
    harness.clock_offset = timedelta(0)
    begun = datetime.now(UTC)
    budget = _budget(left=1249, resets=begun + timedelta(minutes=30))
    harness.github.fail("GET", "*/rate_limit", status=200, body=budget)
    async with aclosing(run_backfill(alone, "acme/knowledge", None)) as steps:
        until = await anext(each.waits_until async for each in steps if each.waits_until)
    assert (lists(harness), until > begun + timedelta(minutes=29)) == ([], True)


def _budget(*, left: int, resets: datetime) -> dict:
    rate = {"limit": 5000, "used": 5000 - left, "remaining": left, "reset": int(resets.timestamp())}
    return {"resources": {"core": rate, "search": rate, "graphql": rate}, "rate": rate}


async def test_somebody_forgotten_stays_forgotten(harness, knowledge, alone):
    pull = harness.github.open_pull_request(knowledge, "sam")
    harness.github.submit_review(pull, "alice", REJECT, DATE)
    await filled(alone)
    async with harness.run_bot():
        harness.advance_clock()
        harness.github.comment(pull, "sam", "/feedback-forget confirm")
        await harness.wait_until_idle()
    harness.advance_clock()
    harness.github.close(pull, by="alice")
    await filled(alone)
    (found,) = (await records(alone.database_url)).values()
    async with open_existing_store(alone.database_url) as store:
        (known,) = await store.read(load_newest_pull_requests, ACME)
    assert (found.author.login, known.author.login, known.title) == ("ghost", "ghost", "")


async def test_one_that_was_given_up_on_says_why_and_can_be_tried_again(harness, knowledge, alone):
    harness.github.open_pull_request(knowledge, "sam")
    refusal = {"message": "Resource not accessible by integration"}
    harness.github.fail("GET", "*/acme/knowledge/pulls", status=403, body=refusal)
    with pytest.raises(JobFailed, match="the App needs pull_requests=read"):
        await filled(alone)
    assert await filled(alone) == 1


@pytest.fixture
def typed(harness, alone, monkeypatch):
    """The commands find the harness by their environment."""
    for name, value in {
        "DATABASE_URL": alone.database_url,
        "GITHUB_APP_ID": str(alone.app_id),
        "GITHUB_PRIVATE_KEY": alone.private_key,
        "GITHUB_WEBHOOK_SECRET": SECRET,
        "GITHUB_API_URL": alone.api_url,
        "PORT": str(alone.port),
    }.items():
        monkeypatch.setenv(name, value)
    return harness


async def test_the_command_says_how_many_it_read(typed, knowledge, capsys):
    pull = typed.github.open_pull_request(knowledge, "sam")
    typed.github.submit_review(pull, "alice", REJECT, DATE)
    assert await asyncio.to_thread(run_command_line, ["backfill", "acme/knowledge"]) == 0
    assert capsys.readouterr() == (
        "1 pull request imported; nothing was posted.\n",
        "Importing acme/knowledge …\n",
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["acme/knowledge", "--since", "soon"], "--since must be a date such as 2026-01-31, not 'soon'"),
        (["knowledge"], "'knowledge' is not a repository; write it as OWNER/REPO"),
        (["acme/nothing"], "acme/nothing does not exist, or the App is not installed there"),
    ],
)
@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
@pytest.mark.usefixtures("typed")
async def test_bad_usage_is_one_clear_line(capsys, arguments, said):
    assert await asyncio.to_thread(run_command_line, ["backfill", *arguments]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"whetstone backfill: {said}"
