"""A chain that begins says at once how far its table is, so that the floor shows the lag."""

from pathlib import Path

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Run the script beside this file, in alembic's transaction."""
    script = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    op.get_bind().connection.cursor().execute(script)


def downgrade() -> None:
    """Refuse: the record is never taken away by a migration."""
    raise NotImplementedError("the floor record is never removed; restore a backup instead")
