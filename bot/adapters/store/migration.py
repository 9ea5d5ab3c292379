"""Does the database have the tables that this program needs?"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import inspect, text

from bot.adapters.store.address import StoreRefused
from bot.adapters.store.database import Database
from bot.adapters.store.transaction import Transaction

SCRIPTS = Path(__file__).parent / "migrations"


async def migrate(database: Database) -> None:
    """Bring the tables up to date; of two instances that start at once, one waits for the other."""
    if await database.read(_revision) != revisions()[-1]:
        await database.migrate(_upgrade)


def revisions() -> tuple[str, ...]:
    """Every revision this program knows, oldest first, read off the names of the scripts."""
    return tuple(sorted(path.stem[1:5] for path in SCRIPTS.glob("versions/v*.py")))


def _revision(transaction: Transaction) -> str | None:
    if not inspect(transaction.connection).has_table("alembic_version"):
        return None
    found = transaction.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _upgrade(transaction: Transaction) -> None:
    current = _revision(transaction)
    if current is not None and current not in revisions():
        raise StoreRefused(
            f"the database is at revision {current}, newer than this program's {revisions()[-1]}: "
            "run the version of whetstone that wrote it, or a later one"
        )
    # Slow to import, and seldom needed.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = transaction.connection
    command.upgrade(config, "head")
