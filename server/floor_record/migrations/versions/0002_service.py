"""The service on the floor record: names of sessions, and the rows folded from them."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Run the script beside this file, in alembic's transaction."""
    script = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    op.get_bind().connection.cursor().execute(script)


def downgrade() -> None:
    """Refuse: the record is never taken away by a migration."""
    raise NotImplementedError("the floor record is never removed; restore a backup instead")
