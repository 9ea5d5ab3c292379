"""A week of claims: who said what is so, in the metrics, the report, the log and the weekly summary."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest

from bot import app
from bot.fakegithub.pulls import PullRequestOptions

REJECT = "CHANGES_REQUESTED"
TOKEN = "made-up-metrics-token"
KNOWLEDGE = "/api/v1/repos/acme/knowledge"
WEDNESDAY = datetime(2026, 11, 11, 10, tzinfo=UTC)
MONDAY = datetime(2026, 11, 16, 9, 0, 5, tzinfo=UTC)
FILES = {
    "README.md": "# Knowledge\n",
    ".github/whetstone.yml": "version: 1\nauthors:\n  agents: [critic]\n",
    "src/auth.py": "TTL = 60\n\n\ndef parse_token(text):\n    return text\n",
    "config/app.yml": "timeout: 30\nretries: 3\n",
}
RIGHT = """
[scope_error] `timeout` is 30 in config/app.yml.

[date_errors] `retries` is 3 in config/app.yml.

[title_overclaims] src/auth.py contains `TTL = 60`.
"""
WRONG = """
[scope_error] `timeout` is 90 in config/app.yml. It could be better.

[date_errors] It fails with `TypeError: no text`.

[title_overclaims] ../other/config.py contains `a = 1`.
"""
OTHERS = """
[scope_error] `retries` is 4 in config/app.yml.

[near_duplicate] Maybe split it, perhaps by year.
"""
SAID = (("critic", RIGHT), ("critic", WRONG), ("alice", OTHERS))


@pytest.fixture
def store_url(sqlite_url) -> str:
    """One store is enough: the memory's own tests run on both."""
    return sqlite_url


@pytest.fixture
def knowledge(harness):
    return harness.github.repository(
        "acme/knowledge", collaborators={"alice": "write", "critic": "write", "carol": "read"}, files=FILES
    )


def at(harness, moment: datetime) -> None:
    harness.clock_offset = moment - datetime.now(UTC)


@asynccontextmanager
async def instance(harness):
    configuration = replace(harness.settings, metrics_token=TOKEN)
    async with app.run_instance(configuration, clock=harness.clock) as made:
        host, port = made.address
        harness.github.webhook_url = f"http://{host}:{port}/webhook"
        harness.bot = made
        yield made


async def the_week(harness, knowledge):
    """Each review is about a pull request of its own."""
    pulls = []
    for number, (who, words) in enumerate(SAID):
        opening = PullRequestOptions(files={f"claims/{number}.md": "# New\n"})
        pulls.append(harness.github.open_pull_request(knowledge, "rio-agent[bot]", opening))
        harness.advance_clock()
        harness.github.submit_review(pulls[-1], who, REJECT, words)
    await harness.wait_until_idle()
    return pulls


@pytest.fixture
async def week(harness, knowledge):
    """The week is over; gives its pull requests and a way to ask about it."""
    at(harness, datetime.now(UTC) - timedelta(hours=1))
    async with instance(harness) as bot, aiohttp.ClientSession() as session:
        host, port = bot.address
        pulls = await the_week(harness, knowledge)
        at(harness, datetime.now(UTC))

        async def ask(path, login=None, token=""):
            token = harness.github.tokens.for_user(harness.github.account(login)).token if login else token
            headers = {"Authorization": f"Bearer {token}"}
            async with session.get(f"http://{host}:{port}{path}", headers=headers) as answer:
                return await (answer.json() if "json" in answer.content_type else answer.text())

        yield pulls, ask


RATES = ("grounding_rate", "hallucination_rate", "verification_success_rate", "false_claim_rate")


# rows 144-147, 149
async def test_the_four_rates_of_a_validator_differ_and_a_persons_are_not_for_every_reader(week):
    _, ask = week
    readers = await ask(f"{KNOWLEDGE}/grounding", "carol")
    report = await ask(f"{KNOWLEDGE}/grounding", "alice")
    critic, alice = report["validators"]["critic"], report["validators"]["alice"]
    assert [critic[name] for name in RATES] == [0.5, 0.333, 0.6, 0.25]
    assert [alice[name] for name in RATES] == [0.0, 0.0, 0.0, 1.0]
    assert [report["all"][name] for name in RATES] == [0.429, 0.286, 0.5, 0.4]
    assert (report["all"]["vague_items"], report["all"]["items"]) == (1, 8)
    assert readers == report | {"validators": {"critic": critic}}


# rows 144-147
async def test_the_metrics_name_a_validator_only_with_the_token(week):
    _, ask = week
    anybody, operator = await ask("/metrics"), await ask("/metrics", token=TOKEN)
    named = [
        f'whetstone_validator_{name}{{repository="acme/knowledge",validator="critic"}} {value}'
        for name, value in zip(RATES, (0.5, 0.333, 0.6, 0.25), strict=True)
    ]
    assert [line for line in named if line not in operator] == []
    assert [word for word in ("validator=", "critic", "alice", "acme") if word in anybody] == []
    told = ("whetstone_grounding_rate", "whetstone_worded_items")
    assert [line for line in anybody.splitlines() if line.startswith(told)] == [
        'whetstone_worded_items{vague="yes"} 1.0',
        'whetstone_worded_items{vague="no"} 7.0',
        "whetstone_grounding_rate 0.429",
    ]


# rows 134, 148
async def test_the_log_of_a_pull_request_is_audited_against_its_head(harness, week):
    pulls, ask = week
    before = (await ask(f"{KNOWLEDGE}/pulls/{pulls[0].number}/feedback", "carol"))["grounding"]
    seen_at = pulls[0].head_sha[:7]
    harness.github.push(pulls[0], {"claims/more.md": "# More\n"})
    await harness.wait_until_idle()
    after = (await ask(f"{KNOWLEDGE}/pulls/{pulls[0].number}/feedback", "carol"))["grounding"]
    assert [(line["claim"], line["outcome"], line["source"]) for line in before["log"]] == [
        ("`timeout` is 30 in config/app.yml.", "verified", f"contents @ {seen_at}"),
        ("`retries` is 3 in config/app.yml.", "verified", f"contents @ {seen_at}"),
        ("src/auth.py contains `TTL = 60`.", "verified", f"contents @ {seen_at}"),
    ]
    assert [(found["audit"]["claims"], found["audit"]["passed"]) for found in (before, after)] == [
        (3, 3),
        (3, 0),
    ]
    assert {check for failed in after["audit"]["failed"] for check in failed["checks"]} == {
        "observation_timestamp_recent"
    }


# rows 46, 144-147
async def test_the_weekly_summary_counts_people_and_names_agents(harness, knowledge):
    at(harness, WEDNESDAY)
    async with instance(harness) as bot:
        await the_week(harness, knowledge)
        at(harness, MONDAY)
        await bot.weekly_scheduler.tick()
        await harness.wait_until_idle()
    (issue,) = [each for each in knowledge.threads.values() if each.title == "Weekly feedback summary"]
    assert (
        "<details><summary>Reviews: 3 of 7 claims confirmed (43%), 2 contradicted; "
        "1 of 8 items too vague to act on (13%)</summary>\n\n"
        "| Validator | Claims | Grounded | Ungrounded | Confirmed when looked up | False | Vague items |\n"
        "|---|--:|--:|--:|--:|--:|--:|\n"
        "| `critic` | 6 | 50% | 33% | 60% | 1 of 4 | 0% |\n"
        "| 1 person | 1 | 0 of 1 | 0 of 1 | 0 of 1 | 1 of 1 | 1 of 2 |\n\n</details>"
    ) in issue.body
    assert "alice" not in issue.body
