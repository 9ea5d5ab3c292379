"""Does the database know how its tables have grown, so that it picks the right index?"""

from __future__ import annotations

from sqlalchemy import text

from bot.adapters.store.database import Database
from bot.adapters.store.transaction import Transaction

ROWS_LOOKED_AT = 400
"""Of an index, on SQLite: a look at a large store takes no longer than at a small one."""
SMALL = 500
"""Rows. A table that is small now may be large in a minute, long before the next look. Told of one lane,
SQLite reads all lanes for each that is due, seconds for some thousands; told nothing, it takes an index."""

# PostgreSQL looks by itself once a minute, where its operator lets it: only what it has missed is left.
_GROWN = text(
    "SELECT relname FROM pg_stat_user_tables WHERE schemaname = current_schema()"
    " AND n_mod_since_analyze > 500 + 0.2 * n_live_tup ORDER BY relname"
)
_SMALL_ONES = text("DELETE FROM sqlite_stat1 WHERE CAST(stat AS INTEGER) < :small")


async def look(database: Database) -> None:
    """Have the database look at the tables that have grown a good deal since it last did."""
    await database.write(_look)


def _look(transaction: Transaction) -> None:
    if not transaction.shared:
        transaction.execute(text(f"PRAGMA analysis_limit={ROWS_LOOKED_AT}"))
        transaction.execute(text("ANALYZE"))
        transaction.execute(_SMALL_ONES, {"small": SMALL})
        transaction.execute(text("ANALYZE sqlite_master"))  # only takes in what is left
        return
    for name in transaction.execute(_GROWN).scalars().all():
        transaction.execute(text(f'ANALYZE "{name}"'))
