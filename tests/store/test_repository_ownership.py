"""A repository is one installation's at a time; its memory goes along, or goes away."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.gates.rule_book import StoredConfig
from bot.history.model import TimeWindow
from bot.history.store import count_recent, load_records
from bot.pull_request.effects import (
    AddRepository,
    RemoveInstallation,
    RemoveRepository,
    UpdateRepository,
)
from bot.pull_request.model import Item, Stance, Validator, Verdict
from bot.store.deliveries import load_delivery
from bot.store.model import LaneFenced, RepositoryOwnership, TurnResult
from bot.store.pull_requests import load_pull_request
from bot.store.repositories import LOSS_KEPT, TRANSFER_GRACE, find_active_repositories, find_repository
from bot.store.store import open_store
from bot.turn.store import apply_turn, save_turn
from bot.values import Repository
from tests.builders import START, make_pull_request
from tests.clock import Clock
from tests.store.store_builders import make_delivery, make_show_comment, make_turn_result

LONG_AGO = START - timedelta(days=900)
EVER = TimeWindow(LONG_AGO, START + timedelta(days=900))
ACME = Repository(77, "acme", "knowledge", 5)
OTHER = Repository(77, "other", "knowledge", 6)
SHORT = replace(OTHER, default_branch="")
"""As the events of an installation name it."""

LEFT, GONE = RemoveRepository(77, 5), RemoveInstallation(5)
TRANSFERRED, ADDED = AddRepository(OTHER, transferred=True), AddRepository(SHORT)
COPY = AddRepository(replace(OTHER, installation_id=5), transferred=True)
"""The transfer as the former owner's installation is told of it."""


def judged(where=ACME, number=1):
    verdict = Verdict(
        f"review:{number}", Validator("user:1", "alice"), Stance.REJECTS, START, "abc", (Item("date_errors"),)
    )
    return make_pull_request(repository=where, number=number, verdicts=(verdict,), created_at=START)


async def claimed(store, lane, installation_id=5, name=None):
    await store.accept(make_delivery(name or f"{lane} {next(COUNT)}", lane, installation_id))
    return await due(store, lane)


async def due(store, lane):
    """The lane, claimed; whatever else is due stays so."""
    claims = {claim.lane: claim for claim in await store.claim(100)}
    for other in claims.keys() - {lane}:
        await store.release(claims[other])
    return claims[lane]


COUNT = itertools.count()


async def kept(store, known):
    """A turn of its own."""
    claim = await claimed(store, f"pr:{known.repository.id}:{known.number}", known.repository.installation_id)
    await apply_turn(store, claim, make_turn_result(claim, pull_request=known))
    await store.release(claim)


async def noted(store, *store_commands, lane="installation:9"):
    claim = await claimed(store, lane, 9)
    await apply_turn(store, claim, replace(make_turn_result(claim), store_commands=store_commands))
    await store.release(claim)


async def numbers(store, repository_id=77):
    """Those of the pull requests that are remembered, however well hidden."""
    return sorted(one.number for one in await store.read(load_records, repository_id, LONG_AGO))


async def later(store, clock, seconds=TRANSFER_GRACE + 1):
    clock.advance(seconds)
    await store.sweep()


ORDERS = [
    order
    for told in (
        (LEFT, TRANSFERRED),
        (GONE, TRANSFERRED),
        (LEFT, ADDED),
        (GONE, ADDED),
        (LEFT, GONE, TRANSFERRED, ADDED),
        (LEFT, COPY, TRANSFERRED),
        (GONE, COPY, ADDED),
    )
    for order in itertools.permutations(told)
]


def numbered(memo, number):
    """The memo about a repository and installations of its own."""
    which, former, new = 1000 + number, 10_000 + number, 20_000 + number
    if isinstance(memo, RemoveInstallation):
        return RemoveInstallation(former)
    if isinstance(memo, RemoveRepository):
        return RemoveRepository(which, former)
    installed = former if memo == COPY else new
    return replace(memo, repository=replace(memo.repository, id=which, installation_id=installed))


async def test_a_transfer_keeps_the_memory_whatever_order_it_is_told_in(timed_store, clock):
    known = [
        judged(replace(ACME, id=1000 + number, installation_id=10_000 + number))
        for number in range(len(ORDERS))
    ]
    await timed_store.database.write(
        lambda transaction: [
            save_turn(transaction, f"pr:{one.repository.id}:1", TurnResult(one, (), ())) for one in known
        ]
    )
    await noted(
        timed_store, *(numbered(memo, number) for number, order in enumerate(ORDERS) for memo in order)
    )
    await later(timed_store, clock)
    moved = [
        replace(OTHER, id=1000 + number, installation_id=20_000 + number) for number in range(len(ORDERS))
    ]
    assert [await timed_store.read(find_repository, where.id) for where in moved] == moved
    assert [await numbers(timed_store, where.id) for where in moved] == [[1]] * len(moved)
    assert [
        (await timed_store.read(load_pull_request, f"pr:{where.id}:1")).repository for where in moved
    ] == moved


@pytest.mark.parametrize("lost", [LEFT, GONE])
async def test_what_nobody_claims_is_out_of_sight_at_once_and_deleted_a_day_later(timed_store, clock, lost):
    await kept(timed_store, judged())
    await kept(timed_store, judged(replace(OTHER, id=78)))
    await noted(timed_store, lost)
    hidden = (
        await timed_store.read(find_repository, 77),
        await timed_store.read(find_repository, ACME.full_name),
    )
    seen = {(await timed_store.read(find_repository, 78)).id}
    seen |= {where.id for where in await timed_store.read(find_active_repositories, LONG_AGO)}
    seen |= {name for name, *_ in (await timed_store.read(count_recent, EVER)).broken}
    assert (hidden, seen) == ((None, None), {78, "other/knowledge"})
    await later(timed_store, clock, TRANSFER_GRACE - 1)
    assert await numbers(timed_store) == [1]
    await later(timed_store, clock, 2)
    assert (await numbers(timed_store), await timed_store.read(load_pull_request, "pr:77:1")) == ([], None)
    assert await numbers(timed_store, 78) == [1]


async def test_an_uninstalled_owners_configs_unsent_words_and_deliveries_go_too(timed_store, clock):
    keys = {"repository:77": 5, "owner:5:acme": 5, "owner:6:other": 6}
    for key, installation in keys.items():
        await timed_store.keep_config(key, installation, StoredConfig(b"version: 1"))
    for known in (judged(), judged(replace(OTHER, id=78))):
        where = known.repository
        claim = await claimed(timed_store, f"pr:{where.id}:1", where.installation_id, f"of {where.id}")
        await apply_turn(
            timed_store,
            claim,
            make_turn_result(claim, replace(make_show_comment(), repository=where), pull_request=known),
        )
        await timed_store.release(claim)
    await noted(timed_store, GONE)
    await later(timed_store, clock)
    assert [key for key in keys if await timed_store.config(key)] == ["owner:6:other"]
    assert [claim.lane for claim in await timed_store.claim(10) if claim.outbox] == ["pr:78:1"]
    bodies = [(await timed_store.read(load_delivery, f"of {which}")).delivery.body for which in (77, 78)]
    assert bodies == [b"{}", make_delivery("any").body]


@pytest.mark.parametrize(
    ("lost", "again"),
    [(LEFT, replace(ACME, default_branch="")), (GONE, replace(ACME, installation_id=8, default_branch=""))],
    ids=["let in again", "installed again"],
)
async def test_an_owner_who_lets_the_app_in_again_begins_afresh(timed_store, clock, lost, again):
    await kept(timed_store, judged())
    await noted(timed_store, lost)
    await noted(timed_store, AddRepository(again))
    assert await numbers(timed_store) == []
    await kept(timed_store, judged(replace(again, default_branch="main"), 2))
    await later(timed_store, clock)
    assert (await numbers(timed_store), (await timed_store.read(find_repository, 77)).installation_id) == (
        [2],
        again.installation_id,
    )


async def bodies(store, *names):
    return [(await store.read(load_delivery, name)).delivery.body for name in names]


WORDS = make_delivery("any").body
BACK = replace(ACME, installation_id=8)
"""The App was removed from the owner's account, and installed there again."""


@pytest.mark.parametrize(
    ("lost", "back"),
    [(LEFT, AddRepository(ACME)), (GONE, AddRepository(BACK)), (GONE, UpdateRepository(BACK))],
    ids=["let in again", "installed again", "heard of again"],
)
async def test_what_is_told_once_the_app_is_back_is_still_to_be_heard(timed_store, clock, lost, back):
    claim = await claimed(timed_store, "pr:77:1", 5, "before")
    await apply_turn(timed_store, claim, make_turn_result(claim, pull_request=judged()))
    await timed_store.release(claim)
    await noted(timed_store, lost)
    clock.advance(1)
    await timed_store.accept(make_delivery("since", "pr:77:2", back.repository.installation_id))
    await noted(timed_store, back)
    assert await numbers(timed_store) == []
    assert await bodies(timed_store, "before", "since") == [b"{}", WORDS]


async def test_a_repository_taken_away_and_given_back_at_once_keeps_what_waits(store):
    await kept(store, judged())
    await store.accept(make_delivery("waits", "pr:77:2", 5))
    await noted(store, LEFT, AddRepository(ACME))
    assert await bodies(store, "waits") == [WORDS]


async def test_what_an_unknown_installation_tells_outlives_the_erasure(timed_store, clock):
    await kept(timed_store, judged())
    await timed_store.accept(make_delivery("old", "pr:77:2", 5))
    await noted(timed_store, GONE)
    await timed_store.accept(make_delivery("new", "pr:77:3", 8))
    await later(timed_store, clock)
    assert await numbers(timed_store) == []
    assert await bodies(timed_store, "old", "new") == [b"{}", WORDS]


async def test_a_lane_knows_that_its_repository_was_left_whoever_tells_of_it(store):
    await kept(store, judged())
    await noted(store, GONE)
    told = await claimed(store, "pr:77:2", 8)
    assert told.ownership == RepositoryOwnership(frozenset({5}), None, is_leaving=True)
    await apply_turn(
        store,
        told,
        TurnResult(None, (), (), store_commands=(UpdateRepository(replace(BACK, default_branch="")),)),
    )
    await apply_turn(store, told, make_turn_result(told, pull_request=judged(BACK, 2)))
    assert (await store.read(find_repository, 77), await numbers(store)) == (BACK, [2])


async def test_a_repository_that_came_back_is_its_first_owners_again(timed_store, clock):
    await kept(timed_store, judged())
    for memo in (TRANSFERRED, LEFT, AddRepository(ACME, transferred=True), RemoveRepository(77, 6)):
        await noted(timed_store, memo)
    await kept(timed_store, judged(number=2))
    await later(timed_store, clock)
    assert (await timed_store.read(find_repository, 77), await numbers(timed_store)) == (ACME, [1, 2])


async def test_a_turn_that_began_before_the_move_has_to_begin_again(store):
    await kept(store, judged())
    claim = await claimed(store, "pr:77:1")
    await noted(store, TRANSFERRED)
    with pytest.raises(LaneFenced):
        await apply_turn(store, claim, make_turn_result(claim, pull_request=judged()))
    again = await due(store, "pr:77:1")
    assert again.ownership == RepositoryOwnership(frozenset({5}), OTHER)
    assert again.deliveries == claim.deliveries


async def test_a_week_that_was_decided_before_the_move_is_decided_again(store):
    await kept(store, judged())
    claim = await claimed(store, "weekly:77")
    await noted(store, TRANSFERRED)
    with pytest.raises(LaneFenced):
        await apply_turn(store, claim, make_turn_result(claim, replace(make_show_comment(), repository=ACME)))


async def test_what_was_owed_is_written_through_the_new_installation(store):
    claim = await claimed(store, "pr:77:1")
    await apply_turn(
        store,
        claim,
        make_turn_result(claim, replace(make_show_comment(), repository=ACME), pull_request=judged()),
    )
    await store.release(claim, retry_after=3600.0)
    await noted(store, LEFT)
    await noted(store, TRANSFERRED)
    (again,) = await store.claim(10)
    assert [row.effect.repository for row in again.outbox] == [OTHER]


async def test_what_comes_through_a_former_installation_is_recognised_as_old(store):
    await kept(store, judged())
    await noted(store, LEFT)
    leaving = await claimed(store, "pr:77:1")
    await store.release(leaving)
    await noted(store, RemoveRepository(77, 5, is_deleted=True))
    gone = await due(store, "pr:77:1")
    assert (leaving.ownership, gone.ownership) == (
        RepositoryOwnership(frozenset({5}), None, is_leaving=True),
        RepositoryOwnership(frozenset({5}), None),
    )
    assert [one.body for one in gone.deliveries] == [b"{}"]


async def test_an_old_event_changes_neither_name_nor_visibility(store):
    await kept(store, judged())
    hidden = replace(ACME, name="wisdom", private=True)
    await noted(store, UpdateRepository(hidden))
    await kept(store, judged(number=2))
    assert await store.read(find_repository, 77) == hidden
    assert (await store.read(load_pull_request, "pr:77:2")).repository == hidden
    newer = replace(judged(replace(ACME, private=False), 3), updated_at=START + timedelta(days=9000))
    await kept(store, newer)
    assert await store.read(find_repository, 77) == ACME


async def test_a_loss_is_remembered_until_nothing_older_can_arrive(timed_store, clock):
    await noted(timed_store, GONE)
    await later(timed_store, clock)
    before = (await claimed(timed_store, "pr:77:1")).ownership
    await later(timed_store, clock, LOSS_KEPT)
    assert (before, (await claimed(timed_store, "pr:77:2")).ownership) == (
        RepositoryOwnership(frozenset({5}), None),
        None,
    )


async def test_both_halves_of_a_transfer_at_once_on_two_instances(postgres_url):
    clock = Clock()
    async with (
        open_store(postgres_url, worker=True, clock=clock, instance="one") as one,
        open_store(postgres_url, worker=True, clock=clock, instance="two") as two,
    ):
        found = []
        for which in range(100, 104):
            here, there = replace(ACME, id=which), replace(OTHER, id=which)
            await kept(one, judged(here))
            mine = await claimed(one, f"installation:{which}")
            theirs = await claimed(two, f"repository:{which}", 6)
            working = await claimed(one, f"pr:{which}:2")
            lost = replace(make_turn_result(mine), store_commands=(RemoveRepository(which, 5),))
            gained = replace(
                make_turn_result(theirs), store_commands=(AddRepository(there, transferred=True),)
            )
            turn: TurnResult = make_turn_result(working, pull_request=judged(here, 2))
            await asyncio.gather(
                apply_turn(one, mine, lost),
                apply_turn(two, theirs, gained),
                apply_turn(one, working, turn),
                return_exceptions=True,
            )
            found.append((await two.read(find_repository, which) == there, (await numbers(two, which))[0]))
        await later(one, clock)
        assert found == [(True, 1)] * 4
        assert {(await numbers(one, which))[0] for which in range(100, 104)} == {1}


async def test_a_first_turn_under_the_new_installation_brings_the_memory_along(timed_store, clock):
    await kept(timed_store, judged())
    await noted(timed_store, LEFT)
    await noted(timed_store, UpdateRepository(OTHER), lane="pr:77:9")
    await later(timed_store, clock)
    assert (await timed_store.read(find_repository, 77), await numbers(timed_store)) == (OTHER, [1])
    assert await timed_store.claim(10) == ()
