"""Five hundred rejections at once: GitHub's budgets are kept, and nobody else waits for them."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

import pytest

from bot import app
from bot.inbox.parse import lane_of_payload
from bot.store.model import Delivery
from tests.builders import START
from tests.journeys.harness import Harness

DATE = "<!-- ISSUES: date_errors -->"
SCOPE = "<!-- ISSUES: scope_error -->"
REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
BURST = 500


class FrozenHarness(Harness):
    """A harness in which no time passes, unless it is told to: for GitHub, the bot and its store alike."""

    def clock(self) -> datetime:
        return START + self.clock_offset


@pytest.fixture
async def harness(postgres_url):
    """GitHub that itself refuses the eighty-first write of a minute."""
    place = FrozenHarness(postgres_url)
    place.github.writes_per_minute = 80
    async with place.github:
        yield place


@pytest.fixture
def written(harness):
    """Every write to a thread: when, and in which repository."""
    writes = []

    def note(exchange) -> None:
        if exchange.method in {"POST", "PATCH"} and "/issues/" in exchange.path:
            writes.append((harness.clock(), exchange.params["owner"], exchange.status))

    harness.github.observers.append(note)
    return writes


async def test_a_burst_of_rejections_is_worked_off_within_the_budgets_newest_truth_first(harness, written):
    github = harness.github
    storm = pulls_of(github, "acme/knowledge", BURST)
    (calm,) = pulls_of(github, "globex/notes", 1)
    seen = len(github.deliveries)
    async with app.run_instance(
        harness.settings, clock=harness.clock, store_clock=harness.clock, serve=False
    ) as instance:
        for pull in (*storm, calm):
            github.submit_review(pull, "alice", REJECT, DATE)
        seen = await accepted(instance, harness, seen)
        await instance.wait_until_idle()

        # No time has passed: the storm has used its minute, and the other installation did not wait.
        assert [len(harness.comments(pull)) for pull in storm].count(1) == 80
        assert len(harness.comments(calm)) == 1
        assert [owner for _, owner, _ in written].index("globex") < 24

        # What changes while it waits is never shown as it was.
        shown = {pull.number for pull in storm if harness.comments(pull)}
        waiting = [pull for pull in storm if pull.number not in shown]
        approved, changed = waiting[-1], waiting[-2]
        harness.advance_clock(1)
        github.submit_review(approved, "alice", APPROVE, "")
        github.submit_review(changed, "alice", REJECT, SCOPE)
        await accepted(instance, harness, seen)
        await worked_off(instance, harness)

    assert harness.comments(approved) == []
    assert [
        [marker["issues"] for marker in harness.markers(pull)] for pull in storm if pull is not approved
    ] == [
        [["date_errors", "scope_error"] if pull is changed else ["date_errors"]]
        for pull in storm
        if pull is not approved
    ]
    times = [at for at, owner, _ in written if owner == "acme"]
    assert {status for _, _, status in written} == {201}
    assert (len(times), most_within(times, 60), most_within(times, 3600)) == (BURST - 1, 80, BURST - 1)
    assert harness.clock_offset < timedelta(minutes=7)


def pulls_of(github, name, count):
    repository = github.repository(name, collaborators={"alice": "write"})
    return [github.open_pull_request(repository, "rio-agent[bot]") for _ in range(count)]


async def accepted(instance, harness, since) -> int:
    """Every review since then is in the inbox; how many webhooks there are by now."""
    found = harness.github.deliveries.all[since:]
    await asyncio.gather(
        *(
            instance.store.accept(
                Delivery(
                    id=each.guid,
                    event=each.event,
                    lane=lane_of_payload(each.event, each.payload),
                    installation_id=each.payload["installation"]["id"],
                    body=each.body,
                    received_at=harness.clock(),
                )
            )
            for each in found
            if each.event == "pull_request_review"
        )
    )
    return since + len(found)


async def worked_off(instance, harness) -> None:
    """Time goes on to whenever something is due, until nothing is."""
    await instance.wait_until_idle()
    while (ahead := await instance.store.next_due()) is not None:
        assert harness.clock_offset < timedelta(hours=2)
        harness.advance_clock(ahead)
        await instance.wait_until_idle()


def most_within(times, seconds) -> int:
    return max(sum(start <= at < start + timedelta(seconds=seconds) for at in times) for start in times)
