"""Does the database have the tables that this program needs?"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from bot.adapters.store.address import Address, StoreRefused
from bot.adapters.store.connect import connect
from bot.adapters.store.database import Database

SCRIPTS = Path(__file__).parent / "migrations"
LOCK = 0x77686574
"""Any number, as long as every instance asks for the same one."""


async def migrate(where: Address, database: Database) -> None:
    """Bring the tables up to date; of two instances that start at once, one waits for the other."""
    async with database.read() as connection:
        if await connection.run_sync(_revision) == revisions()[-1]:
            return
    patient = connect(where, clock=None, patience=None)  # a step may take its time
    try:
        await _step(patient)
    finally:
        await patient.close()


def revisions() -> tuple[str, ...]:
    """Every revision this program knows, oldest first, read off the names of the scripts."""
    return tuple(sorted(path.stem[1:5] for path in SCRIPTS.glob("versions/v*.py")))


async def _step(database: Database) -> None:
    async with database.write() as connection:  # on SQLite this alone keeps every other writer out
        if database.shared:
            await connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))
        await connection.run_sync(_upgrade)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def _upgrade(connection: Connection) -> None:
    current = _revision(connection)
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
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
