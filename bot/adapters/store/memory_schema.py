"""What is remembered beyond one pull request, as tables."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, Table, Text, false

from bot.adapters.store.schema import metadata

repository = Table(
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

former = Table(
    "former",
    metadata,
    # 0: all of the installation's, which is gone.
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("installation_id", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
)

record = Table(
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
Index("ix_record_repository_id_last_active", record.c.repository_id, record.c.last_active)
Index("ix_record_author", record.c.repository_id, record.c.author_id, record.c.last_active)
Index("ix_record_last_active", record.c.last_active, record.c.repository_id)

fix = Table(
    "fix",
    metadata,
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("author_id", BigInteger, primary_key=True, autoincrement=False),
    Column("tag", Text, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("head", Text, nullable=False),
    Column("at", Double, nullable=False),
)

document = Table(
    "document",
    metadata,
    Column("id", Text, primary_key=True),
    Column("lane", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("body", Text, nullable=False),
)
Index("ix_document_lane_at", document.c.lane, document.c.at)

reply = Table(
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
Index("ix_reply_repository_id_account_id", reply.c.repository_id, reply.c.account_id)

audit = Table(
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
Index("ix_audit_repository_id_account_id", audit.c.repository_id, audit.c.account_id)

weekly_issue = Table(
    "weekly_issue",
    metadata,
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("number", Integer, nullable=False),
)

weekly_run = Table(
    "weekly_run",
    metadata,
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("week", Text, primary_key=True),
    Column("at", Double, nullable=False),
    Column("told", Boolean, nullable=False),
)

forgotten = Table(
    "forgotten",
    metadata,
    Column("repository_id", BigInteger, primary_key=True, autoincrement=False),
    Column("account_id", BigInteger, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
)

OF_A_REPOSITORY = (record, fix, reply, audit, weekly_issue, weekly_run, forgotten)
"""Tables whose rows belong to one repository, by its id."""
