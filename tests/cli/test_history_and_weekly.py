"""`whetstone history` and `whetstone weekly`, beside a server and without one."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from bot.cli import run_command_line
from bot.cli.history import _line, _row
from bot.cli.weekly import post_week
from bot.store.model import JobFailed
from tests.journeys.harness import KEYS, SECRET, Harness

REJECT = "CHANGES_REQUESTED"
DATE = "<!-- ISSUES: date_errors -->"


@pytest.fixture
def harness(sqlite_url, monkeypatch):
    """A harness whose store the commands use."""
    monkeypatch.setenv("DATABASE_URL", sqlite_url)
    return Harness(sqlite_url)


async def past(harness) -> None:
    """One rejected pull request."""
    where = harness.github.repository("acme/knowledge", collaborators={"alice": "write"})
    pull = harness.github.open_pull_request(where, "rio-agent[bot]")
    harness.github.submit_review(pull, "alice", REJECT, DATE)
    await harness.wait_until_idle()


@pytest.fixture
def lived(harness):
    """The harness's past is over and its bot is down."""

    async def live() -> None:
        async with harness.github, harness.run_bot():
            await past(harness)

    asyncio.run(live())


@pytest.mark.usefixtures("lived")
def test_the_history_of_one_author_reads_as_in_the_thread(capsys):
    assert run_command_line(["history", "acme/knowledge", "rio-agent"]) == 0
    out = capsys.readouterr().out
    assert "**Feedback history** — `rio-agent[bot]`, this repository, last 90 days" in out


@pytest.mark.usefixtures("lived")
def test_everybodys_history_as_json_has_the_documented_keys(capsys):
    assert run_command_line(["history", "ACME/knowledge", "--json", "--hours", "24"]) == 0
    found = json.loads(capsys.readouterr().out)["rio-agent[bot]"]
    assert (found["period_hours"], found["issue_breakdown"]) == (24, {"date_errors": 1})


@pytest.mark.usefixtures("lived")
def test_a_dry_run_prints_the_issue_of_the_running_week(capsys):
    assert run_command_line(["weekly", "acme/knowledge", "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("<!-- WEEKLY-SUMMARY: ")


def test_a_week_in_which_nothing_was_judged_is_said_not_to_be_told(harness, monkeypatch, capsys):
    async def live() -> None:
        async with harness.github, harness.run_bot():
            where = harness.github.repository("acme/knowledge")
            harness.github.open_pull_request(where, "rio-agent[bot]")
            await harness.wait_until_idle()

    asyncio.run(live())
    monkeypatch.setenv("GITHUB_APP_ID", "7")
    monkeypatch.setenv("GITHUB_PRIVATE_KEY", KEYS.private_pem)
    monkeypatch.setenv("GITHUB_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")  # nobody is asked
    assert run_command_line(["weekly", "acme/knowledge"]) == 0
    assert (
        capsys.readouterr().out == "No pull requests were reviewed this week, so there is nothing to post.\n"
    )


@pytest.mark.usefixtures("lived")
@pytest.mark.parametrize("command", [["history", "acme/nothing"], ["weekly", "acme/nothing", "--dry-run"]])
def test_an_unknown_repository_is_said_in_one_line(capsys, command):
    assert run_command_line(command) == 2
    assert capsys.readouterr().err == (
        f"whetstone {command[0]}: nothing is recorded about acme/nothing: no delivery has arrived from it yet; "
        "to import its earlier pull requests: whetstone backfill acme/nothing\n"
    )


@pytest.mark.usefixtures("lived")
def test_everybodys_history_is_told_in_words(capsys):
    assert run_command_line(["history", "acme/knowledge"]) == 0
    assert capsys.readouterr().out == (
        "rio-agent[bot]: 1 reviewed, 1 rejected, no trend yet; date_errors 1\n"
    )


def test_who_was_rejected_without_a_tag_broke_no_known_gate():
    known = {"total_prs": 6, "rejected_prs": 1, "trend": "stable", "issue_breakdown": {}}
    assert _line(known) == "6 reviewed, 1 rejected, stable; rejected without a tag"
    assert _line(known | {"rejected_prs": 0}) == "6 reviewed, 0 rejected, stable; no broken gates"


def test_on_a_terminal_everybodys_history_has_a_column_for_each_number():
    known = {"total_prs": 6, "rejected_prs": 2, "trend": "no_data", "issue_breakdown": {"date_errors": 2}}
    assert _row("rio", known) == ("rio", "6", "2", "", "date_errors 2")


@pytest.mark.usefixtures("lived")
def test_nothing_is_parked_where_all_went_well(capsys):
    assert (run_command_line(["parked"]), capsys.readouterr().out) == (0, "No parked deliveries.\n")
    assert run_command_line(["parked", "--retry", "nope"]) == 2


async def test_weekly_is_handed_to_the_running_server(harness):
    async with harness.github, harness.run_bot() as bot:
        await past(harness)
        settings = replace(harness.settings, port=bot.address[1])
        handed_over = await post_week(settings, "acme/knowledge")
        await harness.wait_until_idle()
        (where,) = harness.github.repositories.values()
        assert (handed_over, [each.title for each in where.threads.values()][1:]) == (
            True,
            ["Weekly feedback summary"],
        )


async def test_weekly_is_told_here_where_no_server_runs(harness, unused_tcp_port):
    async with harness.github:
        async with harness.run_bot():
            await past(harness)
        settings = replace(harness.settings, port=unused_tcp_port)
        handed_over = await post_week(settings, "acme/knowledge")
        (where,) = harness.github.repositories.values()
        assert (handed_over, len(where.threads)) == (False, 2)


async def test_weekly_does_not_wait_for_a_github_that_is_away(harness, unused_tcp_port):
    async with harness.github:
        async with harness.run_bot():
            await past(harness)
        away = replace(harness.settings, port=unused_tcp_port, api_url=f"http://127.0.0.1:{unused_tcp_port}")
        with pytest.raises(JobFailed, match="the job is kept"):
            await post_week(away, "acme/knowledge")
