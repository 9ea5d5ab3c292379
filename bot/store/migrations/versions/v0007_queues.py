"""Find what waits, and what was given up on, without a look at everything in that state."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """The index by state drew the look at one lane's queue to itself, and read all that waited."""
    op.drop_index("ix_delivery_state_finished_at", table_name="delivery")
    op.create_index("ix_delivery_finished_at", "delivery", ["finished_at"], unique=False)
    op.create_index(
        "ix_delivery_parked",
        "delivery",
        ["finished_at"],
        unique=False,
        sqlite_where=sa.text("state = 'parked'"),
        postgresql_where=sa.text("state = 'parked'"),
    )
