"""The table's last rest in a file beside its journal, so that a start need not read all entries.

A start otherwise verifies and settles every entry of the session. With this file it reads the
entries since the last rest, and verifies the others once it runs. The file proves nothing by
itself: it holds only what the journal shows as well, it names the entries that it rests on by
number and hash, and it is signed like a checkpoint. A file that does not fit is not used, and then
the start takes the long way to the same result.

::

    {"sha256": …, "key": …, "signature": …} LF made by LF {the rest} LF

The hash is over all that follows the first line. ``made by`` names the program, the rules and the
way of dealing: another program's rest is not decoded.
"""

import hashlib
import os
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from models.rulebook import Rulebook
from server.process.program import this_program
from server.table.kept_book import KeptBook
from server.table.rest import Rest
from server.table.status import KeptStanding
from settlement.reckoning import Dealing
from settlement.reconcile import Learned
from settlement.rulebooks import rules_hash
from stream.checkpoints import Checkpoint
from stream.files import JournalFiles
from stream.journal import AnotherJournal, Checkpoints, Journal, Place
from stream.reading import entries_after
from stream.signing import Signer, is_digest_signed

_PURPOSE: Final = "rest"


def made_by(rules: Rulebook, dealing: Dealing) -> str:
    """Return what a rest depends on beside the journal: the program, the rules, the dealing."""
    program = this_program()
    return " ".join((program.program_hash, program.compiled_hash, rules_hash(rules), dealing))


class KeptRest(msgspec.Struct, frozen=True, kw_only=True):
    """A table's state at a rest, from the entries up to it."""

    place: Place
    """The last entry that a start need not read: the one before the opening of the last round."""
    shown: Place
    """The entry that showed the rest: a new shoe."""
    rest: Rest
    learned: Learned
    standing: KeptStanding
    book: KeptBook


class _Head(msgspec.Struct, frozen=True):
    """The first line of the file."""

    sha256: str
    key: str = ""
    signature: str = ""


@dataclass
class RestFile:
    """The file beside a table's journal.

    Attributes:
        signer: the table's key; ``None`` for a table without one, whose file is not signed.
        made_by: as :func:`made_by` returns it.
        warn: receives a line where a file is not used.
        found: the rest from which the journal was opened: earlier entries are not verified yet.
    """

    journal: Path
    signer: Signer | None
    made_by: str
    warn: Callable[[str], None]
    found: KeptRest | None = None

    @property
    def path(self) -> Path:
        """Where it is."""
        return JournalFiles(self.journal).rest

    def open_journal(
        self,
        checkpoints: Checkpoints | None,
        table: str | None = None,
        against: Collection[Checkpoint] | None = None,
    ) -> Journal:
        """Open the journal from the rest in the file; where that does not fit, verify all of it.

        Raises:
            TechnicianError: as :meth:`stream.journal.Journal.open`.
        """
        kept = self.read()
        if kept is not None:
            try:
                entries_after(self.journal, kept.shown, at_most=0)
                journal = Journal.open(self.journal, checkpoints, table, against, kept.place)
            except AnotherJournal as fault:
                self.ignored(fault.what)
            else:
                self.found = kept
                return journal
        return Journal.open(self.journal, checkpoints, table, against)

    def read(self) -> KeptRest | None:
        """Return the rest; ``None`` where there is no file, or one that somebody else wrote.

        The journal may not have its entries.
        """
        if self.path.exists() and not self.path.is_file():  # a pipe would stop the start
            self.ignored("it is no file")
            return None
        try:
            return msgspec.json.decode(self._checked(self.path.read_bytes()), type=KeptRest)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as fault:
            self.ignored(str(fault))
            return None

    def ignored(self, why: str) -> None:
        """Report that a file is not used."""
        self.warn(f"{self.path} is not used, so this start reads the whole journal: {why}")

    def write(self, kept: KeptRest) -> None:
        """Replace the file. Where the disk refuses it, the one before stays."""
        body = b"%b\n%b\n" % (self.made_by.encode(), msgspec.json.encode(kept))
        digest = hashlib.sha256(body).digest()
        head = _Head(sha256=digest.hex())
        if self.signer is not None:
            signature = self.signer.sign_digest(_PURPOSE, digest)
            head = _Head(digest.hex(), self.signer.public.hex(), signature.hex())
        half = self.path.with_name(f".{self.path.name}.new")
        with suppress(OSError):
            # Not synced: a file that a power failure leaves half does not fit its hash.
            with open(half, "wb", opener=_private) as file:
                file.write(msgspec.json.encode(head) + b"\n" + body)
            half.replace(self.path)

    def _checked(self, content: bytes) -> bytes:
        """Return the rest in the file, if this program wrote it with the table's key."""
        first, body = content.split(b"\n", 1)
        head, digest = msgspec.json.decode(first, type=_Head), hashlib.sha256(body).digest()
        if head.sha256 != digest.hex():
            raise ValueError("it does not match its hash")
        if self.signer is not None:
            own, signature = self.signer.public, bytes.fromhex(head.signature)
            if head.key != own.hex() or not is_digest_signed(own, signature, _PURPOSE, digest):
                raise ValueError("the table's key did not sign it")
        made_by, kept = body.split(b"\n", 1)
        if made_by != self.made_by.encode():
            raise ValueError("the program, the rules or the way of dealing have changed")
        return kept


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
