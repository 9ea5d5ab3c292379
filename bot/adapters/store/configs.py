"""What is kept of a config file: the last text without a mistake, and which mistake was told about."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, LargeBinary, Table, Text, select

from bot.adapters.store.schema import metadata
from bot.adapters.store.transaction import Transaction
from bot.ports import KeptConfig

config = Table(
    "config",
    metadata,
    # `repository:<id>`, or `owner:<installation>:<login>` for the file of all of an owner's repositories
    Column("key", Text, primary_key=True),
    Column("installation_id", BigInteger, nullable=False, index=True),
    Column("good", LargeBinary),
    Column("broken", Text, nullable=False),
)


def load(transaction: Transaction, key: str) -> KeptConfig | None:
    """What is kept of this file, None where nothing was ever."""
    row = transaction.execute(select(config).where(config.c.key == key)).first()
    return None if row is None else KeptConfig(row.good, row.broken)


def keep(transaction: Transaction, key: str, installation_id: int, kept: KeptConfig) -> None:
    """This is what is known of the file now."""
    values = {"installation_id": installation_id, "good": kept.good, "broken": kept.broken}
    statement = transaction.insert(config).values(key=key, **values)
    transaction.execute(statement.on_conflict_do_update(index_elements=[config.c.key], set_=values))
