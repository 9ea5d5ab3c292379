"""What GitHub shows already is written with the lane's next transaction, and never without it."""

import pytest

from bot.store.model import LaneFenced, RowState, TurnResult
from bot.store.outbox import delete_row, mark_sending, mark_sent
from bot.store.pull_requests import decode_pull_request, load_pull_request, save_pull_request
from bot.turn.store import apply_turn
from tests.builders import make_pull_request, make_sticky_comment
from tests.store.store_builders import (
    LANE,
    claim_one,
    claim_with_effects,
    make_retire_comment,
    make_show_comment,
)


@pytest.fixture
async def claim(store):
    return await claim_with_effects(store)


async def started(store, claim, *effects):
    return await apply_turn(store, claim, TurnResult(make_pull_request(), effects, ()))


async def test_a_note_is_written_with_the_release(store, claim):
    (row,) = await started(store, claim, make_show_comment())
    store.note_claimed(claim, mark_sent, row, make_sticky_comment())
    assert (await store.read(load_pull_request, LANE)).sticky is None
    await store.release(claim)
    assert (await store.read(load_pull_request, LANE)).sticky == make_sticky_comment()
    assert await store.claim(1) == ()


async def test_what_a_note_owes_makes_the_lane_due_again(store, claim):
    (row,) = await started(store, claim, make_show_comment())
    store.note_claimed(claim, mark_sent, row, make_sticky_comment(), (make_retire_comment(),))
    await store.release(claim)
    assert [row.effect for row in (await claim_one(store)).outbox] == [make_retire_comment()]


async def test_a_note_is_written_with_the_next_write_of_its_lane(store, claim):
    first, second = await started(store, claim, make_show_comment(), make_retire_comment())
    store.note_claimed(claim, mark_sent, first, make_sticky_comment())
    await store.write_claimed(claim, mark_sending, second)
    store.abandon(claim)  # as if the process ended here
    (again,) = (await claim_one(store)).outbox
    assert (again.id, again.state) == (second.id, RowState.SENDING)


async def test_a_note_is_written_once(store, claim):
    (row,) = await started(store, claim, make_show_comment())
    store.note_claimed(claim, mark_sent, row, make_sticky_comment())
    await store.write_notes(claim)
    await store.write_claimed(claim, mark_sent, row, make_sticky_comment(comment_id=2))
    await store.release(claim)
    assert (await store.read(load_pull_request, LANE)).sticky == make_sticky_comment(comment_id=2)


async def test_a_process_that_ends_before_leaves_the_row_to_be_looked_up(store, claim):
    (row,) = await started(store, claim, make_show_comment())
    sending = await store.write_claimed(claim, mark_sending, row)
    store.note_claimed(claim, mark_sent, sending, make_sticky_comment())
    store.abandon(claim)
    again = await claim_one(store)
    assert [row.state for row in again.outbox] == [RowState.SENDING]
    await store.release(again)
    assert (await store.read(load_pull_request, LANE)).sticky is None


async def test_a_note_of_a_fenced_turn_is_not_written(store, claim):
    (row,) = await started(store, claim, make_show_comment())
    store.note_claimed(claim, delete_row, row)
    current = {claim.lane: claim.fence + 1}
    store._held.pop(claim.lane)
    assert {one.lane: one.fence for one in await store.claim(1)} == current
    with pytest.raises(LaneFenced):
        await store.release(claim)


async def test_a_transaction_that_fails_keeps_the_note_for_the_next(store, claim):
    def fail(_transaction):
        raise ValueError("no such thing")

    (row,) = await started(store, claim, make_show_comment())
    store.note_claimed(claim, mark_sent, row, make_sticky_comment())
    with pytest.raises(ValueError, match="no such thing"):
        await store.write_claimed(claim, fail)
    await store.release(claim)
    assert (await store.read(load_pull_request, LANE)).sticky == make_sticky_comment()


async def test_a_claim_brings_the_pull_request_with_its_sticky_comment(store, claim):
    known = make_pull_request(sticky=make_sticky_comment())
    await apply_turn(store, claim, TurnResult(known, (), ()))
    await store.release(claim, retry_after=0.0)
    assert decode_pull_request((await claim_one(store)).stored) == known


async def test_a_claim_of_a_new_lane_brings_no_pull_request(claim):
    assert decode_pull_request(claim.stored) is None


async def test_a_record_that_can_not_be_decoded_holds_up_no_other_lane(store, claim):
    await store.write(save_pull_request, LANE, make_pull_request())
    await store.write(
        lambda transaction: transaction.connection.exec_driver_sql("UPDATE pull_request SET record = '{}'")
    )
    await store.release(claim, retry_after=0.0)
    stored = (await claim_one(store)).stored
    with pytest.raises(ValueError, match="missing required field"):
        decode_pull_request(stored)
