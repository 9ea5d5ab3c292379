"""Which pull requests have this head? Checks of forks name no number."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add a column for the head; earlier rows have none until their next event."""
    op.add_column("pull_request", sa.Column("head", sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_pull_request_repository_id_head", "pull_request", ["repository_id", "head"])
