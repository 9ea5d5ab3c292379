"""When does what was left behind go for good?"""

from __future__ import annotations

from functools import partial

from sqlalchemy import Update, and_, delete, exists, not_, or_, select, update

from bot.adapters.store.database import Database
from bot.adapters.store.memory_homes import WHOLE
from bot.adapters.store.memory_people import forget_repository, has_done_body
from bot.adapters.store.memory_schema import forgotten, former, repository
from bot.adapters.store.schema import DONE, IS_QUEUED, delivery
from bot.adapters.store.transaction import Transaction

GRACE = 86_400.0
"""Seconds in which a transfer's other half may still arrive: nothing is seen of it meanwhile."""
REMEMBERED = 30 * 86_400.0
"""Seconds after which no delivery is left that could be older than the loss."""


RESUMED = 86_400.0
"""Seconds in which the sweeps finish what a process that ended after `/feedback-forget` left undone."""
BATCH = 500


async def empty_bodies(database: Database, repository_id: int) -> int:
    """Empty the deliveries of a repository that are done; returns how many."""
    found = select(delivery.c.id).where(has_done_body(repository_id))
    ids = await database.read(lambda transaction: transaction.execute(found).scalars().all())
    for first in range(0, len(ids), BATCH):
        # A transaction for each batch, so that nobody waits long.
        done = and_(delivery.c.id.in_(ids[first : first + BATCH]), delivery.c.state == DONE)
        emptied = update(delivery).where(done).values(body=None)
        await database.write(partial(_execute, emptied))
    return len(ids)


async def resume(database: Database) -> int:
    """Empty what is left where somebody was forgotten of late; returns how many deliveries."""
    lately = await database.read(
        lambda transaction: (
            transaction.execute(
                select(forgotten.c.repository_id).where(forgotten.c.at > transaction.now - RESUMED).distinct()
            )
            .scalars()
            .all()
        )
    )
    return sum([await empty_bodies(database, which) for which in lately])


def _execute(statement: Update, transaction: Transaction) -> None:
    transaction.execute(statement)


async def erase(database: Database) -> int:
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
        former.c.installation_id == repository.c.installation_id,
        or_(former.c.repository_id == repository.c.id, former.c.repository_id == WHOLE),
        former.c.at < transaction.now - GRACE,
    )
    found = select(repository.c.id).where(exists().where(lost)).order_by(repository.c.id)
    if which is not None:
        found = found.where(repository.c.id == which).with_for_update()
    return tuple(transaction.execute(found).scalars())


def _erase(repository_id: int, transaction: Transaction) -> None:
    for which in _abandoned(transaction, repository_id):
        lost = exists().where(
            former.c.installation_id == delivery.c.installation_id,
            former.c.repository_id.in_((which, WHOLE)),
        )
        # An installation that has it, though nobody told us yet, is still to be answered.
        forget_repository(transaction, which, spared=and_(IS_QUEUED, not_(lost)))


def _empty_deliveries(transaction: Transaction) -> None:
    """What an uninstalled owner's repositories were heard to say."""
    gone = select(former.c.installation_id).where(
        former.c.repository_id == WHOLE, former.c.at < transaction.now - GRACE
    )
    told = and_(delivery.c.installation_id.in_(gone), delivery.c.body.is_not(None), delivery.c.body != b"{}")
    transaction.execute(update(delivery).where(told).values(body=b"{}", error=None))


def _forget_losses(transaction: Transaction) -> None:
    transaction.execute(delete(former).where(former.c.at < transaction.now - REMEMBERED))
