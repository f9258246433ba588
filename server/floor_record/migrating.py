"""Create the floor record, or bring it to another version."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import psycopg
from alembic import command, op
from alembic.config import Config
from sqlalchemy import create_engine
from sqlalchemy.pool import StaticPool

from models.errors import InstallerError
from server.floor_record.database import connected_to, named, shown

_MIGRATIONS: Final = Path(__file__).parent / "migrations"


def migrate(url: str, revision: str = "head") -> None:
    """Create the floor record, or bring it to this version or to a named revision.

    Raises:
        InstallerError: the address is invalid, its user may not do this, or the database does not
            store text as UTF-8.
        FloorDown: the database cannot be reached.
    """
    with named(shown(url)):
        connection = connected_to(url)
        _check_encoding(connection, shown(url))
        connection.autocommit = False
    with named(shown(url)), connection:
        engine = create_engine(
            "postgresql+psycopg://", creator=lambda: connection, poolclass=StaticPool
        )
        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS))
        with engine.begin() as opened:
            config.attributes["connection"] = opened
            command.upgrade(config, revision)


def script_beside(revision: str) -> Callable[[], None]:
    """Return a revision's upgrade: the SQL script beside its file, in alembic's transaction.

    No revision has a downgrade: the record is never taken away by a migration.
    """

    def upgrade() -> None:
        script = Path(revision).with_suffix(".sql").read_text(encoding="utf-8")
        op.get_bind().connection.cursor().execute(script)

    return upgrade


def _check_encoding(connection: psycopg.Connection[Any], where: str) -> None:
    """Check that every entry's text can be stored and read as text."""
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        connection.close()
        raise InstallerError(
            f"expected a database with encoding UTF8, found {encoding}",
            where=where,
            way_out="Create it with ENCODING 'UTF8' TEMPLATE template0, as in docs/floor.md",
        )
