"""The first comment of a turn is started in the turn's own transaction, where nothing stands in its way."""

import pytest

from bot.pull_request.effects import CancelWrite
from bot.store.model import PermissionBlock, RowState
from bot.store.outbox import RATE_WINDOWS, record_block, spend_write
from bot.turn.store import apply_turn
from tests.builders import REPOSITORY
from tests.store.store_builders import (
    claim_one,
    make_delivery,
    make_retire_comment,
    make_show_comment,
    make_turn_result,
)

BLOCK = PermissionBlock(5, REPOSITORY.id, "label", "issues=write")


@pytest.fixture
async def claim(timed_store):
    await timed_store.accept(make_delivery("d1"))
    return await claim_one(timed_store)


def is_post(effect):
    return not isinstance(effect, CancelWrite)


async def stored_state(store, claim):
    """The state of the lane's one row, as whoever claims the lane next finds it."""
    await store.release(claim, retry_after=0.0)
    (row,) = (await claim_one(store)).outbox
    return row.state


async def test_a_comment_is_marked_as_being_sent_and_counted(timed_store, claim):
    turn = make_turn_result(claim, make_show_comment())
    (row,) = await apply_turn(timed_store, claim, turn, is_post)
    assert row.state is RowState.STARTED
    left = RATE_WINDOWS[0].most - 1
    assert [await timed_store.write(spend_write, 5, 0) for _ in range(left)] == [0] * left
    assert await timed_store.write(spend_write, 5, 0) > 0
    assert await stored_state(timed_store, claim) is RowState.SENDING


async def test_nothing_is_started_once_the_budget_is_used_up(timed_store, claim):
    while await timed_store.write(spend_write, 5, 0) == 0:
        pass
    turn = make_turn_result(claim, make_show_comment())
    (row,) = await apply_turn(timed_store, claim, turn, is_post)
    assert row.state is RowState.READY
    assert await stored_state(timed_store, claim) is RowState.READY


async def test_nothing_is_started_while_the_installation_lacks_a_permission(timed_store, claim):
    await timed_store.write(record_block, BLOCK)
    turn = make_turn_result(claim, make_show_comment())
    (row,) = await apply_turn(timed_store, claim, turn, is_post)
    assert row.state is RowState.READY
    assert await stored_state(timed_store, claim) is RowState.READY


async def test_a_comment_that_an_earlier_turn_owed_is_started_by_the_next(timed_store, claim):
    await apply_turn(timed_store, claim, make_turn_result(claim, make_show_comment()))
    (row,) = await apply_turn(timed_store, claim, make_turn_result(claim), is_post)
    assert row.state is RowState.STARTED
    assert await stored_state(timed_store, claim) is RowState.SENDING


async def test_only_the_first_write_of_a_turn_is_started(timed_store, claim):
    turn = make_turn_result(claim, make_show_comment(), make_retire_comment())
    rows = await apply_turn(timed_store, claim, turn, is_post)
    assert [row.state for row in rows] == [RowState.STARTED, RowState.READY]


async def test_what_is_no_new_comment_is_not_started(timed_store, claim):
    turn = make_turn_result(claim, make_show_comment())
    (row,) = await apply_turn(timed_store, claim, turn, lambda _effect: False)
    assert row.state is RowState.READY
    assert await stored_state(timed_store, claim) is RowState.READY


async def test_a_turn_that_owes_nothing_starts_nothing(timed_store, claim):
    assert await apply_turn(timed_store, claim, make_turn_result(claim), is_post) == ()
