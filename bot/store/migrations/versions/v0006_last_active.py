"""Find what was lately active without a look at every record."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """The calendar looks each minute, the metrics every half."""
    op.create_index("ix_record_last_active", "record", ["last_active", "repository_id"], unique=False)
