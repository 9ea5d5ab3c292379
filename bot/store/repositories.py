"""Which installation owns a repository, its stored config, and the deletion of its data."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    LargeBinary,
    Table,
    Text,
    Update,
    and_,
    bindparam,
    delete,
    exists,
    func,
    not_,
    or_,
    select,
    update,
)

from bot.gates.rule_book import StoredConfig
from bot.pull_request.effects import CancelWrite
from bot.pull_request.model import PullRequest
from bot.store.codec import decode, decode_effect, encode_effect, encode_record
from bot.store.database import Database, Transaction, to_datetime
from bot.store.model import LaneFenced, RepositoryOwnership
from bot.store.schema import (
    DONE,
    IS_QUEUED,
    REPOSITORY_TABLES,
    delivery_table,
    document_table,
    forgotten_table,
    former_owner_table,
    history_table,
    lane_table,
    metadata,
    outbox_table,
    permission_block_table,
    pull_request_table,
    repository_table,
)
from bot.values import Repository

config_table = Table(
    "config",
    metadata,
    # `repository:<id>`, or `owner:<installation>:<login>` for the file of all of an owner's repositories
    Column("key", Text, primary_key=True),
    Column("installation_id", BigInteger, nullable=False, index=True),
    Column("good", LargeBinary),
    Column("broken", Text, nullable=False),
)


def load_stored_config(transaction: Transaction, key: str) -> StoredConfig | None:
    """What is kept of this file, None where nothing was ever."""
    row = transaction.execute(select(config_table).where(config_table.c.key == key)).first()
    return None if row is None else StoredConfig(row.good, row.broken)


def save_stored_config(transaction: Transaction, key: str, installation_id: int, kept: StoredConfig) -> None:
    """This is what is known of the file now."""
    values = {"installation_id": installation_id, "good": kept.good, "broken": kept.broken}
    statement = transaction.insert(config_table).values(key=key, **values)
    transaction.execute(statement.on_conflict_do_update(index_elements=[config_table.c.key], set_=values))


def has_done_body(repository_id: int) -> ColumnElement[bool]:
    """A delivery of this repository that is done and still has its body; not a backfill's own."""
    here = and_(
        is_repository_lane(delivery_table.c.lane, repository_id),
        delivery_table.c.lane != f"backfill:{repository_id}",
    )
    return and_(here, delivery_table.c.body.is_not(None), delivery_table.c.state == DONE)


def delete_repository_data(
    transaction: Transaction, repository_id: int, spared: ColumnElement[bool] | None = None
) -> None:
    """All about a repository goes, but for the deliveries that are spared."""
    lanes = select(pull_request_table.c.lane).where(pull_request_table.c.repository_id == repository_id)
    transaction.execute(delete(document_table).where(document_table.c.lane.in_(lanes)))
    for table in (*REPOSITORY_TABLES, pull_request_table, permission_block_table):
        transaction.execute(delete(table).where(table.c.repository_id == repository_id))
    transaction.execute(delete(repository_table).where(repository_table.c.id == repository_id))
    transaction.execute(delete(config_table).where(config_table.c.key == f"repository:{repository_id}"))
    # What was to be said there quotes it, and nobody is left to read it; so does what was delivered.
    transaction.execute(delete(outbox_table).where(is_repository_lane(outbox_table.c.lane, repository_id)))
    told = and_(is_repository_lane(delivery_table.c.lane, repository_id), delivery_table.c.body.is_not(None))
    if spared is not None:
        told = and_(told, not_(spared))
    transaction.execute(update(delivery_table).where(told).values(body=b"{}", error=None))


def is_repository_lane(lane: ColumnElement[str], repository_id: int) -> ColumnElement[bool]:
    """Whether a lane is this repository's."""
    exact = [f"{kind}:{repository_id}" for kind in ("weekly", "backfill", "repository")]
    below = (lane.like(f"{kind}:{repository_id}:%") for kind in ("pr", "issue", "commit"))
    return or_(lane.in_(exact), *below)


WHOLE_INSTALLATION = 0
"""In place of a repository's id: all that an installation had."""

has_left = exists().where(
    former_owner_table.c.installation_id == repository_table.c.installation_id,
    or_(
        former_owner_table.c.repository_id == repository_table.c.id,
        former_owner_table.c.repository_id == WHOLE_INSTALLATION,
    ),
)
"""The repository's last known installation has lost it, and no other has claimed it yet."""


def load_ownership(
    transaction: Transaction, through: Collection[tuple[str, int]]
) -> dict[str, RepositoryOwnership]:
    """By lane, whose its repository is: where a delivery's installation has lost it, or nobody has it now."""
    where = {one: which for one, _ in through if (which := _repository_id(one))}
    here = repository_table.c.id.in_(set(where.values()))
    told = {installation for _, installation in through}
    theirs = former_owner_table.c.installation_id.in_(select(repository_table.c.installation_id).where(here))
    lost = select(former_owner_table).where(
        or_(former_owner_table.c.installation_id.in_(told), theirs),
        former_owner_table.c.repository_id.in_({WHOLE_INSTALLATION, *where.values()}),
    )
    rows = transaction.execute(lost).all()
    if not rows:
        return {}
    found = transaction.execute(select(repository_table, has_left.label("left")).where(here)).all()
    known = {row.id: row for row in found}
    homes: dict[str, RepositoryOwnership] = {}
    for key, which in where.items():
        gone = frozenset(
            row.installation_id for row in rows if row.repository_id in (which, WHOLE_INSTALLATION)
        )
        row = known.get(which)
        is_left = row is not None and row.left
        came = {installation for one, installation in through if one == key}
        if is_left or gone & came:
            now = None if row is None or is_left else repository_from_row(row)
            homes[key] = RepositoryOwnership(gone, now, leaving=is_left, lost_at=_lost_at(rows, which, came))
    return homes


def _lost_at(rows: Sequence[Any], which: int, came: Collection[int]) -> datetime | None:
    """When the repository was lost last, unless by the end of an installation: that never comes back."""
    if any(row.repository_id == WHOLE_INSTALLATION and row.installation_id in came for row in rows):
        return None
    at = max((row.at for row in rows if row.repository_id == which), default=None)
    return None if at is None else to_datetime(at)


def _repository_id(key: str) -> int | None:
    kind, _, rest = key.partition(":")
    number = rest.partition(":")[0]
    return int(number) if kind in _KINDS and number.isdecimal() else None


def relocate_pull_request(
    transaction: Transaction, known: PullRequest, *, shares: bool | None = None
) -> PullRequest:
    """The pull request, in the repository as it is now; `Fenced` where its turn began before a move."""
    row = _locked(transaction, known.repository.id)
    seen = _through(row, known.repository)
    at = known.updated_at.timestamp()
    is_same = row is not None and row.installation_id == seen.installation_id
    if row is not None and row.left and (is_same or _same_owner(row, seen)):
        raise LaneFenced(f"{seen.full_name} was left")
    if not is_same and is_former_installation(transaction, seen):
        raise LaneFenced(f"{seen.full_name} has moved")
    is_old = is_same and at < row.seen_at
    if not is_old:
        _settle(transaction, row, seen, at)
    if shares is not None and shares != (row is not None and row.shared):
        set_history_sharing(transaction, seen.id, shared=shares)
    return replace(known, repository=repository_from_row(row) if is_old else seen)


def check_ownership(transaction: Transaction, seen: Iterable[Repository]) -> None:
    """`Fenced` where one of these is another installation's by now."""
    for where in seen:
        _locked(transaction, where.id)
        if is_former_installation(transaction, where):
            raise LaneFenced(f"{where.full_name} has moved")


def update_repository(transaction: Transaction, seen: Repository) -> None:
    """This is the repository now, unless it is told through an installation that has lost it."""
    row = _locked(transaction, seen.id)
    seen = _through(row, seen)
    if is_former_installation(transaction, seen):
        return
    if row is not None and not seen.default_branch:
        seen = replace(seen, default_branch=row.default_branch)
    if row is not None and row.left and _same_owner(row, seen):
        # The App came back under another number: what was there before it left stays forgotten.
        _begin_afresh(transaction, row, seen)
        row = None
    _settle(transaction, row, seen, None)


def add_repository(transaction: Transaction, seen: Repository, *, transferred: bool) -> None:
    """The installation has the repository from now on, with all that is remembered of it."""
    row = _locked(transaction, seen.id)
    if row is None:
        _forgive(transaction, seen)
        if seen.default_branch:
            _settle(transaction, None, seen, None)
        return
    seen = replace(seen, default_branch=seen.default_branch or row.default_branch)
    same_installation = row.installation_id == seen.installation_id
    if transferred and same_installation and not _same_owner(row, seen):
        remove_repository(
            transaction, seen.id, seen.installation_id
        )  # the former owner's installation is told, too
        return
    if (
        transferred
        and not same_installation
        and _same_owner(row, seen)
        and is_former_installation(transaction, seen)
    ):
        return  # likewise, and later than the new one's
    if row.left and (same_installation or _same_owner(row, seen)):
        _begin_afresh(transaction, row, seen)
        row = None
    _forgive(transaction, seen)
    _settle(transaction, row, seen, None)


def set_history_sharing(transaction: Transaction, repository_id: int, *, shared: bool) -> None:
    """Whether the repository shares its history from now on."""
    here = and_(repository_table.c.id == repository_id, repository_table.c.shared.is_distinct_from(shared))
    transaction.execute(update(repository_table).where(here).values(shared=shared))


def wake_lanes(transaction: Transaction, repository_id: int) -> None:
    """What waited for the repository to have a home, or for its former one's token, waits no longer."""
    resting = select(lane_table.c.key).where(
        is_repository_lane(lane_table.c.key, repository_id), lane_table.c.due_at > transaction.now
    )
    # A lane that somebody holds is left alone: waiting for it here could hold up the door.
    keys = transaction.execute(resting.with_for_update(skip_locked=True)).scalars().all()
    if keys:
        transaction.execute(
            update(lane_table).where(lane_table.c.key.in_(keys)).values(due_at=transaction.now)
        )


def remove_repository(transaction: Transaction, repository_id: int, installation_id: int) -> None:
    """The installation has the repository no longer; what it says of it from now on is old."""
    _locked(transaction, repository_id)
    statement = transaction.insert(former_owner_table).values(
        repository_id=repository_id, installation_id=installation_id, at=transaction.now
    )
    transaction.execute(statement.on_conflict_do_nothing())


def remove_installation(transaction: Transaction, installation_id: int) -> None:
    """The installation is gone, and has nothing any longer."""
    remove_repository(transaction, WHOLE_INSTALLATION, installation_id)
    theirs = and_(config_table.c.installation_id == installation_id, config_table.c.key.like("owner:%"))
    transaction.execute(delete(config_table).where(theirs))


def is_former_installation(transaction: Transaction, seen: Repository) -> bool:
    """Whether this installation has lost the repository."""
    found = select(former_owner_table.c.at).where(
        former_owner_table.c.installation_id == seen.installation_id,
        former_owner_table.c.repository_id.in_((seen.id, WHOLE_INSTALLATION)),
    )
    return transaction.execute(found).first() is not None


def _locked(transaction: Transaction, repository_id: int) -> Any:
    """Its row, nobody else's to change until this transaction ends: moves are done one by one."""
    return transaction.execute(_LOCKED, {"which": repository_id}).first()


def _through(row: Any, seen: Repository) -> Repository:
    """The repository with its installation, also where whoever told of it named none."""
    if row is None or seen.installation_id:
        return seen
    return replace(seen, installation_id=row.installation_id)


def _same_owner(row: Any, seen: Repository) -> bool:
    owner: str = row.owner
    return owner.lower() == seen.owner.lower()


def _begin_afresh(transaction: Transaction, row: Any, seen: Repository) -> None:
    """All goes but what the installation that has the repository now told since, or has still to be heard."""
    lost = select(func.max(former_owner_table.c.at)).where(
        former_owner_table.c.installation_id == row.installation_id,
        former_owner_table.c.repository_id.in_((seen.id, WHOLE_INSTALLATION)),
    )
    at = transaction.execute(lost).scalar_one()
    anew = and_(
        delivery_table.c.installation_id == seen.installation_id,
        or_(IS_QUEUED, delivery_table.c.accepted_at > at),
    )
    delete_repository_data(transaction, seen.id, spared=anew)


def _forgive(transaction: Transaction, seen: Repository) -> None:
    lost = and_(
        former_owner_table.c.repository_id == seen.id,
        former_owner_table.c.installation_id == seen.installation_id,
    )
    transaction.execute(delete(former_owner_table).where(lost))


def _settle(transaction: Transaction, row: Any, seen: Repository, at: float | None) -> None:
    """The repository's row and all that hangs on it say where it is now."""
    known = None if row is None else repository_from_row(row)
    if known == seen:
        return
    values = {
        "installation_id": seen.installation_id,
        "owner": seen.owner,
        "name": seen.name,
        "folded": seen.full_name.lower(),
        "private": seen.private,
        "default_branch": seen.default_branch,
        "seen_at": transaction.now if at is None else at,
    }
    if known is None:
        statement = transaction.insert(repository_table).values(id=seen.id, **values)
        transaction.execute(
            statement.on_conflict_do_update(index_elements=[repository_table.c.id], set_=values)
        )
        return
    transaction.execute(update(repository_table).where(repository_table.c.id == seen.id).values(values))
    if known.installation_id != seen.installation_id:
        remove_repository(transaction, seen.id, known.installation_id)
    _move(transaction, known, seen)


def _move(transaction: Transaction, known: Repository, seen: Repository) -> None:
    """Every row of a repository has the name, the visibility and the installation that it has now."""
    now = {"installation_id": seen.installation_id, "private": seen.private}
    transaction.execute(update(history_table).where(history_table.c.repository_id == seen.id).values(now))
    theirs = update(config_table).where(config_table.c.key == f"repository:{seen.id}")
    transaction.execute(theirs.values(installation_id=seen.installation_id))
    names = {"installation_id": seen.installation_id, "owner": seen.owner, "name": seen.name}
    same = pull_request_table.c.repository_id == seen.id
    rows = transaction.execute(
        select(pull_request_table.c.lane, pull_request_table.c.record).where(same)
    ).all()
    for row in rows:
        moved = encode_record(replace(decode(row.record, PullRequest), repository=seen))
        here = pull_request_table.c.lane == row.lane
        transaction.execute(update(pull_request_table).where(here).values(names | {"record": moved}))
    _move_writes(transaction, known, seen)


def _move_writes(transaction: Transaction, known: Repository, seen: Repository) -> None:
    """What is owed there is written through the installation that has it now."""
    theirs = or_(
        is_repository_lane(outbox_table.c.lane, seen.id),
        outbox_table.c.lane == f"config:{known.full_name.lower()}",
    )
    owed = select(outbox_table.c.id, outbox_table.c.effect).where(theirs)
    for row in transaction.execute(owed).all():
        try:
            effect = decode_effect(row.effect)
        except (LookupError, TypeError, ValueError):
            continue  # it is dropped when its lane is claimed
        if isinstance(effect, CancelWrite):
            continue
        moved = replace(effect, repository=seen)
        transaction.execute(
            update(outbox_table).where(outbox_table.c.id == row.id).values(effect=encode_effect(moved))
        )


def repository_from_row(row: Any) -> Repository:
    """The repository that a row of the table of that name tells of."""
    return Repository(row.id, row.owner, row.name, row.installation_id, row.private, row.default_branch)


_KINDS = frozenset({"pr", "issue", "commit", "weekly", "backfill"})
_FOUND = select(repository_table, has_left.label("left")).where(repository_table.c.id == bindparam("which"))
_LOCKED = _FOUND.with_for_update(of=repository_table)


def find_repository(transaction: Transaction, wanted: int | str) -> Repository | None:
    """A repository by its id or its name, as it was last seen."""
    same = (
        repository_table.c.id == wanted
        if isinstance(wanted, int)
        else repository_table.c.folded == wanted.lower()
    )
    row = transaction.execute(select(repository_table).where(same, ~has_left)).first()
    return None if row is None else repository_from_row(row)


def find_active_repositories(transaction: Transaction, since: datetime) -> tuple[Repository, ...]:
    """Where anything was judged since then."""
    active = (
        select(history_table.c.repository_id)
        .where(history_table.c.last_active >= since.timestamp())
        .distinct()
    )
    rows = transaction.execute(select(repository_table).where(repository_table.c.id.in_(active), ~has_left))
    return tuple(repository_from_row(row) for row in rows)


TRANSFER_GRACE = 86_400.0
"""Seconds in which a transfer's other half may still arrive: nothing is seen of it meanwhile."""
LOSS_KEPT = 30 * 86_400.0
"""Seconds after which no delivery is left that could be older than the loss."""


RESUMED = 86_400.0
"""Seconds in which the sweeps finish what a process that ended after `/feedback-forget` left undone."""
BATCH = 500


async def empty_bodies(database: Database, repository_id: int) -> int:
    """Empty the deliveries of a repository that are done; returns how many."""
    found = select(delivery_table.c.id).where(has_done_body(repository_id))
    ids = await database.read(lambda transaction: transaction.execute(found).scalars().all())
    for first in range(0, len(ids), BATCH):
        # A transaction for each batch, so that nobody waits long.
        done = and_(delivery_table.c.id.in_(ids[first : first + BATCH]), delivery_table.c.state == DONE)
        emptied = update(delivery_table).where(done).values(body=None)
        await database.write(partial(_execute, emptied))
    return len(ids)


async def resume(database: Database) -> int:
    """Empty what is left where somebody was forgotten of late; returns how many deliveries."""
    lately = await database.read(
        lambda transaction: (
            transaction.execute(
                select(forgotten_table.c.repository_id)
                .where(forgotten_table.c.at > transaction.now - RESUMED)
                .distinct()
            )
            .scalars()
            .all()
        )
    )
    return sum([await empty_bodies(database, which) for which in lately])


def _execute(statement: Update, transaction: Transaction) -> None:
    transaction.execute(statement)


async def erase_abandoned(database: Database) -> int:
    """Delete the memory of repositories that nobody has claimed in time; returns how many."""
    gone = await database.read(_abandoned)
    for repository_id in gone:
        # One by one, so that nobody waits long; asked again, for it may just have been claimed.
        await database.write(partial(_erase, repository_id))
    await database.write(_empty_deliveries)
    await database.write(_forget_losses)
    return len(gone)


def _abandoned(transaction: Transaction, which: int | None = None) -> tuple[int, ...]:
    lost = and_(
        former_owner_table.c.installation_id == repository_table.c.installation_id,
        or_(
            former_owner_table.c.repository_id == repository_table.c.id,
            former_owner_table.c.repository_id == WHOLE_INSTALLATION,
        ),
        former_owner_table.c.at < transaction.now - TRANSFER_GRACE,
    )
    found = select(repository_table.c.id).where(exists().where(lost)).order_by(repository_table.c.id)
    if which is not None:
        found = found.where(repository_table.c.id == which).with_for_update()
    return tuple(transaction.execute(found).scalars())


def _erase(repository_id: int, transaction: Transaction) -> None:
    for which in _abandoned(transaction, repository_id):
        lost = exists().where(
            former_owner_table.c.installation_id == delivery_table.c.installation_id,
            former_owner_table.c.repository_id.in_((which, WHOLE_INSTALLATION)),
        )
        # An installation that has it, though nobody told us yet, is still to be answered.
        delete_repository_data(transaction, which, spared=and_(IS_QUEUED, not_(lost)))


def _empty_deliveries(transaction: Transaction) -> None:
    """What an uninstalled owner's repositories were heard to say."""
    gone = select(former_owner_table.c.installation_id).where(
        former_owner_table.c.repository_id == WHOLE_INSTALLATION,
        former_owner_table.c.at < transaction.now - TRANSFER_GRACE,
    )
    told = and_(
        delivery_table.c.installation_id.in_(gone),
        delivery_table.c.body.is_not(None),
        delivery_table.c.body != b"{}",
    )
    transaction.execute(update(delivery_table).where(told).values(body=b"{}", error=None))


def _forget_losses(transaction: Transaction) -> None:
    transaction.execute(
        delete(former_owner_table).where(former_owner_table.c.at < transaction.now - LOSS_KEPT)
    )
