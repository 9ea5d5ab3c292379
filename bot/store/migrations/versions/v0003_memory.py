"""What is remembered beyond one pull request: records, fixes, documents, answers, the weeks."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Room for histories and weekly summaries."""
    op.create_table(
        "audit",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("act", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", "act", "tag", name=op.f("pk_audit")),
    )
    op.create_index(
        "ix_audit_repository_id_account_id", "audit", ["repository_id", "account_id"], unique=False
    )
    op.create_table(
        "document",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document")),
    )
    op.create_index("ix_document_lane_at", "document", ["lane", "at"], unique=False)
    op.create_table(
        "fix",
        sa.Column("repository_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("author_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "author_id", "tag", name=op.f("pk_fix")),
    )
    op.create_table(
        "forgotten",
        sa.Column("repository_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "account_id", name=op.f("pk_forgotten")),
    )
    op.create_table(
        "record",
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.BigInteger(), nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("last_active", sa.Double(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("lane", name=op.f("pk_record")),
    )
    op.create_index("ix_record_author", "record", ["repository_id", "author_id", "last_active"], unique=False)
    op.create_index(op.f("ix_record_installation_id"), "record", ["installation_id"], unique=False)
    op.create_index(
        "ix_record_repository_id_last_active", "record", ["repository_id", "last_active"], unique=False
    )
    op.create_table(
        "reply",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("comment_id", sa.BigInteger(), nullable=True),
        sa.Column("node_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_reply")),
    )
    op.create_index(op.f("ix_reply_lane"), "reply", ["lane"], unique=False)
    op.create_index(
        "ix_reply_repository_id_account_id", "reply", ["repository_id", "account_id"], unique=False
    )
    op.create_table(
        "repository",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("default_branch", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_repository")),
    )
    op.create_index(op.f("ix_repository_folded"), "repository", ["folded"], unique=False)
    op.create_index(op.f("ix_repository_installation_id"), "repository", ["installation_id"], unique=False)
    op.create_table(
        "weekly_issue",
        sa.Column("repository_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("repository_id", name=op.f("pk_weekly_issue")),
    )
    op.create_table(
        "weekly_run",
        sa.Column("repository_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("week", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("told", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "week", name=op.f("pk_weekly_run")),
    )
