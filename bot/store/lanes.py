"""Claim, hold and release lanes, count crashes, and wake waiting workers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Double,
    Integer,
    Row,
    Select,
    Text,
    Update,
    and_,
    bindparam,
    case,
    cast,
    delete,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.sqlite import insert

from bot.store.database import NOW, Transaction, earlier, greater_time, to_datetime
from bot.store.model import LaneClaim, LaneFenced
from bot.store.schema import (
    IS_PARKED,
    IS_QUEUED,
    delivery_table,
    installation_table,
    instance_table,
    lane_table,
    outbox_table,
    permission_block_table,
    reconcile_table,
    repository_table,
    spending_table,
)

LONGEST_REST = 3600.0
"""Seconds that a lane rests at most; one that is due later was written by a clock that was ahead."""
LONGEST_PAUSE = 86_400.0
"""Seconds that an installation pauses at most."""
CLOCK_TOLERANCE = 1.0
"""Seconds that a time may lie ahead: of two instances, one reads the database's clock a little later."""

# The claimant: its name, the lanes that it is working on already, and how long after its last heartbeat
# another instance counts as gone.
_OWN: BindParameter[str] = bindparam("own", type_=Text)
_IS_HELD = lane_table.c.key.in_(bindparam("held", expanding=True))
_LEASE = bindparam("lease", type_=Double)

_LANES = lane_table.outerjoin(installation_table, installation_table.c.id == lane_table.c.installation_id)


def _possible(at: ColumnElement[float], longest: float) -> ColumnElement[float]:
    return case((at > NOW + longest, 0.0), else_=at)


NOT_BEFORE = func.coalesce(_possible(installation_table.c.not_before, LONGEST_PAUSE), 0.0)
"""Until when the lane's installation pauses; long ago if it does not."""
_DUE_AT = greater_time(_possible(lane_table.c.due_at, LONGEST_REST), NOT_BEFORE)
"""When a lane may be claimed, with its installation's pause; long ago if either time can't be."""

_ALIVE = select(instance_table.c.id).where(instance_table.c.beat_at > NOW - _LEASE)
# The lane has no owner, or its owner is gone, or it is this instance's but no turn of it holds it.
_IS_FREE = and_(
    or_(lane_table.c.owner.is_(None), lane_table.c.owner == _OWN, lane_table.c.owner.not_in(_ALIVE)),
    ~_IS_HELD,
)


def _select_due_lanes() -> Select[Any]:
    """Select and lock up to `most` lanes; every installation's oldest before anyone's second."""
    is_due = or_(lane_table.c.due_at <= NOW, lane_table.c.due_at > NOW + LONGEST_REST)
    ready = and_(is_due, _IS_FREE)
    turn = func.row_number().over(
        partition_by=lane_table.c.installation_id, order_by=(lane_table.c.due_at, lane_table.c.key)
    )
    ranked = (
        select(lane_table.c.key, lane_table.c.due_at, turn.label("turn"))
        .select_from(_LANES)
        .where(ready, NOW >= NOT_BEFORE)
        .subquery("ranked")
    )
    return (
        select(lane_table.c.key)
        .join(ranked, ranked.c.key == lane_table.c.key)
        # Checked again on the row that gets locked: a peer may just have changed it.
        .where(ready)
        .order_by(ranked.c.turn, ranked.c.due_at, ranked.c.key)
        .limit(bindparam("most", type_=Integer))
        .with_for_update(of=lane_table, skip_locked=True)
    )


def _select_seconds_until_due() -> Select[Any]:
    """Select the seconds until a lane can be claimed; NULL if none is waiting."""
    owner = and_(instance_table.c.id == lane_table.c.owner, instance_table.c.id != _OWN)
    lease_ends = func.coalesce(instance_table.c.beat_at + _LEASE, 0.0)
    ready = greater_time(_DUE_AT, lease_ends)
    return (
        select(func.min(ready) - NOW)
        .select_from(_LANES.outerjoin(instance_table, owner))
        .where(lane_table.c.due_at.is_not(None), ~_IS_HELD)
    )


def follow_clock(transaction: Transaction) -> None:
    """Correct all stored times where the clock was ahead and was put back.

    Every instance has a heartbeat every few seconds, so the newest one tells how far ahead the clock was.
    """
    ahead = transaction.execute(select(func.max(instance_table.c.beat_at) - NOW)).scalar()
    if ahead is None or ahead <= CLOCK_TOLERANCE:
        return
    for key, at in _WRITTEN:
        # What another instance holds is written by it, by the new time.
        late = select(key).where(at > NOW).order_by(key).with_for_update(skip_locked=True)
        transaction.execute(update(key.table).where(key.in_(late)).values({at: at - ahead}))
    spent = update(spending_table).where(spending_table.c.at > NOW)
    transaction.execute(spent.values(at=spending_table.c.at - ahead))


_WRITTEN = (
    (lane_table.c.key, lane_table.c.due_at),
    (installation_table.c.id, installation_table.c.not_before),
    (instance_table.c.id, instance_table.c.beat_at),
    (outbox_table.c.id, outbox_table.c.sending_at),
    (permission_block_table.c.key, permission_block_table.c.at),
    (repository_table.c.id, repository_table.c.seen_at),
    (reconcile_table.c.id, reconcile_table.c.not_before),
)
"""The times that something waits for or is measured from, each with its table's key."""


LEASE_SECONDS = 30.0
"""Seconds without a heartbeat after which others may claim an instance's lanes."""


@dataclass(frozen=True, slots=True)
class Claimant:
    """The instance that claims, and the lanes that it is working on already."""

    instance: str
    held: Collection[str]
    lease: float = LEASE_SECONDS

    @property
    def parameters(self) -> dict[str, Any]:
        """Its parameters in a statement."""
        return {"own": self.instance, "held": self.held, "lease": self.lease}


def add_arrivals(transaction: Transaction, arrivals: Sequence[tuple[str, int]]) -> None:
    """Make lanes due, unless they wait for a retry: for each arrival its lane and its installation's id."""
    if not arrivals:
        return
    counts, installations = Counter(lane for lane, _ in arrivals), dict(arrivals)
    # In ascending order: two instances that lock the same lanes would else deadlock.
    rows = [
        {"key": lane, "installation_id": installations[lane], "arrivals": counts[lane]}
        for lane in sorted(counts)
    ]
    transaction.execute(_ADD_ARRIVALS, rows)


def take_due_lanes(transaction: Transaction, claimant: Claimant, limit: int) -> Sequence[Row[Any]]:
    """Own up to `limit` lanes that are due; every installation's oldest before anyone's second."""
    keys = transaction.execute(_DUE_LANES, {"most": limit, **claimant.parameters}).scalars().all()
    if not keys:
        return ()
    if transaction.shared:
        record_heartbeat(transaction, claimant.instance)  # else a peer could take this owner for dead
    order = {key: index for index, key in enumerate(keys)}
    rows = transaction.execute(_TAKE_LANES, {"keys": keys, "taker": claimant.instance}).all()
    crashed = {row.key: row.isolated for row in rows if row.isolated is not None}
    if crashed:
        _count_crashes(transaction, crashed)
    return sorted(rows, key=lambda row: order[row.key])


def isolate_lane(transaction: Transaction, claim: LaneClaim) -> None:
    """Count a crash of the lane's owner from now on to the claim's first delivery."""
    first = claim.deliveries[0].id if claim.deliveries else None
    transaction.execute(update(lane_table).where(lane_table.c.key == claim.lane).values(isolated=first))


def _count_crashes(transaction: Transaction, isolated: Mapping[str, str]) -> None:
    """Count a crash for lanes that were claimed for one delivery, whose process ended while handling it."""
    transaction.execute(
        update(delivery_table)
        .where(delivery_table.c.id.in_(isolated.values()), IS_QUEUED)
        .values(crashes=delivery_table.c.crashes + 1)
    )
    transaction.execute(update(lane_table).where(lane_table.c.key.in_(isolated)).values(isolated=None))


def hold_lane(transaction: Transaction, claim: LaneClaim, owner: str) -> None:
    """Lock the lane for this transaction; `LaneFenced` where another instance owns it by now."""
    if transaction.execute(_HELD, _held(claim, owner)).first() is None:
        raise LaneFenced(claim.lane)


def release_owned_lane(
    transaction: Transaction, claim: LaneClaim, owner: str, retry_after: float | None, attempt: int
) -> float | None:
    """Release the lane until it is due for a retry, or has more to do; returns when it is due again.

    It rests for an hour at most; a longer rate limit is its installation's pause.
    """
    values = {**_held(claim, owner), "attempts": attempt}
    # A lane that is done is innocent of earlier crashes; one that is due again is not proven so.
    values["crashes_before"] = 0 if retry_after is None else claim.crashes
    if retry_after is None:
        free = _RELEASE_UNTIL_MORE
        values["seen"] = claim.arrivals
    else:
        free = _RELEASE_FOR
        values["seconds"] = min(retry_after, LONGEST_REST)
    row = transaction.execute(free, values).first()
    if row is None:
        raise LaneFenced(claim.lane)
    at: float | None = row.due_at
    return at


def record_heartbeat(transaction: Transaction, name: str) -> None:
    """Record that this instance is alive now."""
    transaction.execute(_HEARTBEAT, {"id": name})


def leave(transaction: Transaction, name: str) -> None:
    """Delete this instance."""
    transaction.execute(delete(instance_table).where(instance_table.c.id == name))


def release_all_lanes(transaction: Transaction) -> None:
    """Release all lanes; one that had an owner was not released by a process that is gone: a crash."""
    transaction.execute(delete(instance_table))
    owned = update(lane_table).where(lane_table.c.owner.is_not(None))
    transaction.execute(owned.values(owner=None, crashes=lane_table.c.crashes + 1))


def pause_installation(transaction: Transaction, installation_id: int, until: datetime) -> None:
    """Let no lane of this installation be due before `until`; an earlier pause is never shortened."""
    statement = insert(installation_table).values(
        id=installation_id, not_before=earlier(literal(until.timestamp(), Double), NOW + LONGEST_PAUSE)
    )
    longer = greater_time(NOT_BEFORE, statement.excluded.not_before)
    transaction.execute(
        statement.on_conflict_do_update(index_elements=[installation_table.c.id], set_={"not_before": longer})
    )


def installation_paused_until(transaction: Transaction, installation_id: int) -> datetime | None:
    """Return until when this installation must not ask GitHub; None if it may."""
    paused = and_(installation_table.c.id == installation_id, NOT_BEFORE > NOW)
    at = transaction.execute(select(installation_table.c.not_before).where(paused)).scalar()
    return None if at is None else to_datetime(at)


def lane_due_at(transaction: Transaction, key: str) -> datetime | None:
    """Return when a lane that has work is due, its installation's pause included; None if it has none."""
    due = select(_DUE_AT).select_from(_LANES)
    at = transaction.execute(due.where(lane_table.c.key == key, lane_table.c.due_at.is_not(None))).scalar()
    return None if at is None else to_datetime(at)


def seconds_until_due(transaction: Transaction, claimant: Claimant) -> float | None:
    """Return the seconds until a lane can be claimed; None when nothing is waiting."""
    seconds = transaction.execute(_SECONDS_UNTIL_DUE, claimant.parameters).scalar()
    return None if seconds is None else max(0.0, float(seconds))


_DUE_LANES = _select_due_lanes()
_SECONDS_UNTIL_DUE = _select_seconds_until_due()

_NEW_LANE = insert(lane_table).values(
    due_at=NOW,
    # A lane that was swept away and came back must not repeat a fence.
    fence=cast(NOW * 1000, BigInteger),
    attempt=0,
)
_ADD_ARRIVALS = _NEW_LANE.on_conflict_do_update(
    index_elements=[lane_table.c.key],
    set_={
        "due_at": func.coalesce(lane_table.c.due_at, _NEW_LANE.excluded.due_at),
        "arrivals": lane_table.c.arrivals + _NEW_LANE.excluded.arrivals,
        "installation_id": _NEW_LANE.excluded.installation_id,
    },
)

_NEW_INSTANCE = insert(instance_table).values(started_at=NOW, beat_at=NOW)
_HEARTBEAT = _NEW_INSTANCE.on_conflict_do_update(
    index_elements=[instance_table.c.id], set_={"beat_at": _NEW_INSTANCE.excluded.beat_at}
)

_TAKER = bindparam("taker", type_=Text)
_TAKE_LANES = (
    update(lane_table)
    .where(lane_table.c.key.in_(bindparam("keys", expanding=True)))
    .values(
        owner=_TAKER,
        fence=lane_table.c.fence + 1,
        # A living owner takes its own lane again where it could not release it: that is no crash.
        crashes=case((lane_table.c.owner != _TAKER, lane_table.c.crashes + 1), else_=lane_table.c.crashes),
        isolated=case((lane_table.c.owner == _TAKER, null()), else_=lane_table.c.isolated),
    )
    .returning(
        lane_table.c.key,
        lane_table.c.installation_id,
        lane_table.c.fence,
        lane_table.c.arrivals,
        lane_table.c.attempt,
        lane_table.c.crashes,
        lane_table.c.isolated,
    )
)

_IS_HELD_BY = and_(
    lane_table.c.key == bindparam("held_key"),
    lane_table.c.owner == bindparam("holder"),
    lane_table.c.fence == bindparam("held_fence"),
)
_HELD = select(lane_table.c.key).where(_IS_HELD_BY).with_for_update()


def _held(claim: LaneClaim, owner: str) -> dict[str, Any]:
    """The parameters of `_IS_HELD_BY`."""
    return {"held_key": claim.lane, "holder": owner, "held_fence": claim.fence}


def _release(due_at: ColumnElement[Any]) -> Update:
    return (
        update(lane_table)
        .where(_IS_HELD_BY)
        .values(
            owner=None,
            attempt=bindparam("attempts"),
            due_at=due_at,
            crashes=bindparam("crashes_before"),
            isolated=None,
        )
        .returning(lane_table.c.due_at)
    )


_RELEASE_FOR = _release(NOW + bindparam("seconds", type_=Double))
# New arrivals are seen by the count in this very row: a subquery would read deliveries as
# they were when the statement began, before it waited for the one who wrote the row last.
_HAS_MORE = or_(
    lane_table.c.arrivals != bindparam("seen"),
    exists().where(delivery_table.c.lane == bindparam("held_key"), IS_QUEUED),
    exists().where(outbox_table.c.lane == bindparam("held_key"), outbox_table.c.refusal.is_(None)),
)
_RELEASE_UNTIL_MORE = _release(case((_HAS_MORE, NOW), else_=null()))


BLOCKED_STATE = "withheld"
"""The state of a write that waits for a permission."""
MAX_CRASHED_SERIES = 50
"""Parked deliveries that are counted one by one, the newest: each is a separate series."""


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Figures of the queue, for metrics."""

    deliveries: dict[tuple[str, str], int]
    """(event, state) → count."""
    lanes: int
    due: int
    longest_due: float
    """Seconds for which the oldest due lane has waited."""
    outbox: dict[str, int]
    """State → rows that are owed."""
    lanes_crashed: int
    """Lanes whose last claim ended without release."""
    parked_crashes: dict[tuple[str, str], int]
    """(delivery id, event) → how often the process crashed while handling this parked delivery alone."""
    reconciled_at: float | None = None
    """When the last run that looked for missed deliveries had handled all of them."""
    missed: int = 0
    resent: int = 0


def count_queue(transaction: Transaction) -> QueueCounts:
    """Count what is in the queue now."""
    number, delivery, lane = func.count().label("number"), delivery_table.c, lane_table.c
    by_state = select(delivery.event, delivery.state, number).group_by(delivery.event, delivery.state)
    longest = func.max(NOW - lane.due_at).label("longest")
    waiting = transaction.execute(select(number, longest).where(lane.due_at <= NOW)).one()
    is_blocked = outbox_table.c.refusal.is_not(None)
    state = case((is_blocked, BLOCKED_STATE), else_=outbox_table.c.state).label("state")
    owed = select(state, number).group_by(state)
    crashed = select(delivery.id, delivery.event, delivery.crashes).where(IS_PARKED, delivery.crashes > 0)
    crashed = crashed.order_by(delivery.finished_at.desc()).limit(MAX_CRASHED_SERIES)
    lanes = select(number).select_from(lane_table)
    reconciled = transaction.execute(select(reconcile_table)).first()
    return QueueCounts(
        deliveries={(row.event, row.state): row.number for row in transaction.execute(by_state)},
        lanes=transaction.execute(lanes).scalar_one(),
        due=waiting.number,
        longest_due=float(waiting.longest or 0.0),
        outbox={row.state: row.number for row in transaction.execute(owed)},
        lanes_crashed=transaction.execute(lanes.where(lane.crashes > 0)).scalar_one(),
        parked_crashes={(row.id, row.event): row.crashes for row in transaction.execute(crashed)},
        reconciled_at=reconciled.finished_at if reconciled else None,
        missed=reconciled.found if reconciled else 0,
        resent=reconciled.resent if reconciled else 0,
    )


CHANNEL = "whetstone"
RECONNECT_SECONDS = 1.0


def notify_workers(transaction: Transaction) -> None:
    """Wake the workers of other processes once this transaction is committed."""
    if transaction.shared:
        transaction.execute(text(f"NOTIFY {CHANNEL}"))


class LaneWakes:
    """An event for this process; on a shared database arrivals at other instances set it, too."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self._listener: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Wake the worker of this process."""
        self.event.set()

    async def listen(self, dsn: str) -> None:
        """Listen for what arrives at other instances, until closed."""
        listening = asyncio.Event()
        self._listener = asyncio.create_task(self._listen(dsn, listening), name="store listener")
        # Without it the worker still looks for itself, each second.
        with suppress(TimeoutError):
            await asyncio.wait_for(listening.wait(), RECONNECT_SECONDS * 5)

    async def close(self) -> None:
        """Stop listening."""
        if self._listener:
            self._listener.cancel()
            with suppress(asyncio.CancelledError):
                await self._listener

    async def _listen(self, dsn: str, listening: asyncio.Event) -> None:
        import asyncpg

        while True:
            with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                connection = await asyncpg.connect(dsn, timeout=RECONNECT_SECONDS * 5)
                await self._notice(connection, listening)
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _notice(self, connection: Any, listening: asyncio.Event) -> None:
        ended = asyncio.Event()
        try:
            connection.add_termination_listener(lambda _connection: ended.set())
            await connection.add_listener(CHANNEL, lambda *_notice: self.wake())
            self.wake()  # something may have come while nobody listened
            listening.set()
            await ended.wait()
        finally:
            connection.terminate()
