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
from sqlalchemy.dialects.sqlite import insert

from bot.gates.rule_book import StoredConfig
from bot.pull_request.effects import CancelWrite
from bot.pull_request.model import PullRequest
from bot.store.codec import decode, decode_effect, encode_effect, encode_record
from bot.store.database import NOW, Transaction, to_datetime, upsert
from bot.store.dialects import Database
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
    """Load what is stored of a config file, None if nothing is."""
    row = transaction.execute(select(config_table).where(config_table.c.key == key)).first()
    return None if row is None else StoredConfig(row.good, row.broken)


def save_stored_config(
    transaction: Transaction, key: str, installation_id: int, config: StoredConfig
) -> None:
    """Save what is known of a config file now."""
    values = {"key": key, "installation_id": installation_id, "good": config.good, "broken": config.broken}
    transaction.execute(upsert(config_table), values)


def has_done_body(repository_id: int) -> ColumnElement[bool]:
    """Whether a delivery of this repository is done and still has its body; not a backfill's own."""
    here = and_(
        is_repository_lane(delivery_table.c.lane, repository_id),
        delivery_table.c.lane != f"backfill:{repository_id}",
    )
    return and_(here, delivery_table.c.body.is_not(None), delivery_table.c.state == DONE)


def delete_repository_data(
    transaction: Transaction, repository_id: int, spared: ColumnElement[bool] | None = None
) -> None:
    """Delete all about a repository, except the deliveries that are spared."""
    lanes = select(pull_request_table.c.lane).where(pull_request_table.c.repository_id == repository_id)
    transaction.execute(delete(document_table).where(document_table.c.lane.in_(lanes)))
    for table in REPOSITORY_TABLES:
        transaction.execute(delete(table).where(table.c.repository_id == repository_id))
    transaction.execute(delete(repository_table).where(repository_table.c.id == repository_id))
    transaction.execute(delete(config_table).where(config_table.c.key == f"repository:{repository_id}"))
    # What was to be written there quotes it, and nobody is left to read it; so does what was delivered.
    transaction.execute(delete(outbox_table).where(is_repository_lane(outbox_table.c.lane, repository_id)))
    has_body = and_(
        is_repository_lane(delivery_table.c.lane, repository_id), delivery_table.c.body.is_not(None)
    )
    if spared is not None:
        has_body = and_(has_body, not_(spared))
    transaction.execute(update(delivery_table).where(has_body).values(body=b"{}", error=None))


def is_repository_lane(lane: ColumnElement[str], repository_id: int) -> ColumnElement[bool]:
    """Whether a lane is this repository's."""
    exact = [f"{kind}:{repository_id}" for kind in _EXACT_LANES]
    below = (lane.like(f"{kind}:{repository_id}:%") for kind in _LANES_BELOW)
    return or_(lane.in_(exact), *below)


_EXACT_LANES = ("weekly", "backfill", "repository")
_LANES_BELOW = ("pr", "issue", "commit", "revisit")


def repository_of_lane(lane: str) -> int | None:
    """Return the id of the repository whose lane this is; None if it is no repository's."""
    kind, _, rest = lane.partition(":")
    number, separator, _ = rest.partition(":")
    is_theirs = kind in (_LANES_BELOW if separator else _EXACT_LANES) and number.isdecimal()
    return int(number) if is_theirs else None


WHOLE_INSTALLATION = 0
"""In place of a repository's id: all that an installation had."""

_IS_LOST = and_(
    former_owner_table.c.installation_id == repository_table.c.installation_id,
    or_(
        former_owner_table.c.repository_id == repository_table.c.id,
        former_owner_table.c.repository_id == WHOLE_INSTALLATION,
    ),
)
has_left = exists().where(_IS_LOST)
"""The repository's last known installation has lost it, and no other has claimed it yet."""


def load_ownership(
    transaction: Transaction, senders: Collection[tuple[str, int]]
) -> dict[str, RepositoryOwnership]:
    """Load, by lane, who owns its repository, where a sender has lost it, or no installation has it now."""
    # Not its own lane: the installation that lost or gained it reports that there.
    repository_ids = {
        lane: which
        for lane, _ in senders
        if not lane.startswith("repository:") and (which := repository_of_lane(lane))
    }
    here = list(set(repository_ids.values()))
    values = {
        "installations": list({installation for _, installation in senders}),
        "here": here,
        "lost": [WHOLE_INSTALLATION, *here],
    }
    rows = transaction.execute(_LOST, values).all()
    if not rows:
        return {}
    repositories = transaction.execute(
        select(repository_table, has_left.label("left")).where(repository_table.c.id.in_(here))
    ).all()
    by_id = {row.id: row for row in repositories}
    ownership: dict[str, RepositoryOwnership] = {}
    for lane, repository_id in repository_ids.items():
        former = frozenset(
            row.installation_id for row in rows if row.repository_id in (repository_id, WHOLE_INSTALLATION)
        )
        row = by_id.get(repository_id)
        is_left = row is not None and row.left
        through = {installation for sender, installation in senders if sender == lane}
        if is_left or former & through:
            now = None if row is None or is_left else repository_from_row(row)
            ownership[lane] = RepositoryOwnership(
                former, now, is_leaving=is_left, lost_at=_lost_at(rows, repository_id, through)
            )
    return ownership


# Built once: every claim asks.
_LOST = select(former_owner_table).where(
    or_(
        former_owner_table.c.installation_id.in_(bindparam("installations", expanding=True)),
        former_owner_table.c.installation_id.in_(
            select(repository_table.c.installation_id).where(
                repository_table.c.id.in_(bindparam("here", expanding=True))
            )
        ),
    ),
    former_owner_table.c.repository_id.in_(bindparam("lost", expanding=True)),
)


def _lost_at(rows: Sequence[Any], repository_id: int, through: Collection[int]) -> datetime | None:
    """Return when the repository was lost last, unless by the end of an installation: that never returns."""
    if any(row.repository_id == WHOLE_INSTALLATION and row.installation_id in through for row in rows):
        return None
    at = max((row.at for row in rows if row.repository_id == repository_id), default=None)
    return None if at is None else to_datetime(at)


def relocate_pull_request(
    transaction: Transaction, pull_request: PullRequest, *, is_shared: bool | None = None
) -> PullRequest:
    """Return the pull request in its present repository; `LaneFenced` where the turn began before a move."""
    row = _lock(transaction, pull_request.repository.id)
    seen = _with_installation(row, pull_request.repository)
    at = pull_request.updated_at.timestamp()
    is_same = row is not None and row.installation_id == seen.installation_id
    if row is not None and row.left and (is_same or _same_owner(row, seen)):
        raise LaneFenced(f"{seen.full_name} was left")
    if not is_same and is_former_installation(transaction, seen):
        raise LaneFenced(f"{seen.full_name} has moved")
    is_old = is_same and at < row.seen_at
    if not is_old:
        _save(transaction, row, seen, at)
    if is_shared is not None and is_shared != (row is not None and row.shared):
        set_history_sharing(transaction, seen.id, shared=is_shared)
    return replace(pull_request, repository=repository_from_row(row) if is_old else seen)


def check_ownership(transaction: Transaction, seen: Iterable[Repository]) -> None:
    """Raise `LaneFenced` where one of these is another installation's by now."""
    for repository in seen:
        _lock(transaction, repository.id)
        if is_former_installation(transaction, repository):
            raise LaneFenced(f"{repository.full_name} has moved")


def update_repository(transaction: Transaction, seen: Repository) -> None:
    """Save the repository as it is now, unless it was seen through an installation that has lost it."""
    row = _lock(transaction, seen.id)
    seen = _with_installation(row, seen)
    if is_former_installation(transaction, seen):
        return
    if row is not None and not seen.default_branch:
        seen = replace(seen, default_branch=row.default_branch)
    if row is not None and row.left and _same_owner(row, seen):
        # The App came back under another number: what was there before it left stays forgotten.
        _begin_afresh(transaction, row, seen)
        row = None
    _save(transaction, row, seen, None)


def add_repository(transaction: Transaction, seen: Repository, *, transferred: bool) -> None:
    """Give the repository to its installation from now on, with all that is stored of it."""
    row = _lock(transaction, seen.id)
    if row is None:
        _forget_loss(transaction, seen)
        if seen.default_branch:
            _save(transaction, None, seen, None)
        return
    seen = replace(seen, default_branch=seen.default_branch or row.default_branch)
    same_installation = row.installation_id == seen.installation_id
    if transferred and same_installation and not _same_owner(row, seen):
        # The former owner's installation gets the event, too.
        remove_repository(transaction, seen.id, seen.installation_id)
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
    _forget_loss(transaction, seen)
    _save(transaction, row, seen, None)


def set_history_sharing(transaction: Transaction, repository_id: int, *, shared: bool) -> None:
    """Set whether the repository shares its history from now on."""
    here = and_(repository_table.c.id == repository_id, repository_table.c.shared.is_distinct_from(shared))
    transaction.execute(update(repository_table).where(here).values(shared=shared))


def wake_lanes(transaction: Transaction, repository_id: int) -> None:
    """Make lanes due that waited for the repository's owner, or for a token of its former one."""
    resting = select(lane_table.c.key).where(
        is_repository_lane(lane_table.c.key, repository_id), lane_table.c.due_at > NOW
    )
    # A lane that an instance holds is left alone: waiting for it here could hold up deliveries.
    keys = transaction.execute(resting.with_for_update(skip_locked=True)).scalars().all()
    if keys:
        transaction.execute(update(lane_table).where(lane_table.c.key.in_(keys)).values(due_at=NOW))


def remove_repository(transaction: Transaction, repository_id: int, installation_id: int) -> None:
    """Take the repository from its installation; what that reports from now on is outdated."""
    _lock(transaction, repository_id)
    lost = insert(former_owner_table).values(
        repository_id=repository_id, installation_id=installation_id, at=NOW
    )
    transaction.execute(lost.on_conflict_do_nothing())


def remove_installation(transaction: Transaction, installation_id: int) -> None:
    """Take all repositories from an installation that is gone."""
    remove_repository(transaction, WHOLE_INSTALLATION, installation_id)
    theirs = and_(config_table.c.installation_id == installation_id, config_table.c.key.like("owner:%"))
    transaction.execute(delete(config_table).where(theirs))


def is_former_installation(transaction: Transaction, seen: Repository) -> bool:
    """Whether this installation has lost the repository."""
    return _lost_since(transaction, seen.id, seen.installation_id) is not None


def _lost_since(transaction: Transaction, repository_id: int, installation_id: int) -> float | None:
    """Return when the installation last lost the repository, or everything."""
    lost = select(func.max(former_owner_table.c.at)).where(
        former_owner_table.c.installation_id == installation_id,
        former_owner_table.c.repository_id.in_((repository_id, WHOLE_INSTALLATION)),
    )
    at: float | None = transaction.execute(lost).scalar_one()
    return at


def _lock(transaction: Transaction, repository_id: int) -> Any:
    """Load and lock the repository's row until this transaction ends: moves happen one by one."""
    return transaction.execute(_REPOSITORY_LOCKED, {"which": repository_id}).first()


def _with_installation(row: Any, seen: Repository) -> Repository:
    """Return the repository with its installation, which some events do not name."""
    if row is None or seen.installation_id:
        return seen
    return replace(seen, installation_id=row.installation_id)


def _same_owner(row: Any, seen: Repository) -> bool:
    owner: str = row.owner
    return owner.lower() == seen.owner.lower()


def _begin_afresh(transaction: Transaction, row: Any, seen: Repository) -> None:
    """Delete all but what the present installation sent since, or what is still queued."""
    at = _lost_since(transaction, seen.id, row.installation_id)
    current = and_(
        delivery_table.c.installation_id == seen.installation_id,
        or_(IS_QUEUED, delivery_table.c.accepted_at > at),
    )
    delete_repository_data(transaction, seen.id, spared=current)


def _forget_loss(transaction: Transaction, seen: Repository) -> None:
    lost = and_(
        former_owner_table.c.repository_id == seen.id,
        former_owner_table.c.installation_id == seen.installation_id,
    )
    transaction.execute(delete(former_owner_table).where(lost))


def _save(transaction: Transaction, row: Any, seen: Repository, at: float | None) -> None:
    """Save where the repository is now, in its row and in all that refers to it."""
    before = None if row is None else repository_from_row(row)
    if before == seen:
        return
    values = {
        "installation_id": seen.installation_id,
        "owner": seen.owner,
        "name": seen.name,
        "folded": seen.full_name.lower(),
        "private": seen.private,
        "default_branch": seen.default_branch,
        "seen_at": NOW if at is None else at,
    }
    if before is None:
        statement = insert(repository_table).values(id=seen.id, **values)
        transaction.execute(
            statement.on_conflict_do_update(index_elements=[repository_table.c.id], set_=values)
        )
        return
    transaction.execute(update(repository_table).where(repository_table.c.id == seen.id).values(values))
    if before.installation_id != seen.installation_id:
        remove_repository(transaction, seen.id, before.installation_id)
    _move(transaction, before, seen)


def _move(transaction: Transaction, before: Repository, seen: Repository) -> None:
    """Update name, visibility and installation in every row of a repository."""
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
    _move_writes(transaction, before, seen)


def _move_writes(transaction: Transaction, before: Repository, seen: Repository) -> None:
    """Send what is owed there through the installation that has it now."""
    theirs = or_(
        is_repository_lane(outbox_table.c.lane, seen.id),
        outbox_table.c.lane == f"config:{before.full_name.lower()}",
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
    """Build a repository from its row."""
    return Repository(row.id, row.owner, row.name, row.installation_id, row.private, row.default_branch)


_REPOSITORY = select(repository_table, has_left.label("left")).where(
    repository_table.c.id == bindparam("which")
)
_REPOSITORY_LOCKED = _REPOSITORY.with_for_update(of=repository_table)


def find_repository(transaction: Transaction, wanted: int | str) -> Repository | None:
    """Find a repository by its id or its full name, as last seen; None if no installation has it."""
    same = (
        repository_table.c.id == wanted
        if isinstance(wanted, int)
        else repository_table.c.folded == wanted.lower()
    )
    row = transaction.execute(select(repository_table).where(same, ~has_left)).first()
    return None if row is None else repository_from_row(row)


def find_active_repositories(transaction: Transaction, since: datetime) -> tuple[Repository, ...]:
    """Find the repositories in which anything was reviewed since then."""
    active = (
        select(history_table.c.repository_id)
        .where(history_table.c.last_active >= since.timestamp())
        .distinct()
    )
    rows = transaction.execute(select(repository_table).where(repository_table.c.id.in_(active), ~has_left))
    return tuple(repository_from_row(row) for row in rows)


TRANSFER_GRACE = 86_400.0
"""Seconds in which the other event of a transfer may still arrive."""
LOSS_KEPT = 30 * 86_400.0
"""Seconds after which no delivery is left that could be older than the loss."""


FORGET_RESUME_SECONDS = 86_400.0
"""Seconds in which the sweeps finish what a process that ended after `/feedback-forget` left undone."""
BATCH = 500


async def empty_bodies(database: Database, repository_id: int) -> int:
    """Empty the deliveries of a repository that are done; returns how many."""
    done = select(delivery_table.c.id).where(has_done_body(repository_id))
    ids = await database.read(lambda transaction: transaction.execute(done).scalars().all())
    for first in range(0, len(ids), BATCH):
        # A transaction for each batch, so that nobody waits long.
        await database.write(partial(_empty_done, ids=ids[first : first + BATCH]))
    return len(ids)


def _empty_done(transaction: Transaction, ids: Sequence[str]) -> None:
    done = and_(delivery_table.c.id.in_(ids), delivery_table.c.state == DONE)
    transaction.execute(update(delivery_table).where(done).values(body=None))


async def resume_emptying(database: Database) -> int:
    """Empty what is left where a person was forgotten lately; returns how many deliveries."""
    is_late = forgotten_table.c.at > NOW - FORGET_RESUME_SECONDS
    lately = select(forgotten_table.c.repository_id).where(is_late).distinct()
    ids = await database.read(lambda transaction: transaction.execute(lately).scalars().all())
    return sum([await empty_bodies(database, repository_id) for repository_id in ids])


async def erase_abandoned(database: Database) -> int:
    """Delete the data of repositories that no installation has claimed in time; returns how many."""
    gone = await database.read(_abandoned)
    for repository_id in gone:
        # One by one, so that nobody waits long; checked again, for it may just have been claimed.
        await database.write(partial(_erase, repository_id=repository_id))
    await database.write(_empty_deliveries)
    old = delete(former_owner_table).where(former_owner_table.c.at < NOW - LOSS_KEPT)
    await database.write(lambda transaction: transaction.change(old))
    return len(gone)


def _abandoned(transaction: Transaction, repository_id: int | None = None) -> tuple[int, ...]:
    is_abandoned = exists().where(_IS_LOST, former_owner_table.c.at < NOW - TRANSFER_GRACE)
    ids = select(repository_table.c.id).where(is_abandoned).order_by(repository_table.c.id)
    if repository_id is not None:
        ids = ids.where(repository_table.c.id == repository_id).with_for_update()
    return tuple(transaction.execute(ids).scalars())


def _erase(transaction: Transaction, repository_id: int) -> None:
    if not _abandoned(transaction, repository_id):
        return
    lost = exists().where(
        former_owner_table.c.installation_id == delivery_table.c.installation_id,
        former_owner_table.c.repository_id.in_((repository_id, WHOLE_INSTALLATION)),
    )
    # An installation that has it, though its event has not come yet, is still to be answered.
    delete_repository_data(transaction, repository_id, spared=and_(IS_QUEUED, not_(lost)))


def _empty_deliveries(transaction: Transaction) -> None:
    """Empty the deliveries of installations that are gone."""
    gone = select(former_owner_table.c.installation_id).where(
        former_owner_table.c.repository_id == WHOLE_INSTALLATION,
        former_owner_table.c.at < NOW - TRANSFER_GRACE,
    )
    has_body = and_(
        delivery_table.c.installation_id.in_(gone),
        delivery_table.c.body.is_not(None),
        delivery_table.c.body != b"{}",
    )
    transaction.execute(update(delivery_table).where(has_body).values(body=b"{}", error=None))
