"""The first tables: inbox, lanes, outbox, budgets, and what is known of pull requests."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """From nothing."""
    _inbox()
    _lanes()
    _outbox()
    _pull_requests()


def _inbox() -> None:
    op.create_table(
        "delivery",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("received_at", sa.Double(), nullable=False),
        sa.Column("accepted_at", sa.Double(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_delivery")),
    )
    op.create_index(
        "ix_delivery_queued",
        "delivery",
        ["lane"],
        unique=False,
        sqlite_where=sa.text("state = 'queued'"),
        postgresql_where=sa.text("state = 'queued'"),
    )
    op.create_index("ix_delivery_state_finished_at", "delivery", ["state", "finished_at"], unique=False)


def _lanes() -> None:
    op.create_table(
        "installation",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("not_before", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_installation")),
    )
    op.create_table(
        "instance",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("beat_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_instance")),
    )
    op.create_table(
        "lane",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.Column("owner", sa.Text(), nullable=True),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("arrivals", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_lane")),
    )
    op.create_index(op.f("ix_lane_due_at"), "lane", ["due_at"], unique=False)
    op.create_table(
        "spending",
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
    )
    op.create_index("ix_spending_installation_id_at", "spending", ["installation_id", "at"], unique=False)


def _outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("effect", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("sending_at", sa.Double(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
    )
    op.create_index("ix_outbox_lane_position", "outbox", ["lane", "position"], unique=True)
    op.create_index(
        "ix_outbox_ready",
        "outbox",
        ["lane", "target"],
        unique=True,
        sqlite_where=sa.text("state = 'ready'"),
        postgresql_where=sa.text("state = 'ready'"),
    )


def _pull_requests() -> None:
    op.create_table(
        "pull_request",
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("author_id", sa.BigInteger(), nullable=False),
        sa.Column("open", sa.Boolean(), nullable=False),
        sa.Column("merged", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("closed_at", sa.Double(), nullable=True),
        sa.Column("record", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("lane", name=op.f("pk_pull_request")),
    )
    op.create_index(
        op.f("ix_pull_request_installation_id"), "pull_request", ["installation_id"], unique=False
    )
    op.create_index("ix_pull_request_owner_name", "pull_request", ["owner", "name"], unique=False)
    op.create_index(
        "ix_pull_request_repository_id_number", "pull_request", ["repository_id", "number"], unique=True
    )
    op.create_table(
        "sticky",
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("comment_id", sa.BigInteger(), nullable=False),
        sa.Column("node_id", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("marker_id", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("issues", sa.Text(), nullable=False),
        sa.Column("blocking", sa.Text(), nullable=False),
        sa.Column("written_at", sa.Double(), nullable=False),
        sa.Column("deleted_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["lane"], ["pull_request.lane"], name=op.f("fk_sticky_lane"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("lane", name=op.f("pk_sticky")),
    )
