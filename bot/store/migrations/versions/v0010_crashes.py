"""Count the claims that ended with their process, so that a delivery that ends it is parked."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Nothing has crashed yet; a process of the version before leaves the columns as they are."""
    op.add_column("lane", sa.Column("crashes", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("lane", sa.Column("isolated", sa.Text(), nullable=True))
    op.add_column("delivery", sa.Column("crashes", sa.Integer(), nullable=False, server_default="0"))
