"""A turn is one transaction; what it owes to GitHub is kept until GitHub has it."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import update

from bot.pull_request.checks import GATES_CHECK_NAME, CheckRunText
from bot.pull_request.effects import CancelWrite, ShowCheckRun
from bot.pull_request.model import Item, Revision, Stance, Validator, Verdict
from bot.store.database import parse_store_url
from bot.store.deliveries import load_delivery, load_parked
from bot.store.model import DeliveryState, LaneFenced, RowState, TurnResult
from bot.store.outbox import mark_ready, mark_sending, mark_sent
from bot.store.pull_requests import (
    find_numbers_at_head,
    find_numbers_that_left,
    has_comment,
    load_pull_request,
    save_sticky,
)
from bot.store.schema import outbox_table
from bot.store.store import connect_database, open_store
from bot.turn.store import apply_turn, give_up_write
from bot.values import Conclusion, Location
from tests.builders import HEADS, REPOSITORY, at_minute, make_pull_request, make_sticky_comment
from tests.store.store_builders import (
    LANE,
    OTHER_LANE,
    claim_one,
    claim_with_effects,
    make_delivery,
    make_retire_comment,
    make_show_comment,
    make_turn_result,
)

VERDICT = Verdict(
    id="review:81",
    validator=Validator("user:1", "alice"),
    stance=Stance.REJECTS,
    at=at_minute(1),
    head=HEADS[0],
    items=(
        Item("date_errors", "NUL \0, half \ud800, 𝄞, \u202e", Location("claims/a.md", 5, 9), inferred=0.7),
        Item(None, aspect="clarity", severity="minor"),
    ),
    lifted_at=at_minute(2.5),
)


def effects(rows):
    return [row.effect for row in rows]


async def test_nothing_is_known_of_a_new_lane(store):
    assert await store.read(load_pull_request, LANE) is None


async def test_a_pull_request_comes_back_as_it_was_recorded(store):
    known = make_pull_request(
        title="NUL \0, half \ud800", verdicts=(VERDICT,), closed_at=at_minute(3), open=False
    )
    claim = await claim_with_effects(store)
    await apply_turn(store, claim, TurnResult(known, (), ()))
    assert await store.read(load_pull_request, LANE) == known


async def test_a_later_turn_replaces_what_was_recorded(store):
    claim = await claim_with_effects(store)
    await apply_turn(store, claim, TurnResult(make_pull_request(), (), ()))
    later = make_pull_request(title="A better title", merged=True, verdicts=(VERDICT,))
    await apply_turn(store, claim, TurnResult(later, (), ()))
    assert await store.read(load_pull_request, LANE) == later


async def test_the_open_pull_requests_with_a_head_are_found(store):
    claim = await claim_with_effects(store)
    where = make_pull_request().repository.id
    await apply_turn(store, claim, TurnResult(make_pull_request(), (), ()))
    assert await store.read(find_numbers_at_head, where, HEADS[0]) == (212,)
    assert [
        await store.read(find_numbers_at_head, *each) for each in ((where, HEADS[1]), (where + 1, HEADS[0]))
    ] == [(), ()]
    await apply_turn(store, claim, TurnResult(make_pull_request(open=False), (), ()))
    assert await store.read(find_numbers_at_head, where, HEADS[0]) == ()


async def test_an_open_pull_request_is_found_by_every_head_it_had(store):
    claim = await claim_with_effects(store)
    pushed = make_pull_request(
        head=HEADS[1],
        revisions=(Revision(HEADS[0], at_minute(0)), Revision(HEADS[1], at_minute(1), base=HEADS[2])),
    )
    await apply_turn(store, claim, TurnResult(pushed, (), ()))
    where = pushed.repository.id
    asked = [(where, head) for head in HEADS[:3]] + [(where + 1, HEADS[0]), (where, "%")]
    assert [await store.read(find_numbers_that_left, *each) for each in asked] == [(212,), (212,), (), (), ()]
    await apply_turn(store, claim, TurnResult(replace(pushed, open=False), (), ()))
    assert await store.read(find_numbers_that_left, where, HEADS[0]) == ()


async def test_a_turn_without_a_pull_request_leaves_the_record_alone(store):
    claim = await claim_with_effects(store)
    await apply_turn(store, claim, TurnResult(make_pull_request(), (), ()))
    await apply_turn(store, claim, TurnResult(None, (), ()))
    assert await store.read(load_pull_request, LANE) == make_pull_request()


async def test_the_sticky_comment_that_was_written_is_remembered(store):
    claim = await claim_with_effects(store)
    (row,) = await apply_turn(store, claim, TurnResult(make_pull_request(), (make_show_comment(),), ()))
    await store.write_claimed(claim, mark_sent, row, make_sticky_comment(comment_id=777), ())
    assert await store.read(load_pull_request, LANE) == make_pull_request(
        sticky=make_sticky_comment(comment_id=777)
    )


async def test_what_a_turn_learnt_of_the_sticky_comment_is_remembered(store):
    claim = await claim_with_effects(store)
    gone = make_pull_request(sticky=make_sticky_comment(deleted_at=at_minute(4)))
    await apply_turn(store, claim, TurnResult(gone, (), ()))
    assert await store.read(load_pull_request, LANE) == gone


async def test_a_turn_that_knows_no_sticky_comment_leaves_it_as_it_is(store):
    claim = await claim_with_effects(store)
    await apply_turn(store, claim, TurnResult(make_pull_request(sticky=make_sticky_comment()), (), ()))
    await apply_turn(store, claim, TurnResult(make_pull_request(title="A better title"), (), ()))
    assert await store.read(load_pull_request, LANE) == make_pull_request(
        title="A better title", sticky=make_sticky_comment()
    )


async def test_a_write_that_github_never_takes_is_owed_no_longer_and_not_recorded_as_shown(store):
    claim = await claim_with_effects(store)
    check = ShowCheckRun(
        REPOSITORY, CheckRunText(GATES_CHECK_NAME, HEADS[0], Conclusion.FAILURE, "Rejected", "Rejected")
    )
    (row,) = await apply_turn(store, claim, TurnResult(make_pull_request(check="told"), (check,), ()))
    await store.write_claimed(claim, give_up_write, row)
    await store.release(claim)
    assert await store.read(load_pull_request, LANE) == make_pull_request(check="")
    assert await store.claim(1) == ()


async def test_a_write_that_changes_no_sticky_comment_leaves_it_as_it_is(store):
    claim = await claim_with_effects(store)
    (row,) = await apply_turn(store, claim, TurnResult(make_pull_request(), (make_retire_comment(),), ()))
    await store.write_claimed(claim, save_sticky, claim.lane, make_sticky_comment())
    await store.write_claimed(claim, mark_sent, row)
    assert await store.read(load_pull_request, LANE) == make_pull_request(sticky=make_sticky_comment())


async def test_a_repository_has_a_comment_once_one_of_its_pull_requests_has_one(store):
    claim = await claim_with_effects(store)
    await apply_turn(store, claim, TurnResult(make_pull_request(), (), ()))
    assert not await store.read(has_comment, REPOSITORY.id)
    await store.write_claimed(claim, save_sticky, claim.lane, make_sticky_comment())
    assert await store.read(has_comment, REPOSITORY.id)
    assert not await store.read(has_comment, REPOSITORY.id + 1)


async def test_a_deleted_sticky_comment_is_remembered_as_deleted(store):
    claim = await claim_with_effects(store)
    (row,) = await apply_turn(store, claim, TurnResult(make_pull_request(), (make_show_comment(),), ()))
    gone = make_sticky_comment(deleted_at=at_minute(9.5), issues=(), blocking=())
    await store.write_claimed(claim, mark_sent, row, gone, ())
    assert await store.read(load_pull_request, LANE) == make_pull_request(sticky=gone)


async def test_effects_are_owed_in_the_order_decided(store):
    claim = await claim_with_effects(store)
    rows = await apply_turn(
        store,
        claim,
        TurnResult(None, (make_retire_comment(1), make_show_comment(), make_retire_comment(2)), ()),
    )
    assert effects(rows) == [make_retire_comment(1), make_show_comment(), make_retire_comment(2)]
    assert {row.state for row in rows} == {RowState.READY}


async def test_what_was_owed_before_is_owed_first(store):
    claim = await claim_with_effects(store, make_retire_comment(1), make_retire_comment(2))
    rows = await apply_turn(store, claim, TurnResult(None, (make_show_comment(),), ()))
    assert effects(rows) == [make_retire_comment(1), make_retire_comment(2), make_show_comment()]


async def test_a_newer_effect_replaces_the_unsent_one_of_its_target(store):
    claim = await claim_with_effects(store, make_show_comment("m1"), make_retire_comment())
    rows = await apply_turn(store, claim, TurnResult(None, (make_show_comment("m2"),), ()))
    assert effects(rows) == [make_retire_comment(), make_show_comment("m2")]


async def test_the_last_effect_of_a_turn_wins_its_target(store):
    claim = await claim_with_effects(store)
    rows = await apply_turn(
        store,
        claim,
        TurnResult(None, (make_show_comment("m1"), make_retire_comment(), make_show_comment("m2")), ()),
    )
    assert effects(rows) == [make_retire_comment(), make_show_comment("m2")]


async def test_a_comment_that_was_never_posted_anew_is_posted_anew_by_its_successor(store):
    claim = await claim_with_effects(store, make_show_comment("m1", anew=True))
    rows = await apply_turn(store, claim, TurnResult(None, (make_show_comment("m2"),), ()))
    assert effects(rows) == [make_show_comment("m2", anew=True)]


async def test_a_withdrawn_target_is_no_longer_owed(store):
    claim = await claim_with_effects(store, make_show_comment(anew=True), make_retire_comment())
    rows = await apply_turn(store, claim, TurnResult(None, (CancelWrite("comment"),), ()))
    assert effects(rows) == [make_retire_comment()]
    assert effects(await apply_turn(store, claim, TurnResult(None, (make_show_comment("m2"),), ()))) == [
        make_retire_comment(),
        make_show_comment("m2"),
    ]


async def test_withdrawing_what_is_not_owed_changes_nothing(store):
    claim = await claim_with_effects(store, make_show_comment())
    assert effects(await apply_turn(store, claim, TurnResult(None, (CancelWrite("check"),), ()))) == [
        make_show_comment()
    ]


async def test_a_row_that_is_being_sent_is_neither_replaced_nor_withdrawn(timed_store, clock):
    claim = await claim_with_effects(timed_store, make_show_comment("m1"))
    (row,) = await apply_turn(timed_store, claim, TurnResult(None, (), ()))
    clock.advance(1.75)
    sending = await timed_store.write_claimed(claim, mark_sending, row)
    assert sending == replace(row, state=RowState.SENDING, sending_at=clock.now)
    for effect in (make_show_comment("m2"), CancelWrite("comment"), make_show_comment("m3")):
        rows = await apply_turn(timed_store, claim, TurnResult(None, (effect,), ()))
    assert rows[0] == sending
    assert effects(rows) == [make_show_comment("m1"), make_show_comment("m3")]


async def test_a_row_that_is_being_sent_says_how_long_by_the_clock_of_the_store(timed_store, clock):
    claim = await claim_with_effects(timed_store, make_show_comment("m1"))
    (row,) = await apply_turn(timed_store, claim, TurnResult(None, (), ()))
    sending = await timed_store.write_claimed(claim, mark_sending, row)
    clock.advance(4)
    (kept,) = await apply_turn(timed_store, claim, TurnResult(None, (), ()))
    await timed_store.release(claim, retry_after=0)
    (found,) = (await claim_one(timed_store)).outbox
    assert (kept.read_at, found.read_at) == (clock.now, clock.now)
    assert found.sending_at == sending.sending_at


async def test_a_row_that_github_refused_can_be_replaced_again(store):
    claim = await claim_with_effects(store, make_show_comment("m1"))
    (row,) = await apply_turn(store, claim, TurnResult(None, (), ()))
    assert (
        await store.write_claimed(claim, mark_ready, await store.write_claimed(claim, mark_sending, row))
        == row
    )
    assert effects(await apply_turn(store, claim, TurnResult(None, (make_show_comment("m2"),), ()))) == [
        make_show_comment("m2")
    ]


async def test_a_row_found_sending_comes_with_the_next_claim(timed_store, clock):
    claim = await claim_with_effects(timed_store, make_show_comment())
    (row,) = await apply_turn(timed_store, claim, TurnResult(None, (), ()))
    sending = await timed_store.write_claimed(claim, mark_sending, row)
    await timed_store.release(claim, retry_after=5)
    clock.advance(5)
    assert (await claim_one(timed_store)).outbox == (sending,)


async def test_a_sent_row_is_forgotten_and_what_follows_from_it_is_owed(store):
    claim = await claim_with_effects(store)
    (row,) = await apply_turn(
        store, claim, TurnResult(make_pull_request(), (make_show_comment(anew=True),), ())
    )
    await store.write_claimed(claim, mark_sent, row, make_sticky_comment(), (make_retire_comment(500),))
    await store.release(claim)
    assert effects((await claim_one(store)).outbox) == [make_retire_comment(500)]


async def test_a_row_that_was_replaced_is_not_sent_any_more(store):
    claim = await claim_with_effects(store, make_show_comment("m1"))
    (stale,) = await apply_turn(store, claim, TurnResult(None, (), ()))
    await apply_turn(store, claim, TurnResult(None, (make_show_comment("m2"),), ()))
    with pytest.raises(LaneFenced):
        await store.write_claimed(claim, mark_sending, stale)


async def test_everything_sent_and_done_leaves_the_lane_at_rest(store):
    claim = await claim_with_effects(store, make_show_comment())
    (row,) = await apply_turn(store, claim, TurnResult(make_pull_request(), (), ()))
    await store.write_claimed(
        claim, mark_sent, await store.write_claimed(claim, mark_sending, row), make_sticky_comment(), ()
    )
    await store.release(claim)
    assert await store.claim(10) == ()


async def test_a_fenced_turn_writes_nothing(store):
    await store.accept(make_delivery("d1"))
    stale = await claim_one(store)
    store.abandon(stale)
    claim = await claim_one(store)
    (row,) = await apply_turn(store, claim, TurnResult(make_pull_request(), (make_show_comment("m1"),), ()))
    for attempt in (
        apply_turn(
            store, stale, TurnResult(make_pull_request(title="stale"), (make_show_comment("m2"),), ("d1",))
        ),
        store.write_claimed(stale, mark_sending, row),
        store.write_claimed(stale, mark_ready, row),
        store.write_claimed(stale, mark_sent, row, make_sticky_comment(), (make_retire_comment(),)),
        store.write_claimed(stale, save_sticky, stale.lane, make_sticky_comment()),
        store.release(stale),
    ):
        with pytest.raises(LaneFenced):
            await attempt
    assert await store.read(load_pull_request, LANE) == make_pull_request()
    await store.release(claim)
    again = await claim_one(store)
    assert (again.outbox, again.deliveries) == ((row,), (make_delivery("d1"),))


async def test_a_turn_that_breaks_half_way_writes_nothing(store):
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    with pytest.raises(TypeError):
        await apply_turn(
            store,
            claim,
            TurnResult(make_pull_request(), (make_show_comment(),), ("d1",), parked=(("d2", None),)),
        )
    await store.release(claim)
    again = await claim_one(store)
    assert (await store.read(load_pull_request, LANE), again.deliveries, again.outbox) == (
        None,
        (make_delivery("d1"),),
        (),
    )


async def test_a_turn_finishes_only_deliveries_of_its_own_lane(store):
    await store.accept(make_delivery("theirs", "pull:1:1"))
    theirs = await claim_one(store)
    mine = await claim_with_effects(store)
    await apply_turn(store, mine, TurnResult(None, (), ("theirs",)))
    await store.release(theirs)
    assert [one.id for one in (await claim_one(store)).deliveries] == ["theirs"]


async def test_one_bad_delivery_is_parked_while_the_others_are_done(timed_store, clock):
    await timed_store.accept(make_delivery("good"))
    await timed_store.accept(make_delivery("bad"))
    claim = await claim_one(timed_store)
    clock.advance(2)
    await apply_turn(
        timed_store, claim, TurnResult(None, (), ("good",), parked=(("bad", "KeyError: \0 \ud800"),))
    )
    await timed_store.release(claim)
    (parked,) = await timed_store.read(load_parked)
    assert (parked.id, parked.event, parked.lane, parked.attempts) == ("bad", "pull_request_review", LANE, 1)
    assert (parked.error, parked.parked_at) == ("KeyError: \N{REPLACEMENT CHARACTER} ?", clock.now)
    assert await timed_store.claim(10) == ()


async def test_parked_deliveries_are_listed_newest_first_and_retried_by_id(timed_store, clock):
    for name in ("d1", "d2", "d3"):
        await timed_store.accept(make_delivery(name, f"pull:1:{name}"))
        claim = await claim_one(timed_store)
        await apply_turn(timed_store, claim, TurnResult(None, (), (), parked=((name, "no"),)))
        await timed_store.release(claim)
        clock.advance(1)
    assert [one.id for one in await timed_store.read(load_parked)] == ["d3", "d2", "d1"]
    assert await timed_store.retry(("d1", "d3", "unknown")) == 2
    assert {claim.deliveries[0].id for claim in await timed_store.claim(10)} == {"d1", "d3"}
    assert [one.id for one in await timed_store.read(load_parked)] == ["d2"]


async def test_a_delivery_that_was_done_is_not_retried(store):
    await store.accept(make_delivery("d1"))
    claim = await claim_one(store)
    await apply_turn(store, claim, make_turn_result(claim))
    await store.release(claim)
    assert (await store.retry(("d1",)), await store.claim(10)) == (0, ())


async def test_what_was_dealt_with_is_not_given_up_on_when_a_later_step_fails(store):
    await store.accept(make_delivery("one"))
    claim = await claim_one(store)
    await apply_turn(store, claim, make_turn_result(claim, make_show_comment()))
    await apply_turn(store, claim, TurnResult(None, (), (), (("one", "GitHub is away"),)))
    assert await store.read(load_parked) == ()


async def test_a_write_that_another_version_wanted_holds_up_no_lane(store_url):
    async with open_store(store_url, worker=True) as store:
        await store.release(await claim_with_effects(store, make_show_comment()))
    database = connect_database(parse_store_url(store_url), None)
    unknown = update(outbox_table).values(effect='{"kind":"Sing","value":{}}')
    await database.write(lambda transaction: transaction.execute(unknown) and None)
    await database.close()
    async with open_store(store_url, worker=True) as store:
        await store.accept(make_delivery("other", OTHER_LANE))
        claims = {claim.lane: effects(claim.outbox) for claim in await store.claim(10)}
    assert claims == {LANE: [CancelWrite("comment")], OTHER_LANE: []}


async def test_of_turns_that_end_together_a_fenced_one_takes_nothing_from_the_others(store):
    lanes = [f"pull:77:{number}" for number in range(8)]
    await asyncio.gather(*(store.accept(make_delivery(f"of {lane}", lane)) for lane in lanes))
    claims = [
        replace(claim, fence=claim.fence - 1) if claim.lane == lanes[4] else claim
        for claim in await store.claim(8)
    ]
    ends = (
        apply_turn(store, claim, make_turn_result(claim, make_show_comment(claim.lane))) for claim in claims
    )
    answers = dict(zip(lanes, await asyncio.gather(*ends, return_exceptions=True), strict=True))
    kept = {lane: await store.read(load_delivery, f"of {lane}") for lane in lanes}
    assert [lane for lane in lanes if isinstance(answers[lane], LaneFenced)] == [lanes[4]]
    assert [lane for lane in lanes if kept[lane].state is DeliveryState.QUEUED] == [lanes[4]]
    assert [row.effect for lane in lanes if lane != lanes[4] for row in answers[lane]] == [
        make_show_comment(lane) for lane in lanes if lane != lanes[4]
    ]


async def test_what_a_turn_wants_done_after_it_is_queued_with_it_or_not_at_all(store):
    await store.accept(make_delivery("first"))
    claim = await claim_one(store)
    known = make_pull_request(number=212)
    turn = make_turn_result(claim, pull_request=known)

    def see_and_end(transaction):
        assert load_pull_request(transaction, LANE) == known
        raise AssertionError("the process ends here")

    with pytest.raises(AssertionError, match="ends here"):
        await apply_turn(store, claim, turn, follow_ups=see_and_end)
    assert await store.read(load_pull_request, LANE) is None
    later = make_delivery("revisit:7:212:head", "revisit:7:212")
    for _ in range(2):
        await apply_turn(store, claim, turn, follow_ups=lambda _transaction: (later,))
    assert (await store.read(load_delivery, later.id)).state is DeliveryState.QUEUED
    claimed = await claim_one(store)
    assert (claimed.lane, [delivery.id for delivery in claimed.deliveries]) == (later.lane, [later.id])
