"""Check runs for all open pull requests at once, as politely as if there were a hundred thousand."""

from dataclasses import replace

import pytest

from bot.gates.config import CheckPolicy, CheckRunRules, RepositoryRules
from bot.gates.rule_book import ConfigReport
from bot.github.model import PullRequestPage, RateBudget
from bot.inbox.backfill import MIN_STEP_PAUSE, CheckBackfill
from bot.inbox.parse import parse_delivery
from bot.inbox.retry import RetryLater
from bot.pull_request.events import CheckBackfillStep
from bot.store.model import Acceptance
from tests.builders import HEADS, REPOSITORY, at_minute, make_pull_request, make_snapshot
from tests.fake_store import FakeStore

ON = RepositoryRules(check=CheckRunRules(CheckPolicy.ALWAYS))
PAGE = 10


class GitHub:
    """A list of open pull requests, ten a page."""

    def __init__(self, count):
        self.open = [make_snapshot(number=number) for number in range(1, count + 1)]
        self.reads = 0
        self.left = 5000

    async def open_pull_requests_page(self, _repository, page):
        self.reads += 1
        first = int(page or 0)
        following = str(first + PAGE) if first + PAGE < len(self.open) else ""
        return PullRequestPage(tuple(self.open[first : first + PAGE]), following, None)

    async def budget(self, _repository):
        return RateBudget(self.left, 5000, at_minute(60))


class Store(FakeStore):
    """The pull requests that were queued, the steps, and a budget of so many writes at a time."""

    def __init__(self, room=10_000):
        self.handed, self.steps, self.known, self.room, self.paid = [], [], {}, room, 0
        self.ids = set()

    async def load_pull_request(self, lane):
        return self.known.get(lane)

    async def accept(self, delivery):
        if delivery.id in self.ids:
            return Acceptance.DUPLICATE
        self.ids.add(delivery.id)
        event = parse_delivery(delivery)
        if isinstance(event, CheckBackfillStep):
            self.steps.append(event)
        else:
            self.handed.append(event.pull_request.number)
        return Acceptance.QUEUED

    async def load_delivery(self, delivery_id):
        return delivery_id if delivery_id in self.ids else None

    async def spend_write(self, _installation_id, _priority):
        self.room -= 1
        self.paid += self.room >= 0
        return 0.0 if self.room >= 0 else 1.5


class RuleBook:
    """The same rules for everybody."""

    def __init__(self, rules=ON, report=None):
        self.known, self.shown = rules, report

    async def rules(self, _repository, _since=None):
        return self.known

    async def check_head(self, _repository, _head):
        return self.shown


def heads(github, store, rule_book=None):
    return CheckBackfill(store, github, rule_book or RuleBook(), lambda: at_minute(5))


async def walked(work, store, *, between=lambda: None):
    """Every step there is; a step that is told to wait is repeated as it was. Gives the waits."""
    waits = []
    await work.start(REPOSITORY, HEADS[0])
    done = 0
    while done < len(store.steps):
        try:
            await work.step(store.steps[done])
        except RetryLater as early:
            waits.append(early.seconds)
            store.room = 7
        else:
            done += 1
            between()
    return waits


async def test_every_open_pull_request_is_handed_on_once_however_often_it_has_to_wait():
    github, store = GitHub(95), Store(room=7)
    waits = await walked(heads(github, store), store)
    assert (store.handed, waits) == (list(range(1, 96)), [MIN_STEP_PAUSE] * 13)
    assert store.paid == 95


async def test_one_that_moves_to_an_earlier_page_meanwhile_is_found_by_the_next_pass():
    github, store = GitHub(25), Store()
    leaving = iter((github.open[0],))
    await walked(heads(github, store), store, between=lambda: [github.open.remove(each) for each in leaving])
    assert sorted(store.handed) == list(range(1, 26))


async def test_one_that_has_its_run_is_left_alone_and_costs_nothing():
    github, store = GitHub(2), Store(room=1)
    store.known[f"pr:{REPOSITORY.id}:1"] = make_pull_request(number=1, check="told")
    store.known[f"pr:{REPOSITORY.id}:2"] = make_pull_request(number=2, check="told", head=HEADS[1])
    await walked(heads(github, store), store)
    assert (store.handed, store.room) == ([2], 0)


async def test_where_the_config_asks_for_no_run_nothing_is_listed():
    github, store = GitHub(3), Store()
    await walked(heads(github, store, RuleBook(RepositoryRules())), store)
    assert (store.handed, github.reads) == ([], 0)


async def test_it_waits_while_github_shows_the_config_as_it_was_before_the_push():
    store = Store()
    work = heads(GitHub(1), store, RuleBook(report=ConfigReport("x", "success", 1)))
    await work.start(REPOSITORY, HEADS[0])
    with pytest.raises(RetryLater):
        await work.step(store.steps[0])
    await work.step(replace(store.steps[0], since=at_minute(0)))
    assert store.handed == [1]


async def test_the_daily_work_keeps_its_share_of_the_hours_calls():
    github, store = GitHub(1), Store()
    github.left = 100
    work = heads(github, store)
    await work.start(REPOSITORY, HEADS[0])
    with pytest.raises(RetryLater):
        await work.step(store.steps[0])
    assert (store.handed, github.reads) == ([], 0)
