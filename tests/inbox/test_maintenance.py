"""Whoever shuts us out for a while, by suspending or by limiting, gets all that was put off."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

import pytest

from bot.github.errors import RateLimited
from bot.inbox.internal_deliveries import config_broken_delivery, weekly_delivery
from bot.inbox.maintenance import MaintenanceProcessor
from bot.pull_request.effects import RemoveRepository, UpdateRepository
from bot.pull_request.events import InstallationEvent
from bot.store.deliveries import load_parked
from bot.store.model import LaneFenced, TurnResult
from bot.turn.store import apply_turn
from bot.weekly.schedule import WeeklyScheduler
from tests.builders import REPOSITORY, START
from tests.fake_store import FakeStore
from tests.store.store_builders import OTHER_LANE, claim_one, make_delivery


async def nothing(*_):
    """Nobody is let in anew."""


async def give_up(store, name: str, **facts) -> None:
    await store.accept(make_delivery(name, **facts))
    claim = await claim_one(store)
    await apply_turn(store, claim, TurnResult(None, (), (), ((name, "Forbidden: suspended"),)))
    await store.release(claim)


@pytest.mark.parametrize("action", ["unsuspend", "new_permissions_accepted"])
async def test_what_was_given_up_on_while_we_were_shut_out_is_tried_again(store, action):
    await give_up(store, "ours")
    await give_up(store, "others", lane=OTHER_LANE, installation_id=6)
    maintenance = MaintenanceProcessor(
        store, None, None, None, None, SimpleNamespace(start_for_installation=nothing)
    )
    await maintenance.process(None, [InstallationEvent(action, 5)])
    assert [each.id for each in await store.read(load_parked)] == ["others"]
    assert [one.id for one in (await claim_one(store)).deliveries] == ["ours"]


async def test_what_a_repository_that_is_back_has_to_catch_up_on_finds_it_at_home(store):
    """Else the first who takes it up would rest for a minute."""
    seen = replace(REPOSITORY, default_branch="")
    await store.accept(make_delivery("seen", "installation:5"))
    claim = await claim_one(store)
    commands = (UpdateRepository(REPOSITORY), RemoveRepository(REPOSITORY.id, 5))
    await apply_turn(store, claim, TurnResult(None, (), (), store_commands=commands))
    homes = []

    async def start_for_installation(_repositories):
        await store.accept(make_delivery("step", f"backfill:{REPOSITORY.id}:heads"))
        homes.extend(each.ownership for each in await store.claim(10))

    maintenance = MaintenanceProcessor(
        store, None, None, None, None, SimpleNamespace(start_for_installation=start_for_installation)
    )
    await maintenance.process(claim, [InstallationEvent("added", 5, added=(seen,))])
    assert homes == [None]


class Limited:
    """Rules that GitHub will not show before then."""

    def __init__(self, until) -> None:
        self.until = until
        self.asked = 0

    async def rules(self, _repository):
        self.asked += 1
        raise RateLimited(self.until)


class Calendar(FakeStore):
    """A store with one repository."""

    def __init__(self) -> None:
        self.paused = []

    async def find_active_repositories(self, _since):
        return (REPOSITORY,)

    async def pause_installation(self, installation_id, until):
        self.paused.append((installation_id, until))


async def test_a_limit_that_the_calendar_meets_is_the_installations():
    until = START + timedelta(minutes=10)
    now = [START]
    rules, store = Limited(until), Calendar()
    clock = WeeklyScheduler(store, rules, weekly_delivery, lambda: now[0])
    for minute in (0, 1, 9):
        now[0] = START + timedelta(minutes=minute)
        await clock.tick()
    assert (rules.asked, store.paused) == (1, [(REPOSITORY.installation_id, until)])
    now[0] = until
    await clock.tick()
    assert rules.asked == 2


class NotHeardOf(Calendar):
    """A store of a process that has just started: nothing may be asked at first."""

    def __init__(self) -> None:
        super().__init__()
        self.polls = 0
        self.looked = asyncio.Event()

    async def find_active_repositories(self, _since):
        self.polls += 1
        if self.polls < 3:
            raise LaneFenced("this process has had no heartbeat for too long")
        self.looked.set()
        return ()


async def test_a_calendar_that_may_not_ask_yet_looks_again_soon():
    store = NotHeardOf()
    running = asyncio.create_task(
        WeeklyScheduler(store, None, weekly_delivery, lambda: START, retry_seconds=0.0).run()
    )
    await asyncio.wait_for(store.looked.wait(), 60)
    running.cancel()
    assert store.polls == 3


def test_a_config_that_is_broken_again_with_the_same_text_is_told_again():
    first, again = (
        config_broken_delivery(REPOSITORY, "f00", START + timedelta(days=day)).id for day in (0, 3)
    )
    at_once = config_broken_delivery(REPOSITORY, "f00", START + timedelta(seconds=1)).id
    assert (first == again, first == at_once) == (False, True)
