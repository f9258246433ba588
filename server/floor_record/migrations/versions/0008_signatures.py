"""What tables signed, and the keys that the owner named."""

from pathlib import Path

from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Run the script beside this file, in alembic's transaction."""
    script = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    op.get_bind().connection.cursor().execute(script)


def downgrade() -> None:
    """Refuse: the record is never taken away by a migration."""
    raise NotImplementedError("the floor record is never removed; restore a backup instead")
