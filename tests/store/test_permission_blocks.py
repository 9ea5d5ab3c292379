"""A write for which the App lacks a permission waits, and is not lost."""

from bot.pull_request.effects import CancelWrite
from bot.store.lanes import count_queue
from bot.store.model import BlockedWrites, PermissionBlock, RowState, TurnResult
from bot.store.outbox import (
    BLOCK_KEPT_SECONDS,
    BLOCK_RETRY_SECONDS,
    block_row,
    load_blocked_writes,
    load_blocks,
    mark_sending,
    record_block,
)
from bot.turn.store import apply_turn
from tests.builders import REPOSITORY, make_pull_request
from tests.store.store_builders import (
    LANE,
    OTHER_LANE,
    claim_one,
    claim_with_effects,
    make_delivery,
    make_show_comment,
    make_turn_result,
)

REFUSAL = PermissionBlock(5, REPOSITORY.id, "comment", "pull_requests=write")


async def withheld(store, lane: str = LANE, refusal: PermissionBlock = REFUSAL):
    """A lane whose comment waits for a permission."""
    await store.accept(make_delivery(f"first of {lane}", lane, refusal.installation_id))
    claim = await claim_one(store)
    (row,) = await apply_turn(store, claim, make_turn_result(claim, make_show_comment()))
    await store.write(record_block, refusal)
    await store.write_claimed(claim, block_row, await store.write_claimed(claim, mark_sending, row), refusal)
    await store.release(claim)
    return claim


async def test_what_waits_makes_its_lane_not_due_and_is_owed_once_it_may_be_written(store):
    await withheld(store)
    assert await store.claim(10) == ()
    await store.clear_blocks(5)
    (row,) = (await claim_one(store)).outbox
    assert (row.effect, row.state) == (make_show_comment(), RowState.READY)
    assert await store.read(load_blocks, 5) == ()


async def test_what_waits_is_replaced_by_what_is_newer_and_taken_back_like_any_other(store):
    await withheld(store)
    await withheld(store, OTHER_LANE)
    for lane, effect in ((LANE, make_show_comment("m2")), (OTHER_LANE, CancelWrite("comment"))):
        await store.accept(make_delivery(f"second of {lane}", lane))
        claim = await claim_one(store)
        assert claim.outbox == ()
        rows = await apply_turn(store, claim, make_turn_result(claim, effect))
        for row in rows:
            await store.write_claimed(claim, block_row, row, REFUSAL)
        await store.release(claim)
    await store.clear_blocks(5)
    assert [row.effect for row in (await claim_one(store)).outbox] == [make_show_comment("m2")]


async def test_what_is_decided_of_another_thing_leaves_it_waiting(store):
    await withheld(store)
    await store.accept(make_delivery("second"))
    claim = await claim_one(store)
    assert await apply_turn(store, claim, make_turn_result(claim, CancelWrite("label"))) == ()


async def test_another_installations_permissions_change_nothing(store):
    await withheld(store)
    await withheld(store, OTHER_LANE, PermissionBlock(55, 78, "comment", "pull_requests=write"))
    await store.clear_blocks(5)
    assert [claim.lane for claim in await store.claim(10)] == [LANE]
    assert [each.recent for each in await store.read(load_blocks, 55)] == [True]


async def test_after_an_hour_it_is_tried_again_and_known_to_have_been_refused(timed_store, clock):
    await withheld(timed_store)
    clock.advance(BLOCK_RETRY_SECONDS - 1)
    await timed_store.sweep()
    assert await timed_store.claim(10) == ()
    assert await timed_store.read(load_blocks, 5) == (REFUSAL,)
    clock.advance(1)
    await timed_store.sweep()
    assert [row.effect for row in (await claim_one(timed_store)).outbox] == [make_show_comment()]
    assert [(each.kind, each.recent) for each in await timed_store.read(load_blocks, 5)] == [
        ("comment", False)
    ]


async def test_what_waited_a_month_in_vain_is_owed_no_longer(timed_store, clock):
    await withheld(timed_store)
    clock.advance(BLOCK_KEPT_SECONDS + 1)
    await timed_store.sweep()
    assert (await timed_store.claim(10), await timed_store.read(load_blocks, 5)) == ((), ())


async def test_what_waits_is_counted_and_named_to_the_operator(store):
    claim = await claim_with_effects(store)
    await apply_turn(store, claim, TurnResult(make_pull_request(), (), ()))
    await store.release(claim)
    await withheld(store, OTHER_LANE)
    assert await store.read(load_blocked_writes) == (
        BlockedWrites("acme/knowledge", "comment", "pull_requests=write", 1),
    )
    assert (await store.read(count_queue)).outbox == {"withheld": 1}
