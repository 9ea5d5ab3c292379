"""Which kinds of writes does GitHub not take, and what waits until it does?"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Room for what was refused; nothing waits yet."""
    op.create_table(
        "refusal",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("permission", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_refusal")),
    )
    op.create_index("ix_refusal_installation_id", "refusal", ["installation_id"], unique=False)
    op.add_column("outbox", sa.Column("refusal", sa.Text(), nullable=True))
    op.create_index(
        "ix_outbox_refusal",
        "outbox",
        ["refusal"],
        unique=False,
        sqlite_where=sa.text("refusal IS NOT NULL"),
        postgresql_where=sa.text("refusal IS NOT NULL"),
    )
