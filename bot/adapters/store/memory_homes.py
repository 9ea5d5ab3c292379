"""Which installation has a repository now, and which ones had it before?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, delete, exists, func, or_, select, update

from bot.adapters.store.codec import decode, decode_effect, encode_effect, encode_record
from bot.adapters.store.configs import config
from bot.adapters.store.memory_people import forget_repository, lanes_of
from bot.adapters.store.memory_schema import former, record, repository
from bot.adapters.store.schema import IS_QUEUED, delivery, lane, outbox, pull_request
from bot.adapters.store.transaction import Transaction, moment
from bot.domain.effects import Withdraw
from bot.domain.model import PullRequest, Repository
from bot.ports import Fenced, Home

WHOLE = 0
"""In place of a repository's id: all that an installation had."""

left = exists().where(
    former.c.installation_id == repository.c.installation_id,
    or_(former.c.repository_id == repository.c.id, former.c.repository_id == WHOLE),
)
"""The repository's last known installation has lost it, and no other has claimed it yet."""


def homes(transaction: Transaction, through: Collection[tuple[str, int]]) -> dict[str, Home]:
    """By lane, whose its repository is: where a delivery's installation has lost it, or nobody has it now."""
    where = {one: which for one, _ in through if (which := _repository_id(one))}
    here = repository.c.id.in_(set(where.values()))
    told = {installation for _, installation in through}
    theirs = former.c.installation_id.in_(select(repository.c.installation_id).where(here))
    lost = select(former).where(
        or_(former.c.installation_id.in_(told), theirs),
        former.c.repository_id.in_({WHOLE, *where.values()}),
    )
    rows = transaction.execute(lost).all()
    if not rows:
        return {}
    found = transaction.execute(select(repository, left.label("left")).where(here)).all()
    known = {row.id: row for row in found}
    homes: dict[str, Home] = {}
    for key, which in where.items():
        gone = frozenset(row.installation_id for row in rows if row.repository_id in (which, WHOLE))
        row = known.get(which)
        is_left = row is not None and row.left
        came = {installation for one, installation in through if one == key}
        if is_left or gone & came:
            now = None if row is None or is_left else repository_of(row)
            homes[key] = Home(gone, now, leaving=is_left, lost_at=_lost_at(rows, which, came))
    return homes


def _lost_at(rows: Sequence[Any], which: int, came: Collection[int]) -> datetime | None:
    """When the repository was lost last, unless by the end of an installation: that never comes back."""
    if any(row.repository_id == WHOLE and row.installation_id in came for row in rows):
        return None
    at = max((row.at for row in rows if row.repository_id == which), default=None)
    return None if at is None else moment(at)


def _repository_id(key: str) -> int | None:
    kind, _, rest = key.partition(":")
    number = rest.partition(":")[0]
    return int(number) if kind in _KINDS and number.isdecimal() else None


def at_home(transaction: Transaction, known: PullRequest, *, shares: bool | None = None) -> PullRequest:
    """The pull request, in the repository as it is now; `Fenced` where its turn began before a move."""
    row = _locked(transaction, known.repository.id)
    seen = _through(row, known.repository)
    at = known.updated_at.timestamp()
    is_same = row is not None and row.installation_id == seen.installation_id
    if row is not None and row.left and (is_same or _same_owner(row, seen)):
        raise Fenced(f"{seen.full_name} was left")
    if not is_same and is_former(transaction, seen):
        raise Fenced(f"{seen.full_name} has moved")
    is_old = is_same and at < row.seen_at
    if not is_old:
        _settle(transaction, row, seen, at)
    if shares is not None and shares != (row is not None and row.shared):
        share(transaction, seen.id, shared=shares)
    return replace(known, repository=repository_of(row) if is_old else seen)


def not_moved(transaction: Transaction, seen: Iterable[Repository]) -> None:
    """`Fenced` where one of these is another installation's by now."""
    for where in seen:
        _locked(transaction, where.id)
        if is_former(transaction, where):
            raise Fenced(f"{where.full_name} has moved")


def see(transaction: Transaction, seen: Repository) -> None:
    """This is the repository now, unless it is told through an installation that has lost it."""
    row = _locked(transaction, seen.id)
    seen = _through(row, seen)
    if is_former(transaction, seen):
        return
    if row is not None and not seen.default_branch:
        seen = replace(seen, default_branch=row.default_branch)
    if row is not None and row.left and _same_owner(row, seen):
        # The App came back under another number: what was there before it left stays forgotten.
        _begin_afresh(transaction, row, seen)
        row = None
    _settle(transaction, row, seen, None)


def gain(transaction: Transaction, seen: Repository, *, transferred: bool) -> None:
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
        leave(transaction, seen.id, seen.installation_id)  # the former owner's installation is told, too
        return
    if transferred and not same_installation and _same_owner(row, seen) and is_former(transaction, seen):
        return  # likewise, and later than the new one's
    if row.left and (same_installation or _same_owner(row, seen)):
        _begin_afresh(transaction, row, seen)
        row = None
    _forgive(transaction, seen)
    _settle(transaction, row, seen, None)


def share(transaction: Transaction, repository_id: int, *, shared: bool) -> None:
    """Whether the repository shares its history from now on."""
    here = and_(repository.c.id == repository_id, repository.c.shared.is_distinct_from(shared))
    transaction.execute(update(repository).where(here).values(shared=shared))


def hurry(transaction: Transaction, repository_id: int) -> None:
    """What waited for the repository to have a home, or for its former one's token, waits no longer."""
    resting = select(lane.c.key).where(lanes_of(lane.c.key, repository_id), lane.c.due_at > transaction.now)
    # A lane that somebody holds is left alone: waiting for it here could hold up the door.
    keys = transaction.execute(resting.with_for_update(skip_locked=True)).scalars().all()
    if keys:
        transaction.execute(update(lane).where(lane.c.key.in_(keys)).values(due_at=transaction.now))


def leave(transaction: Transaction, repository_id: int, installation_id: int) -> None:
    """The installation has the repository no longer; what it says of it from now on is old."""
    _locked(transaction, repository_id)
    statement = transaction.insert(former).values(
        repository_id=repository_id, installation_id=installation_id, at=transaction.now
    )
    transaction.execute(statement.on_conflict_do_nothing())


def leave_all(transaction: Transaction, installation_id: int) -> None:
    """The installation is gone, and has nothing any longer."""
    leave(transaction, WHOLE, installation_id)
    theirs = and_(config.c.installation_id == installation_id, config.c.key.like("owner:%"))
    transaction.execute(delete(config).where(theirs))


def is_former(transaction: Transaction, seen: Repository) -> bool:
    """Whether this installation has lost the repository."""
    found = select(former.c.at).where(
        former.c.installation_id == seen.installation_id, former.c.repository_id.in_((seen.id, WHOLE))
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
    lost = select(func.max(former.c.at)).where(
        former.c.installation_id == row.installation_id, former.c.repository_id.in_((seen.id, WHOLE))
    )
    at = transaction.execute(lost).scalar_one()
    anew = and_(
        delivery.c.installation_id == seen.installation_id, or_(IS_QUEUED, delivery.c.accepted_at > at)
    )
    forget_repository(transaction, seen.id, spared=anew)


def _forgive(transaction: Transaction, seen: Repository) -> None:
    lost = and_(former.c.repository_id == seen.id, former.c.installation_id == seen.installation_id)
    transaction.execute(delete(former).where(lost))


def _settle(transaction: Transaction, row: Any, seen: Repository, at: float | None) -> None:
    """The repository's row and all that hangs on it say where it is now."""
    known = None if row is None else repository_of(row)
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
        statement = transaction.insert(repository).values(id=seen.id, **values)
        transaction.execute(statement.on_conflict_do_update(index_elements=[repository.c.id], set_=values))
        return
    transaction.execute(update(repository).where(repository.c.id == seen.id).values(values))
    if known.installation_id != seen.installation_id:
        leave(transaction, seen.id, known.installation_id)
    _move(transaction, known, seen)


def _move(transaction: Transaction, known: Repository, seen: Repository) -> None:
    """Every row of a repository has the name, the visibility and the installation that it has now."""
    now = {"installation_id": seen.installation_id, "private": seen.private}
    transaction.execute(update(record).where(record.c.repository_id == seen.id).values(now))
    theirs = update(config).where(config.c.key == f"repository:{seen.id}")
    transaction.execute(theirs.values(installation_id=seen.installation_id))
    names = {"installation_id": seen.installation_id, "owner": seen.owner, "name": seen.name}
    same = pull_request.c.repository_id == seen.id
    rows = transaction.execute(select(pull_request.c.lane, pull_request.c.record).where(same)).all()
    for row in rows:
        moved = encode_record(replace(decode(row.record, PullRequest), repository=seen))
        here = pull_request.c.lane == row.lane
        transaction.execute(update(pull_request).where(here).values(names | {"record": moved}))
    _move_writes(transaction, known, seen)


def _move_writes(transaction: Transaction, known: Repository, seen: Repository) -> None:
    """What is owed there is written through the installation that has it now."""
    theirs = or_(lanes_of(outbox.c.lane, seen.id), outbox.c.lane == f"config:{known.full_name.lower()}")
    owed = select(outbox.c.id, outbox.c.effect).where(theirs)
    for row in transaction.execute(owed).all():
        try:
            effect = decode_effect(row.effect)
        except (LookupError, TypeError, ValueError):
            continue  # it is dropped when its lane is claimed
        if isinstance(effect, Withdraw):
            continue
        moved = replace(effect, repository=seen)
        transaction.execute(update(outbox).where(outbox.c.id == row.id).values(effect=encode_effect(moved)))


def repository_of(row: Any) -> Repository:
    """The repository that a row of the table of that name tells of."""
    return Repository(row.id, row.owner, row.name, row.installation_id, row.private, row.default_branch)


_KINDS = frozenset({"pr", "issue", "commit", "weekly", "backfill"})
_FOUND = select(repository, left.label("left")).where(repository.c.id == bindparam("which"))
_LOCKED = _FOUND.with_for_update(of=repository)
