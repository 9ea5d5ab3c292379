"""Which installation had a repository before, how new our knowledge of it is, and whether it shares."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Room for repositories that move and leave."""
    op.create_table(
        "former",
        sa.Column("repository_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("installation_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "installation_id", name=op.f("pk_former")),
    )
    op.add_column("repository", sa.Column("seen_at", sa.Double(), nullable=False, server_default="0"))
    op.add_column("repository", sa.Column("shared", sa.Boolean(), nullable=False, server_default=sa.false()))
