"""Report the state of a machine's journals to the floor, and deliver decisions to its tables.

It runs beside the forwarder, on a connection of its own. A decision that a service on the floor
requested is delivered like one made on this machine: to the running table, or into the closed
journal. A repeated decision is journalled once, so a delivery that was killed needs no recovery.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from models.decode import decode_event
from models.errors import OperatorError, PitwatchError, TechnicianError
from models.events import ConsoleEntry, ReviewResolved
from server.floor_record.database import FloorDown, is_older
from server.floor_record.engine import floor_engine
from server.table.resolving import Handed, decide, enter
from stream.clock import elapsed_ns
from stream.files import JournalFiles
from stream.reading import Signature, journal_identity, last_place, last_signature
from stream.seal import has_seal
from stream.store import waiting

_LOOK_S: Final = 0.2
"""Seconds between two looks for decisions."""
_REPORT_NS: Final = 1_000_000_000
"""Nanoseconds between two reports of the journals' states."""
_AGAIN_S: Final = 2.0
_OLDER_NS: Final = 60_000_000_000
"""Nanoseconds after which it is tried again whether a floor takes signatures by now."""
log: Final = logging.getLogger("pitwatch.forward")


class DecisionDelivery:
    """Reports the state of journals to the floor, and with ``decides`` delivers decisions.

    Args:
        url: the database's address, with a forwarder's role.
        journals: returns the journals there are now.
        decides: whether decisions are delivered, which writes to closed journals.
    """

    def __init__(
        self, url: str, journals: Callable[[], list[Path]], *, decides: bool = False
    ) -> None:
        self._engine, self._journals, self._decides = floor_engine(url), journals, decides
        self._reported: dict[Path, tuple[int, int, int, bool]] = {}
        """The state of each journal's files when it was last reported."""
        self._signed: dict[Path, tuple[int, int, int]] = {}
        """The times of each journal's files when its last signature was sent, and its entry."""
        self._older_until_ns = 0
        """Until when signatures are not sent: the floor is of an older version."""
        self._ids: dict[Path, tuple[int, str]] = {}
        """The id of each journal, and the file's number."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="decisions", daemon=True)

    def __enter__(self) -> "DecisionDelivery":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._engine.dispose()

    def report_states(self) -> None:
        """Report once whether each journal is being written and sealed, and what was signed.

        Raises:
            FloorDown: the database does not answer.
        """
        for path in self._journals():
            try:
                self._report_state(path)
                self._report_signature(path)
            except (TechnicianError, OSError) as fault:
                if isinstance(fault, FloorDown):
                    raise
                log.warning("the state of a journal is not known: %s", fault)

    def _run(self) -> None:
        reported_ns = elapsed_ns() - _REPORT_NS
        while not self._over.wait(_LOOK_S):
            try:
                if elapsed_ns() - reported_ns >= _REPORT_NS:
                    reported_ns = elapsed_ns()
                    self.report_states()
                if self._decides:
                    self.deliver()
            except FloorDown as fault:
                log.warning("no decisions are fetched: %s", fault)
                self._reported.clear()
                self._over.wait(_AGAIN_S)
            except Exception:  # the forwarder goes on; the log has the traceback
                log.exception("no decisions are fetched; retrying")
                self._over.wait(_AGAIN_S)

    def _report_state(self, path: Path) -> None:
        main, log_size = path.stat(), 0
        with suppress(FileNotFoundError):
            log_size = JournalFiles(path).log.stat().st_size
        stamp = (main.st_ino, main.st_mtime_ns, main.st_size, log_size > 0)
        if self._reported.get(path) == stamp:
            return
        journal = self._id_of(path)
        now = log_size > 0, not waiting(path) and has_seal(path)
        query = "SELECT pitwatch.stands(%s, %s, %s)"
        if journal is not None and self._ask(query, journal, *now)[0][0]:
            self._reported[path] = stamp

    def _report_signature(self, path: Path) -> None:
        """Send the last checkpoint that a journal has, where it has a new one."""
        if elapsed_ns() < self._older_until_ns:
            return
        files, log_ns = JournalFiles(path), 0
        with suppress(FileNotFoundError):
            log_ns = files.log.stat().st_mtime_ns
        stamp = (path.stat().st_mtime_ns, log_ns)
        *known, seq = self._signed.get(path, (0, 0, 0))
        if tuple(known) == stamp:
            return
        journal, last = self._id_of(path), last_signature(path)
        if journal is not None and last is not None and last.seq != seq:
            if not self._sends(journal, last):
                return
            seq = last.seq
        self._signed[path] = (*stamp, seq)

    def _sends(self, journal: str, last: Signature) -> bool:
        """Send a signature; return whether the floor knows the journal."""
        try:
            return bool(
                self._ask("SELECT pitwatch.signed(%s, %s, %s, %s, %s)", journal, *last)[0][0]
            )
        except TechnicianError as fault:
            if not is_older(fault):
                raise
            self._older_until_ns = elapsed_ns() + _OLDER_NS
            return False

    def _id_of(self, path: Path) -> str | None:
        """Return a journal's id, read once from each file; ``None`` while it has none."""
        node = path.stat().st_ino
        known = self._ids.get(path)
        if known is None or known[0] != node:
            identity = journal_identity(path)
            if identity is None:
                return None
            known = self._ids[path] = (node, identity.journal)
        return known[1]

    def deliver(self) -> int:
        """Deliver what services requested; return the number of decisions answered.

        Raises:
            FloorDown: the database does not answer.
        """
        here = dict(self._identified())
        asked = self._ask("SELECT * FROM pitwatch.asked(%s)", list(here))
        for number, journal, word in asked:
            answer = self._delivered(here[journal], word)
            self._ask("SELECT pitwatch.answered(%s, %s, %s, %s, %s)", number, *answer)
        return len(asked)

    def _ask(self, query: str, *values: object) -> Sequence[Any]:
        with self._engine.connect() as on:
            return on.exec_driver_sql(query, values).all()

    def _identified(self) -> Iterator[tuple[str, Path]]:
        for path in self._journals():
            try:
                journal = self._id_of(path)
            except (TechnicianError, OSError):
                continue
            if journal is not None:
                yield journal, path

    def _delivered(
        self, path: Path, word: str
    ) -> tuple[int | None, int | None, str | None, str | None]:
        try:
            event = decode_event(word.encode(), "floor record", 1)
            match event:
                case ReviewResolved():
                    handed = asyncio.run(decide(path, event))
                case ConsoleEntry():
                    handed = asyncio.run(enter(path, event))
                case _:
                    return None, None, None, "expected a review_resolved or a console_entry"
            log.info(
                "a decision of the floor was delivered", extra={"fields": _fields(path, handed)}
            )
            return handed.seq, last_place(path).seq, handed.by, None
        except PitwatchError as fault:
            return None, None, None, f"{fault.what}. {fault.way_out}"


def _fields(path: Path, handed: Handed) -> dict[str, object]:
    return {"journal": str(path), "entry": handed.seq, "by": handed.by}


class DecisionSent:
    """A service's side: ask, and wait for the table's answer."""

    def __init__(self, on: sa.Connection, session: str, word: bytes) -> None:
        self._on, self._session = on, session
        self.number: int = self._ask("SELECT pitwatch.ask(%s, %s)", session, word.decode())[0]

    def answer(self) -> Handed | None:
        """Return the place of the decision; ``None`` while the table has not answered.

        Raises:
            OperatorError: the table refuses it.
        """
        query = "SELECT seq, by, refused, answered_at FROM pitwatch.decisions WHERE number = %s"
        seq, by, refused, answered_at = self._ask(query, self.number)
        if refused is not None:
            raise OperatorError(refused, where=f"session {self._session}", way_out="Decide again")
        return None if answered_at is None else Handed(seq, by)

    def is_on_the_floor(self) -> bool:
        """Return whether the floor has what followed from the decision."""
        query = (
            "SELECT c.seq >= d.last FROM pitwatch.decisions d"
            " JOIN pitwatch.chains c ON c.session = d.session WHERE d.number = %s"
        )
        return bool(self._ask(query, self.number)[0])

    def withdraw(self) -> bool:
        """Take it back; return whether no table had answered."""
        return bool(self._ask("SELECT pitwatch.withdraw(%s)", self.number)[0])

    def _ask(self, query: str, *values: object) -> Any:
        return self._on.exec_driver_sql(query, values).one()
