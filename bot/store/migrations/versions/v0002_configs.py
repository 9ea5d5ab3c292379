"""The last good text of every config file."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Keep configs over a restart."""
    op.create_table(
        "config",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("installation_id", sa.BigInteger(), nullable=False),
        sa.Column("good", sa.LargeBinary(), nullable=True),
        sa.Column("broken", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_config")),
    )
    op.create_index(op.f("ix_config_installation_id"), "config", ["installation_id"], unique=False)
