"""A repository's week, from the clock to its one issue, over real HTTP."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta

import pytest

from bot import app
from bot.inbox.heartbeat import HeartbeatSettings
from bot.inbox.internal_deliveries import weekly_delivery
from bot.markdown.escape import parse_marker
from bot.resources import utc_now
from bot.store.repositories import find_repository
from bot.turn.rule_book import default_rules
from bot.weekly.schedule import WeeklySchedule
from bot.weekly.store import has_weekly_run
from tests.journeys.server_process import ServerProcess
from tests.live_markdown import live_references

REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
DATE = "<!-- ISSUES: date_errors -->"
WEDNESDAY = datetime(2026, 11, 11, 10, tzinfo=UTC)
MONDAY = datetime(2026, 11, 16, 9, 0, 5, tzinfo=UTC)


def at(harness, moment: datetime) -> None:
    """GitHub's clock and the bot's show this time."""
    harness.clock_offset = moment - datetime.now(UTC)


@asynccontextmanager
async def instance(harness):
    """One more bot on the same store, by the harness's clock."""
    async with app.run_instance(harness.settings, clock=harness.clock) as made:
        host, port = made.address
        harness.github.webhook_url = f"http://{host}:{port}/webhook"
        harness.bot = made
        await made.worker.wait_until_idle()
        yield made


async def a_week(harness, knowledge, pulls: int = 3, wednesday: datetime = WEDNESDAY) -> None:
    """So many pull requests are judged on Wednesday, all but the last rejected."""
    at(harness, wednesday)
    for number in range(pulls):
        pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
        harness.advance_clock()
        harness.github.submit_review(pull, "alice", REJECT if number < pulls - 1 else APPROVE, DATE)
    await harness.wait_until_idle()
    at(harness, MONDAY)


def issues(repository) -> list:
    return [each for each in repository.threads.values() if each.title == "Weekly feedback summary"]


async def test_monday_tells_the_week_that_ended_once(harness, knowledge):
    async with instance(harness) as bot:
        await a_week(harness, knowledge)
        for _ in range(3):
            await bot.weekly_scheduler.tick()
        await harness.wait_until_idle()
    (issue,) = issues(knowledge)
    (comment,) = harness.github.comments_of(issue)
    marker = parse_marker("WEEKLY-SUMMARY", issue.body)
    assert [label.name for label in issue.labels] == ["feedback-summary"]
    assert (marker["week"], marker["total_prs"], marker["rejected_prs"]) == ("2026-W46", 3, 2)
    assert comment.body.splitlines()[2].startswith("**Week 46**: 3 pull requests reviewed, 2 rejected")
    own = f"https://github.com/acme/knowledge/issues/{issue.number}"
    assert live_references(issue.body) + live_references(comment.body, own) == []


async def test_untagged_findings_are_told_as_a_share_with_the_likeliest_gates(harness, knowledge):
    async with instance(harness) as bot:
        await a_week(harness, knowledge)
        at(harness, WEDNESDAY)
        pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
        harness.advance_clock()
        remarks = "- There are no tests for this.\n- The second part says what the first one said.\n"
        harness.github.submit_review(pull, "alice", REJECT, remarks)
        await harness.wait_until_idle()
        at(harness, MONDAY)
        await bot.weekly_scheduler.tick()
        await harness.wait_until_idle()
    (issue,) = issues(knowledge)
    assert "\n2 of 4 findings had no tag; most look like Test coverage.\n" in issue.body
    assert "tests_missing" not in issue.body, "what is only inferred is no tag"


async def test_too_little_is_not_told(harness, knowledge):
    async with instance(harness) as bot:
        await a_week(harness, knowledge, pulls=2)
        await bot.weekly_scheduler.tick()
        await harness.wait_until_idle()
        assert await bot.store.read(has_weekly_run, knowledge.id, "2026-W46")
    assert issues(knowledge) == []


async def test_nothing_is_told_before_nine_and_a_missed_week_is_caught_up(harness, knowledge):
    async with instance(harness) as bot:
        await a_week(harness, knowledge)
        at(harness, MONDAY - timedelta(minutes=1))
        early = await bot.weekly_scheduler.tick()
        await harness.wait_until_idle()
        early_issues = issues(knowledge)
    at(harness, MONDAY + timedelta(days=3))
    async with instance(harness) as bot:
        await bot.weekly_scheduler.tick()
        await harness.wait_until_idle()
    assert (early, early_issues) == (1, [])
    assert [parse_marker("WEEKLY-SUMMARY", each.body)["week"] for each in issues(knowledge)] == ["2026-W46"]


async def test_the_next_week_rewrites_the_issue_and_adds_its_comment(harness, knowledge):
    async with instance(harness) as bot:
        await a_week(harness, knowledge)
        await bot.weekly_scheduler.tick()
        await harness.wait_until_idle()
        at(harness, WEDNESDAY + timedelta(days=7))
        for _ in range(3):
            pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
            harness.advance_clock()
            harness.github.submit_review(pull, "alice", APPROVE)
        await harness.wait_until_idle()
        at(harness, MONDAY + timedelta(days=7))
        await bot.weekly_scheduler.tick()
        await harness.wait_until_idle()
    (issue,) = issues(knowledge)
    before, newest = harness.github.comments_of(issue)
    weeks = [parse_marker("WEEKLY-SUMMARY", shown.body)["week"] for shown in (issue, before, newest)]
    assert weeks == ["2026-W47", "2026-W46", "2026-W47"]
    # The newest comment leads to the description; the one before holds its own week, now that it moved on.
    own = f"https://github.com/acme/knowledge/issues/{issue.number}"
    assert newest.body.endswith(f" [The whole week]({own}#issue-{issue.id}).\n")
    assert "[The whole week]" not in before.body
    assert "<summary>The whole week</summary>\n\n## Week 46 · 9–15 November 2026\n" in before.body
    assert live_references(before.body) == []


async def test_a_summary_on_demand_keeps_the_finished_week_in_its_comment(harness, knowledge):
    async with instance(harness) as bot:
        await a_week(harness, knowledge)
        await bot.weekly_scheduler.tick()
        await harness.wait_until_idle()
        pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
        harness.advance_clock()
        harness.github.submit_review(pull, "alice", REJECT, DATE)
        await harness.wait_until_idle()
        (issue,) = issues(knowledge)
        (comment,) = harness.github.comments_of(issue)
        bodies = []
        for key in ("by-hand-1", "by-hand-2"):
            repository = await bot.store.read(find_repository, knowledge.id)
            await bot.store.accept(weekly_delivery(repository, "", utc_now(), key))
            await harness.wait_until_idle()
            bodies.append(comment.body)
    assert "## Week 47 so far" in issue.body
    assert "<summary>The whole week</summary>\n\n## Week 46 · 9–15 November 2026\n" in comment.body
    assert bodies[0] == bodies[1]


async def test_closing_the_issue_stops_it_and_reopening_resumes_it(harness, knowledge):
    async with instance(harness) as bot:
        await a_week(harness, knowledge)
        await bot.weekly_scheduler.tick()
        await harness.wait_until_idle()
        (issue,) = issues(knowledge)
        body = issue.body
        harness.github.close(issue, by="alice")
        pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
        harness.advance_clock()
        harness.github.submit_review(pull, "alice", REJECT, DATE)
        await harness.wait_until_idle()
        await bot.store.accept(
            weekly_delivery(await bot.store.read(find_repository, knowledge.id), "", utc_now(), "by-hand-1")
        )
        await harness.wait_until_idle()
        closed = issue.body
        harness.github.reopen(issue, by="alice")
        await bot.store.accept(
            weekly_delivery(await bot.store.read(find_repository, knowledge.id), "", utc_now(), "by-hand-2")
        )
        await harness.wait_until_idle()
    assert closed == body
    assert parse_marker("WEEKLY-SUMMARY", issue.body)["week"] == "2026-W47"
    assert len(harness.github.comments_of(issue)) == 1


async def test_an_issue_whose_answer_was_lost_is_not_made_twice(harness, knowledge):
    async with instance(harness) as bot:
        await a_week(harness, knowledge)
        harness.github.lose_answer("POST", "*/issues")
        await bot.weekly_scheduler.tick()
        await harness.github.until(
            lambda: issues(knowledge) and harness.github.comments_of(issues(knowledge)[0])
        )
        await harness.wait_until_idle()
    assert [len(harness.github.comments_of(issue)) for issue in issues(knowledge)] == [1]


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
async def test_two_instances_of_which_one_is_killed_tell_one_week(harness, knowledge):
    week = WeeklySchedule.from_rules(default_rules()).latest_due(datetime.now(UTC))
    async with app.run_instance(harness.settings, clock=harness.clock, weekly=False) as early:
        host, port = early.address
        harness.github.webhook_url, harness.bot = f"http://{host}:{port}/webhook", early
        await a_week(harness, knowledge, wednesday=week.window(UTC).start + timedelta(days=2))
    harness.clock_offset = timedelta(0)
    harness.github.lose_answer("POST", "*/issues")
    killed = ServerProcess(harness)
    await killed.start()
    await harness.github.until(lambda: issues(knowledge))
    await killed.kill()
    quick = HeartbeatSettings(interval=0.2, late_after=5.0, lease=1.0)
    async with app.run_instance(harness.settings, heartbeat=quick) as other:
        harness.bot = other
        await harness.github.until(lambda: harness.github.comments_of(issues(knowledge)[0]))
        await other.weekly_scheduler.tick()
        await harness.wait_until_idle()
    (issue,) = issues(knowledge)
    assert [
        parse_marker("WEEKLY-SUMMARY", each.body)["week"] for each in harness.github.comments_of(issue)
    ] == [str(week)]
    assert parse_marker("WEEKLY-SUMMARY", issue.body)["week"] == str(week)


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
async def test_the_calendar_waits_for_the_first_heartbeat_of_a_server_that_starts(harness, knowledge, caplog):
    async with instance(harness):
        await a_week(harness, knowledge)
    at(harness, MONDAY)
    with closing(sqlite3.connect(harness.database_url.removeprefix("sqlite:///"))) as file:
        file.execute("CREATE TRIGGER deaf BEFORE UPDATE ON instance BEGIN SELECT RAISE(ABORT, 'deaf'); END")
        async with app.run_instance(
            harness.settings, clock=harness.clock, heartbeat=HeartbeatSettings(interval=0.2)
        ):
            async with asyncio.timeout(60):
                while "can't record the heartbeat" not in caplog.text:  # noqa: ASYNC110  a log line is no event
                    await asyncio.sleep(0.05)
            file.execute("DROP TRIGGER deaf")
            await harness.github.until(lambda: issues(knowledge))
    assert [record.message for record in caplog.records if record.name == "whetstone.clock"] == []
