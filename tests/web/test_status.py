"""The status page as an operator, and as a stranger, sees it."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest

from bot import app
from bot.store.lanes import pause_installation
from bot.store.model import ReconcileOutcome, TurnResult
from bot.store.status import MAX_ROWS
from bot.turn.store import apply_turn
from bot.web.monitoring import format_age
from tests.journeys.harness import Harness
from tests.journeys.postgres import run_postgres
from tests.store.store_builders import claim_one, make_delivery

TOKEN = "made-up-metrics-token"
NAMES = ("acme", "knowledge", "alice", "rio-agent")


@pytest.fixture
async def status(store_url):
    """A server that has answered one rejection, and a way to look at its status."""
    harness = Harness(store_url)
    knowledge = harness.github.repository("acme/knowledge", collaborators={"alice": "write"})
    pull = harness.github.open_pull_request(knowledge, "rio-agent[bot]")
    settings = {"metrics_token": TOKEN}
    async with (
        harness.github,
        app.run_instance(replace(harness.settings, **settings)) as bot,
        aiohttp.ClientSession() as session,
    ):
        harness.bot = bot
        address = "http://{}:{}".format(*bot.address)
        harness.github.webhook_url = f"{address}/webhook"
        harness.github.submit_review(pull, "alice", "CHANGES_REQUESTED", "<!-- ISSUES: date_errors -->")
        await harness.wait_until_idle()

        async def look(path="/status.json", token=None):
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            async with session.get(address + path, headers=headers) as answer:
                content = await (answer.json() if path.endswith(".json") else answer.text())
                return answer.status, content, answer.headers

        look.harness, look.installation = harness, harness.github.installation_of(knowledge).id
        yield look


async def look_at(url, path, token=None):
    """What a server that only serves, on this store, answers."""
    settings = replace(Harness(url).settings, api_url="http://127.0.0.1:9", metrics_token=TOKEN)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with app.run_instance(settings, work=False) as bot, aiohttp.ClientSession() as session:
        host, port = bot.address
        async with session.get(f"http://{host}:{port}{path}", headers=headers) as answer:
            return await (answer.json() if path.endswith(".json") else answer.text())


async def park(store, *names):
    """Give up on these deliveries, with a name in their error."""
    for name in names:
        await store.accept(make_delivery(name))
        error = "Forbidden: alice may not <b>write</b> to acme/knowledge"
        claim = await claim_one(store)
        await apply_turn(store, claim, TurnResult(None, (), (), parked=((name, error),)))
        await store.release(claim)


async def test_parked_deliveries_are_listed_with_ids_and_reasons_alone(store, store_url):
    await park(store, "weekly:4711", "d1")
    told = await look_at(store_url, "/status.json")
    shown = [(one["id"], one["reason"]) for one in told["parked"]["deliveries"]]
    assert shown == [("d1", "Forbidden"), ("own delivery", "Forbidden")]
    assert [name for name in (*NAMES, "4711") if name in str(told)] == []


async def test_the_operator_is_told_the_whole_reason(store, store_url):
    await park(store, "weekly:4711")
    (one,) = (await look_at(store_url, "/status.json", TOKEN))["parked"]["deliveries"]
    assert (one["id"], one["lane"]) == ("weekly:4711", "pull:77:212")
    assert one["reason"] == "Forbidden: alice may not <b>write</b> to acme/knowledge"
    assert "alice" not in str(await look_at(store_url, "/status.json", "another-token"))


async def test_what_the_page_quotes_is_escaped(store, store_url):
    await park(store, "d1")
    text = await look_at(store_url, "/", TOKEN)
    assert ("<b>write</b>" in text, "&lt;b&gt;write" in text) == (False, True)
    assert "1 parked delivery." in text


async def test_of_many_parked_deliveries_the_newest_are_shown_and_the_others_counted(store, store_url):
    await park(store, *(f"d{number}" for number in range(MAX_ROWS + 3)))
    told = (await look_at(store_url, "/status.json"))["parked"]
    assert (told["count"], len(told["deliveries"])) == (MAX_ROWS + 3, MAX_ROWS)
    assert "and 3 more" in await look_at(store_url, "/")


async def test_the_oldest_waiting_delivery_shows_its_age(store, store_url):
    long_ago = datetime.now(UTC) - timedelta(minutes=10)
    await store.accept(make_delivery("d1", received_at=long_ago))
    await store.accept(make_delivery("d2", received_at=datetime.now(UTC)))
    told = await look_at(store_url, "/status.json")
    assert (told["queue"]["deliveries"], told["queue"]["lanes_due"]) == (2, 1)
    assert 600 <= told["queue"]["oldest_seconds"] < 900
    assert "10 minutes" in await look_at(store_url, "/")


async def test_the_last_look_for_missed_deliveries_is_told(store, store_url):
    assert (await look_at(store_url, "/status.json"))["reconciled_seconds"] is None
    assert await store.begin_reconcile(every=600)
    await store.end_reconcile(ReconcileOutcome(is_complete=True))
    assert (await look_at(store_url, "/status.json"))["reconciled_seconds"] < 300


async def test_a_store_that_is_away_is_said_on_the_page():
    with run_postgres() as postgres:
        settings = replace(Harness(postgres.url).settings, api_url="http://127.0.0.1:9")
        async with app.run_instance(settings, work=False) as bot, aiohttp.ClientSession() as session:
            await postgres.stop()
            for path, said in (
                ("/", "The store is unavailable."),
                ("/status.json", "The store is unavailable."),
            ):
                async with session.get("http://{}:{}{}".format(*bot.address, path)) as answer:
                    assert (answer.status, said in await answer.text()) == (503, True)


async def test_the_state_of_the_service_is_told_in_numbers(status, store_url):
    code, told, headers = await status()
    assert (code, headers["Cache-Control"]) == (200, "no-store")
    assert told["store"].startswith("SQLite" if store_url.startswith("sqlite") else "PostgreSQL 1")
    assert re.fullmatch(r"\d+\.\d+\.\d+", told["version"])
    assert told["queue"] == {"deliveries": 0, "lanes_due": 0, "owed_writes": 0, "oldest_seconds": None}
    assert 0 <= told["last_delivery_seconds"] < 300
    assert told["parked"] == {"count": 0, "deliveries": []}


async def test_budgets_are_told_by_installation(status):
    until = datetime.now(UTC) + timedelta(minutes=5)
    await status.harness.bot.store.write(pause_installation, status.installation, until)
    _, told, _ = await status()
    (budget,) = (row for row in told["budgets"] if row["installation"] == status.installation)
    assert 0 < budget["requests_left"] < budget["requests_limit"] == 5000
    assert (budget["writes_last_minute"], budget["writes_last_hour"], budget["writes_limits"]) == (
        1,
        1,
        [80, 500],
    )
    assert 200 < budget["paused_seconds"] <= 300


async def test_nobody_is_named_without_the_token(status):
    for path in ("/", "/status.json"):
        _, told, _ = await status(path)
        assert [name for name in NAMES if name in str(told)] == []


async def test_the_page_needs_no_script_and_lets_none_in(status):
    code, text, headers = await status("/")
    assert (code, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'nonce-")
    assert ("<script" in text, "prefers-color-scheme:dark" in text) == (False, True)
    assert "No parked deliveries." in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "never"),
        (0.4, "0 s"),
        (119, "119 s"),
        (120, "2 minutes"),
        (7_300, "2 hours"),
        (200_000, "2 days"),
    ],
)
def test_an_age_is_written_as_people_say_it(seconds, text):
    assert format_age(seconds) == text
