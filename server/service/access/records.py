"""The service's own files, each used by one thread alone."""

import asyncio
import logging
import secrets
import shutil
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Self, TypeVar

import msgspec
import sqlalchemy as sa
from argon2 import PasswordHasher

from models.errors import TechnicianError
from server.readmodel.own_journal import OwnJournal
from server.service.access.accounts import Accounts
from server.service.access.activity import PersonActed
from server.service.access.database import accounts_file
from server.service.access.passwords import PasswordRules
from server.service.access.people import Role
from server.service.access.strangers import Strangers
from stream.checkpoints import utc
from stream.clock import Clock
from stream.reading import UnknownEvent

ACCOUNTS_FILE: Final = "accounts.sqlite"
ACTIVITY_FILE: Final = "activity.journal"
FIRST_ACCOUNT: Final = "admin"
PASSWORD_FILE: Final = "first-password"
_PERSON_ACTED: Final = str(PersonActed.__struct_config__.tag)
"""The type of an action's entry; the journal also holds its own statements after a restart."""
_LEAST_FREE_BYTES: Final = 1 << 16
"""Bytes of free disk below which nothing is accepted. An entry with its log takes some 12 kB."""
_MOST_COUNTED: Final = 1_000
"""Counts of strangers' attempts that wait for room on the disk: half an hour's at most."""
_SQLITE_FULL: Final = "database or disk is full"
log: Final = logging.getLogger("pitwatch.service")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Files:
    accounts: Accounts
    activity: OwnJournal


@dataclass(slots=True)
class _Gap:
    """Answered reads that could not be recorded."""

    since_ns: int
    reads: int = 0


class Records:
    """Accounts and the activity journal. Use :meth:`open`, and :meth:`close` at the end."""

    def __init__(self, folder: Path, thread: ThreadPoolExecutor, files: _Files) -> None:
        self.folder = folder
        self._thread, self._files, self._strangers = thread, files, Strangers()
        self._gap: _Gap | None = None
        self._counted: tuple[PersonActed, ...] = ()

    @classmethod
    def open(
        cls,
        folder: Path,
        clock: Clock,
        hasher: PasswordHasher | None = None,
        guarded_roles: Collection[Role] = (),
        rules: PasswordRules | None = None,
        *,
        journal: Callable[[Path], OwnJournal],
        database: Callable[[], sa.Engine] | None = None,
    ) -> Self:
        """Open the files of ``folder``, or create them.

        Without any account it creates one, ``admin``, and writes its password to the file
        ``first-password``, which is removed when that password is changed. Accounts of
        ``guarded_roles`` require a second factor. ``journal`` opens or begins the activity journal,
        ``database`` opens the accounts where they are not in the folder.

        Raises:
            TechnicianError: the activity journal is damaged or the disk refuses it.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        thread = ThreadPoolExecutor(1, "records")
        files = thread.submit(
            lambda: _Files(
                _accounts(
                    folder,
                    Accounts(
                        accounts_file(folder / ACCOUNTS_FILE) if database is None else database(),
                        clock,
                        hasher or PasswordHasher(),
                        guarded_roles,
                        rules,
                    ),
                ),
                journal(folder / ACTIVITY_FILE),
            )
        ).result()
        return cls(folder, thread, files)

    async def checkpoint(self) -> None:
        """Sign the actions since the last checkpoint, and send the checkpoint away.

        Raises:
            TechnicianError: the disk refuses it.
        """
        await self._do(lambda files: files.activity.checkpoint())

    async def close(self) -> None:
        """Close the files in order."""
        await self._do(lambda files: files.accounts.close())
        await self._do(lambda files: files.activity.close())
        self._thread.shutdown()

    async def accounts(self, work: Callable[[Accounts], T]) -> T:
        """Run ``work`` on the accounts, in their thread, while no other service changes them."""

        def alone(files: _Files) -> T:
            with files.accounts.alone():
                return work(files.accounts)

        return await self._do(alone)

    async def authority(self, find: Callable[[Accounts], T]) -> T:
        """Look up whose session or token it is, beside other services' work."""
        return await self._do(lambda files: find(files.accounts))

    async def note(self, event: PersonActed) -> None:
        """Append an action; durable on return.

        Raises:
            TechnicianError: the disk refuses it.
        """
        await self._note_gap(event.at)
        await self._do(lambda files: files.activity.append(event))

    async def note_read(self, event: PersonActed) -> None:
        """Append a read, or count it where the disk refuses that.

        The count of unrecorded reads is appended once there is room again.
        """
        try:
            await self.note(event)
        except TechnicianError as fault:
            if self._gap is None:
                log.warning("reads cannot be recorded: %s", fault)
                self._gap = _Gap(event.at or 0)
            self._gap.reads += 1

    async def fault(self, now_ns: int) -> TechnicianError | None:
        """Return why nothing can be recorded; ``None`` while recording works."""
        try:
            await self._note_gap(now_ns)
        except TechnicianError as fault:
            return fault
        return await self._do(lambda _: _no_room(self.folder))

    async def _note_gap(self, now_ns: int | None) -> None:
        gap, self._gap = self._gap, None
        if gap is None:
            return
        text = f"{gap.reads} reads since {utc(gap.since_ns)} could not be recorded"
        event = PersonActed(
            at=now_ns,
            person="",
            by="service",
            action="reads_unrecorded",
            target=text,
            outcome="done",
        )
        try:
            await self._do(lambda files: files.activity.append(event))
        except TechnicianError:
            gap.reads += 0 if self._gap is None else self._gap.reads
            self._gap = gap
            raise

    async def note_stranger(self, event: PersonActed) -> None:
        """Append a stranger's refused attempt, or count it where it is not the first of a kind."""
        await self._append(self._strangers.take(event))

    async def note_counted(self, now_ns: int, *, all_of_it: bool = False) -> None:
        """Append the counts of a finished interval, or with ``all_of_it`` those so far.

        Where the disk refuses that, they are kept for the next time.
        """
        due = self._strangers.all if all_of_it else self._strangers.due
        self._counted = (*self._counted, *due(now_ns))[-_MOST_COUNTED:]
        try:
            await self._append(self._counted)
        except TechnicianError as fault:
            log.warning("unauthenticated attempts cannot be recorded: %s", fault)
        else:
            self._counted = ()

    async def _append(self, events: tuple[PersonActed, ...]) -> None:
        if events:
            await self._do(lambda files: files.activity.append_all(events))

    async def activity(self, before_seq: int | None, limit: int) -> tuple[PersonActed, ...]:
        """Return the actions before ``before_seq``, the newest first."""
        return await self._do(lambda files: _newest(files.activity, before_seq, limit))

    async def _do(self, work: Callable[[_Files], T]) -> T:
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, work, self._files)
        except sa.exc.OperationalError as fault:
            raise _refused(self.folder, str(fault)) from fault


def _no_room(folder: Path) -> TechnicianError | None:
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes >= _LEAST_FREE_BYTES:
        return None
    return _refused(folder, f"the disk is full, {free_bytes} bytes are free")


def _refused(folder: Path, why: str) -> TechnicianError:
    return TechnicianError(
        f"people's actions cannot be recorded: {why.replace(_SQLITE_FULL, 'the disk is full')}",
        where=str(folder),
        way_out="Make room on the disk of the service's state; reading continues meanwhile",
    )


def _accounts(folder: Path, accounts: Accounts) -> Accounts:
    with accounts.alone():
        if not accounts.all():
            _make_first(folder / PASSWORD_FILE, accounts)
    return accounts


def _make_first(file: Path, accounts: Accounts) -> None:
    password = secrets.token_urlsafe(15)
    file.touch(mode=0o600)
    file.write_text(password + "\n")
    accounts.add(FIRST_ACCOUNT, Role.ADMIN, password, is_first=True)


def _newest(journal: OwnJournal, before_seq: int | None, limit: int) -> tuple[PersonActed, ...]:
    last = journal.last_seq if before_seq is None else before_seq - 1
    events = islice(journal.read(max(last - limit, 0)), min(limit, max(last, 0)))
    bodies = [
        event.body
        for event in events
        if isinstance(event, UnknownEvent) and event.type == _PERSON_ACTED
    ]
    return tuple(msgspec.json.decode(body, type=PersonActed) for body in reversed(bodies))
