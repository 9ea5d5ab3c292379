"""What survives a restart, as tables: one schema for SQLite and PostgreSQL."""

from __future__ import annotations

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
    literal_column,
    text,
)

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

delivery = Table(
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
Index(
    "ix_delivery_queued",
    delivery.c.lane,
    sqlite_where=text("state = 'queued'"),
    postgresql_where=text("state = 'queued'"),
)
Index("ix_delivery_finished_at", delivery.c.finished_at)
Index(
    "ix_delivery_parked",
    delivery.c.finished_at,
    sqlite_where=text("state = 'parked'"),
    postgresql_where=text("state = 'parked'"),
)
# In the words of the indexes: with a value that is told later neither database takes one of them.
IS_QUEUED = delivery.c.state == literal_column(f"'{QUEUED}'")
IS_PARKED = delivery.c.state == literal_column(f"'{PARKED}'")

lane = Table(
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

instance = Table(
    "instance",
    metadata,
    Column("id", Text, primary_key=True),
    Column("started_at", Double, nullable=False),
    Column("beat_at", Double, nullable=False),
)

installation = Table(
    "installation",
    metadata,
    Column("id", BigInteger, primary_key=True, autoincrement=False),
    Column("not_before", Double, nullable=False),
)

spending = Table(
    "spending",
    metadata,
    Column("installation_id", BigInteger, nullable=False),
    Column("at", Double, nullable=False),
)
Index("ix_spending_installation_id_at", spending.c.installation_id, spending.c.at)

outbox = Table(
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
Index(
    "ix_outbox_refusal",
    outbox.c.refusal,
    sqlite_where=text("refusal IS NOT NULL"),
    postgresql_where=text("refusal IS NOT NULL"),
)
Index("ix_outbox_lane_position", outbox.c.lane, outbox.c.position, unique=True)
Index(
    "ix_outbox_ready",
    outbox.c.lane,
    outbox.c.target,
    unique=True,
    sqlite_where=text("state = 'ready'"),
    postgresql_where=text("state = 'ready'"),
)

refusal = Table(
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
reconcile = Table(
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

redelivery = Table(
    "redelivery",
    metadata,
    # A delivery's id that never came in, or had not when it was looked for.
    Column("id", Text, primary_key=True),
    Column("asked", Integer, nullable=False),
    Column("at", Double, nullable=False),
)

pull_request = Table(
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
Index(
    "ix_pull_request_repository_id_number", pull_request.c.repository_id, pull_request.c.number, unique=True
)
Index("ix_pull_request_repository_id_head", pull_request.c.repository_id, pull_request.c.head)
Index("ix_pull_request_owner_name", pull_request.c.owner, pull_request.c.name)

sticky = Table(
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
