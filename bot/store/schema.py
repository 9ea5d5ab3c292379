"""All tables, for SQLite and PostgreSQL, and the migration to the newest version."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    false,
    inspect,
    literal_column,
    text,
)

from bot.store.database import StoreConfigError, Transaction
from bot.store.dialects import Database

QUEUED, DONE, PARKED = "queued", "done", "parked"
"""The states of a delivery."""

READY, SENDING = "ready", "sending"
"""The states of an outbox row."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

# Times are seconds since the epoch: the same number, comparable and addable, in both databases.

delivery_table = Table(
    "delivery",
    metadata,
    # A redelivery keeps its delivery id, so the primary key is our only memory of it.
    Column("id", Text, primary_key=True),
    Column("event", Text, nullable=False),
    Column("lane", Text, nullable=False),
    Column("installation_id", BigInteger, nullable=False),
    Column("body", LargeBinary),
    Column("received_at", Double, nullable=False),
    # The inbox's order. Rows are inserted by id, so that two instances can't deadlock on the
    # primary key; the order in which they came is kept beside it.
    Column("accepted_at", Double, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("error", Text),
    Column("finished_at", Double),
    # How often the process ended while it handled this delivery alone.
    Column("crashes", Integer, nullable=False, server_default="0"),
)
# An index's WHERE is in its migration: repeated here, it would load the dialect of PostgreSQL at each start.
Index("ix_delivery_queued", delivery_table.c.lane)  # WHERE state = 'queued'
Index("ix_delivery_finished_at", delivery_table.c.finished_at)
Index("ix_delivery_parked", delivery_table.c.finished_at)  # WHERE state = 'parked'
# In the words of the indexes: with a value that is told later neither database takes one of them.
IS_QUEUED = delivery_table.c.state == literal_column(f"'{QUEUED}'")
IS_PARKED = delivery_table.c.state == literal_column(f"'{PARKED}'")

lane_table = Table(
    "lane",
    metadata,
    Column("key", Text, primary_key=True),
    Column("installation_id", BigInteger, nullable=False),
    Column("due_at", Double, index=True),
    Column("owner", Text),
    Column("fence", BigInteger, nullable=False),
    Column("arrivals", BigInteger, nullable=False),
    Column("attempt", Integer, nullable=False),
    # Claims in a row that ended without release: their process died, or was stopped past its lease.
    Column("crashes", Integer, nullable=False, server_default="0"),
    # The delivery that is handled now with no other lane beside it. Still set after the claim ended
    # without release, it names the delivery that the crash is counted on.
    Column("isolated", Text),
)

instance_table = Table(
    "instance",
    metadata,
    Column("id", Text, primary_key=True),
    Column("started_at", Double, nullable=False),
    Column("beat_at", Double, nullable=False),
)

installation_table = Table(
    "installation",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("not_before", Double, nullable=False),
)

spending_table = Table(
    "spending",
    metadata,
    Column("installation_id", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
)
Index("ix_spending_installation_id_at", spending_table.c.installation_id, spending_table.c.at)

outbox_table = Table(
    "outbox",
    metadata,
    Column("id", Text, primary_key=True),
    Column("lane", Text, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("target", Text, nullable=False),
    Column("effect", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("sending_at", Double),
    Column("created_at", Double, nullable=False),
    # Why it waits: a kind of write that GitHub does not take for now. The lane is not due for it.
    Column("refusal", Text),
)
Index("ix_outbox_refusal", outbox_table.c.refusal)  # WHERE refusal IS NOT NULL
Index("ix_outbox_lane_position", outbox_table.c.lane, outbox_table.c.position, unique=True)
Index("ix_outbox_ready", outbox_table.c.lane, outbox_table.c.target, unique=True)  # WHERE state = 'ready'

permission_block_table = Table(
    "refusal",
    metadata,
    Column("key", Text, primary_key=True),
    Column("installation_id", BigInteger, nullable=False, index=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("permission", Text, nullable=False),
    Column("at", Double, nullable=False),
)

# One row: the last look for deliveries that GitHub could not bring, by whichever instance.
reconcile_table = Table(
    "reconcile",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("runner", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    # GitHub's rate limit.
    Column("not_before", Double, nullable=False, server_default="0"),
    Column("finished_at", Double),
    # By GitHub's clock: the newest attempt in its list when a run had dealt with the whole list.
    Column("scanned_until", Double),
    Column("found", BigInteger, nullable=False),
    Column("resent", BigInteger, nullable=False),
)

redelivery_table = Table(
    "redelivery",
    metadata,
    # A delivery's id that never came in, or had not when it was looked for.
    Column("id", Text, primary_key=True),
    Column("asked", Integer, nullable=False),
    Column("at", Double, nullable=False),
)

pull_request_table = Table(
    "pull_request",
    metadata,
    Column("lane", Text, primary_key=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("number", Integer, nullable=False),
    Column("installation_id", BigInteger, nullable=False, index=True),
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("author_id", BigInteger, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("merged", Boolean, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("updated_at", Double, nullable=False),
    Column("closed_at", Double),
    # Everything that is known, without the sticky comment; the other columns are for finding it.
    Column("record", Text, nullable=False),
    Column("head", Text, nullable=False, server_default=""),
)
Index(None, pull_request_table.c.repository_id, pull_request_table.c.number, unique=True)
Index("ix_pull_request_repository_id_head", pull_request_table.c.repository_id, pull_request_table.c.head)
Index("ix_pull_request_owner_name", pull_request_table.c.owner, pull_request_table.c.name)

sticky_table = Table(
    "sticky",
    metadata,
    Column("lane", Text, ForeignKey("pull_request.lane", ondelete="CASCADE"), primary_key=True),
    Column("comment_id", BigInteger, nullable=False),
    Column("node_id", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("marker_id", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("issues", Text, nullable=False),
    Column("blocking", Text, nullable=False),
    Column("written_at", Double, nullable=False),
    Column("deleted_at", Double),
)


repository_table = Table(
    "repository",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("installation_id", BigInteger, nullable=False, index=True),
    Column("owner", Text, nullable=False),
    Column("name", Text, nullable=False),
    # GitHub's names know no case; people type them as they like.
    Column("folded", Text, nullable=False, index=True),
    Column("private", Boolean, nullable=False),
    Column("default_branch", Text, nullable=False),
    # How new this is: what was said before it changes nothing.
    Column("seen_at", Double, nullable=False, server_default="0"),
    # Its config shares its records with those of the owner's other repositories that do.
    Column("shared", Boolean, nullable=False, server_default=false()),
)

former_owner_table = Table(
    "former",
    metadata,
    # 0: all of the installation's, which is gone.
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("installation_id", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
)

history_table = Table(
    "record",
    metadata,
    Column("lane", Text, primary_key=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("installation_id", BigInteger, nullable=False, index=True),
    Column("private", Boolean, nullable=False),
    Column("number", Integer, nullable=False),
    Column("author_id", BigInteger, nullable=False),
    Column("login", Text, nullable=False),
    Column("last_active", Double, nullable=False),
    Column("record", Text, nullable=False),
)
Index("ix_record_repository_id_last_active", history_table.c.repository_id, history_table.c.last_active)
Index(
    "ix_record_author", history_table.c.repository_id, history_table.c.author_id, history_table.c.last_active
)
Index("ix_record_last_active", history_table.c.last_active, history_table.c.repository_id)

fix_table = Table(
    "fix",
    metadata,
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("author_id", BigInteger, primary_key=True, autoincrement=False),
    Column("tag", Text, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("head", Text, nullable=False),
    Column("at", Double, nullable=False),
)

document_table = Table(
    "document",
    metadata,
    Column("id", Text, primary_key=True),
    Column("lane", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("body", Text, nullable=False),
)
Index("ix_document_lane_at", document_table.c.lane, document_table.c.at)

reply_table = Table(
    "reply",
    metadata,
    # The command that is answered: one command, one answer.
    Column("key", Text, primary_key=True),
    Column("lane", Text, nullable=False, index=True),
    Column("repository_id", BigInteger, nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("topic", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("comment_id", BigInteger),
    Column("node_id", Text),
)
Index("ix_reply_repository_id_account_id", reply_table.c.repository_id, reply_table.c.account_id)

audit_table = Table(
    "audit",
    metadata,
    Column("key", Text, primary_key=True),
    Column("act", Text, primary_key=True),
    Column("tag", Text, primary_key=True),
    Column("lane", Text, nullable=False),
    Column("repository_id", BigInteger, nullable=False),
    Column("account_id", BigInteger, nullable=False),
    Column("login", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("head", Text, nullable=False),
    Column("reason", Text, nullable=False),
)
Index("ix_audit_repository_id_account_id", audit_table.c.repository_id, audit_table.c.account_id)

weekly_issue_table = Table(
    "weekly_issue",
    metadata,
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("number", Integer, nullable=False),
)

weekly_run_table = Table(
    "weekly_run",
    metadata,
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("week", Text, primary_key=True),
    Column("at", Double, nullable=False),
    Column("told", Boolean, nullable=False),
)

forgotten_table = Table(
    "forgotten",
    metadata,
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
)

REPOSITORY_TABLES = tuple(
    table
    for table in metadata.sorted_tables
    if "repository_id" in table.c and table is not former_owner_table
)
"""Tables whose rows belong to one repository, by its id, and go with it."""


MIGRATIONS_PATH = Path(__file__).parent / "migrations"


async def migrate(database: Database) -> None:
    """Bring the tables up to date; of two instances that start at once, one waits for the other."""
    if await database.read(read_revision) != known_revisions()[-1]:
        await database.migrate(upgrade)


def known_revisions() -> tuple[str, ...]:
    """Every revision this program knows, oldest first, read off the names of the scripts."""
    return tuple(sorted(path.stem[1:5] for path in MIGRATIONS_PATH.glob("versions/v*.py")))


def read_revision(transaction: Transaction) -> str | None:
    """Return the revision of the tables; None if there are none yet."""
    if not inspect(transaction.connection).has_table("alembic_version"):
        return None
    found = transaction.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return None if found is None else str(found)


def upgrade(transaction: Transaction, revision: str = "head") -> None:
    """Bring the tables to this revision; `StoreConfigError` where they are newer than this program."""
    current = read_revision(transaction)
    if current is not None and current not in known_revisions():
        raise StoreConfigError(
            f"the database is at revision {current}, newer than this version's {known_revisions()[-1]}: "
            "run the version of whetstone that wrote it, or a later one"
        )
    # Slow to import, and seldom needed.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS_PATH).replace("%", "%%"))
    config.attributes["connection"] = transaction.connection
    command.upgrade(config, revision)
