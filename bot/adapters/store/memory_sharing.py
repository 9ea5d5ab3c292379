"""What do the repositories that share their history know of an author together?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sqlalchemy import and_, bindparam, select

from bot.adapters.store import memory
from bot.adapters.store.memory_homes import left
from bot.adapters.store.memory_schema import record, repository
from bot.adapters.store.transaction import Transaction
from bot.domain.fixes import Fix
from bot.domain.memory import Record
from bot.domain.model import Account, Repository

_here = repository.alias("here")
_BESIDE = (
    select(repository.c.id, repository.c.owner, repository.c.name)
    .join(
        _here,
        and_(
            _here.c.installation_id == repository.c.installation_id, _here.c.private == repository.c.private
        ),
    )
    # Both share: nobody's record leaves a repository whose own config does not say so.
    .where(_here.c.id == bindparam("which"), repository.c.id != _here.c.id, repository.c.shared, ~left)
    .order_by(repository.c.id)
)
_OF_ALL = select(record.c.repository_id, record.c.record).where(
    record.c.repository_id.in_(bindparam("where", expanding=True)),
    record.c.installation_id == bindparam("installation"),
    record.c.private == bindparam("private"),
    record.c.last_active >= bindparam("since"),
)
_OF_ONE = _OF_ALL.where(record.c.author_id == bindparam("who"))


def records(
    transaction: Transaction, where: int, since: datetime, author_id: int | None = None
) -> tuple[Record, ...]:
    """Those of the repository, and those of the ones that share with it, each with its repository's name."""
    mine = memory.records_of(transaction, where, since, author_id)
    here, beside = memory.find_repository(transaction, where), _beside(transaction, where)
    if here is None or not beside:
        return mine
    asked = {
        "where": list(beside),
        "installation": here.installation_id,
        "private": here.private,
        "since": since.timestamp(),
    }
    found = (
        transaction.execute(_OF_ALL, asked)
        if author_id is None
        else transaction.execute(_OF_ONE, asked | {"who": author_id})
    )
    theirs = (replace(memory.decoded(row.record), repository=beside[row.repository_id]) for row in found)
    return (*mine, *theirs)


def authored(
    transaction: Transaction, where: int, since: datetime, author_id: int
) -> tuple[tuple[Record, ...], dict[str, Fix]]:
    """An author's records and latest fixes, there and in the repositories that share with it."""
    fixes = list(memory.last_fixes_of(transaction, where, author_id).values())
    for other, name in _beside(transaction, where).items():
        theirs = memory.last_fixes_of(transaction, other, author_id).values()
        fixes += [replace(each, repository=name) for each in theirs]
    newest = {each.tag: each for each in sorted(fixes, key=lambda each: each.at)}
    return records(transaction, where, since, author_id), newest


def author_named(transaction: Transaction, where: int, login: str) -> Account | None:
    """The author who has, or last had, this login there or in a repository that shares with it."""
    for which in (where, *_beside(transaction, where)):
        found = memory.author_named(transaction, which, login)
        if found is not None:
            return found
    return None


def _beside(transaction: Transaction, where: int) -> dict[int, str]:
    rows = transaction.execute(_BESIDE, {"which": where})
    return {row.id: Repository(row.id, row.owner, row.name, 0).full_name for row in rows}
