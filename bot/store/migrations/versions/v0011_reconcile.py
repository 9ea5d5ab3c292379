"""Remember when missed deliveries were looked for, and how often each was asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Nothing was looked for yet, so the first run reads all that GitHub keeps."""
    op.create_table(
        "reconcile",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("runner", sa.Text(), nullable=False),
        sa.Column("started_at", sa.Double(), nullable=False),
        sa.Column("not_before", sa.Double(), nullable=False, server_default="0"),
        sa.Column("finished_at", sa.Double(), nullable=True),
        sa.Column("scanned_until", sa.Double(), nullable=True),
        sa.Column("found", sa.BigInteger(), nullable=False),
        sa.Column("resent", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_reconcile"),
    )
    op.create_table(
        "redelivery",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_redelivery"),
    )
