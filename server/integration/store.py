"""Every destination's position and dead letters, in one SQLite file."""

import sqlite3
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias

import msgspec

from models.errors import OperatorError, TechnicianError
from server.integration.message import Message
from stream.store import transaction

RELAY_FILE: Final = "relay.sqlite"
LetterState: TypeAlias = Literal["dead", "again", "sent"]

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS destinations (name TEXT PRIMARY KEY, since_ns INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS places (destination TEXT NOT NULL, session TEXT NOT NULL,
    seq INTEGER NOT NULL, PRIMARY KEY (destination, session)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS told (destination TEXT NOT NULL, id TEXT NOT NULL,
    PRIMARY KEY (destination, id)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS letters (number INTEGER PRIMARY KEY, destination TEXT NOT NULL,
    state TEXT NOT NULL, at_ns INTEGER NOT NULL, tries INTEGER NOT NULL, why TEXT NOT NULL,
    message BLOB NOT NULL);
"""


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """A message that could not be delivered. It is kept even after it was sent again."""

    number: int
    destination: str
    state: LetterState
    """``dead``; ``again`` once a person requested it; ``sent`` once it was accepted."""
    at_ns: int
    """Time of the last attempt."""
    tries: int
    why: str
    """Result of the last attempt."""
    message: Message


class RelayStore:
    """The file; any thread may use it. Use :meth:`open`, and :meth:`close` at the end."""

    def __init__(self, connection: sqlite3.Connection, where: str) -> None:
        self._connection, self._where = connection, where
        self._lock = threading.Lock()

    @classmethod
    def open(cls, folder: Path, *, is_made: bool = True) -> Self:
        """Open the file in ``folder``, or create it.

        Raises:
            OperatorError: it does not exist, and ``is_made`` is false.
            TechnicianError: the disk refuses it, or it is damaged.
        """
        path = folder / RELAY_FILE
        if not is_made and not path.is_file():
            raise OperatorError(
                "no message was ever sent from here",
                where=str(path),
                way_out="Name the service's state folder with --state",
            )
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _disk_faults(str(path)):
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            path.chmod(0o600)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_SCHEMA)
        return cls(connection, str(path))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # --- how far it has come --------------------------------------------------------------

    def begin(self, destination: str, at_ns: int, places: dict[str, int]) -> None:
        """Let a new destination begin after ``places``."""
        with self._held() as file:
            known = file.execute(
                "INSERT OR IGNORE INTO destinations VALUES (?, ?)", (destination, at_ns)
            ).rowcount
            rows = [(destination, session, seq) for session, seq in places.items()]
            if known:
                file.executemany("INSERT OR IGNORE INTO places VALUES (?, ?, ?)", rows)

    def places(self, destination: str) -> dict[str, int]:
        """Return the last processed entry of each session."""
        query = "SELECT session, seq FROM places WHERE destination = ?"
        with self._held() as file:
            return dict(file.execute(query, (destination,)).fetchall())

    def reach(self, destination: str, session: str, seq: int) -> None:
        """Note that everything of a session up to ``seq`` is processed."""
        with self._held() as file:
            file.execute(
                "INSERT OR REPLACE INTO places VALUES (?, ?, ?)", (destination, session, seq)
            )

    def mark_sent(self, destination: str, message_id: str) -> None:
        """Note that a message was processed, so that it is not sent again."""
        with self._held() as file:
            file.execute("INSERT OR IGNORE INTO told VALUES (?, ?)", (destination, message_id))

    def was_sent(self, destination: str, message_id: str) -> bool:
        """Return whether a message was processed before."""
        query = "SELECT 1 FROM told WHERE destination = ? AND id = ?"
        with self._held() as file:
            return bool(file.execute(query, (destination, message_id)).fetchone())

    # --- dead letters ---------------------------------------------------------------------

    def lay_aside(
        self, destination: str, message: Message, at_ns: int, tries: int, why: str
    ) -> None:
        """Store a message that could not be delivered."""
        values = (destination, "dead", at_ns, tries, why, msgspec.json.encode(message))
        with self._held() as file:
            file.execute(
                "INSERT INTO letters (destination, state, at_ns, tries, why, message)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                values,
            )

    def letters(self, *states: LetterState) -> tuple[Letter, ...]:
        """Return the letters in these states, the oldest first."""
        query = (
            "SELECT number, destination, state, at_ns, tries, why, message FROM letters"
            " WHERE state IN (SELECT value FROM json_each(?)) ORDER BY number"
        )
        with self._held() as file:
            rows = file.execute(query, (msgspec.json.encode(list(states)).decode(),)).fetchall()
        return tuple(map(_letter, rows))

    def mark(self, letter: Letter) -> None:
        """Store a letter's present state."""
        values = (letter.state, letter.at_ns, letter.tries, letter.why, letter.number)
        with self._held() as file:
            file.execute(
                "UPDATE letters SET state = ?, at_ns = ?, tries = ?, why = ? WHERE number = ?",
                values,
            )

    def ask_again(self, destination: str | None, numbers: Collection[int]) -> int:
        """Request that dead letters be sent again: these, or all; return their number."""
        asked = [
            letter
            for letter in self.letters("dead")
            if destination in (None, letter.destination)
            and (not numbers or letter.number in numbers)
        ]
        for letter in asked:
            self.mark(msgspec.structs.replace(letter, state="again"))
        return len(asked)

    @contextmanager
    def _held(self) -> Iterator[sqlite3.Connection]:
        """One thread at a time, one transaction, disk faults in one line."""
        with self._lock, _disk_faults(self._where), transaction(self._connection):
            yield self._connection


@contextmanager
def _disk_faults(where: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as fault:
        raise TechnicianError(
            f"the relay's file cannot be used: {fault}",
            where=where,
            way_out="Check the disk and the folder's rights, or restore the file from its backup",
        ) from fault


def _letter(row: tuple[Any, ...]) -> Letter:
    number, destination, state, at_ns, tries, why, message = row
    return Letter(
        number=number,
        destination=destination,
        state=state,
        at_ns=at_ns,
        tries=tries,
        why=why,
        message=msgspec.json.decode(message, type=Message),
    )
