"""Which journal a journal is: an id drawn when it was made, its name and its table.

Every checkpoint signs the identity. So neither another journal under this name nor this journal
under another name passes for the one that is looked for.
"""

import hashlib
import os
from pathlib import Path
from typing import Final

import msgspec

_PURPOSE: Final = b"pitwatch journal identity 1\n"
_ID_BYTES: Final = 16
_SUFFIX: Final = ".journal"
_SHORT: Final = 8


class Identity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which journal it is."""

    journal: str
    """Its id in hex: 16 random bytes."""
    name: str
    """The name of the file that it was made under, without its folder."""
    table: str | None = None
    """The table's id; ``None`` where it is no table's, or the table was not known."""

    @property
    def digest(self) -> bytes:
        """What checkpoints sign of it: a SHA-256 over its three fields."""
        return hashlib.sha256(_PURPOSE + msgspec.json.encode(self)).digest()

    @property
    def archive_name(self) -> str:
        """The file name that it has in an archive: its own, and the start of its id."""
        stem = self.name.removesuffix(_SUFFIX)
        return f"{stem}.{self.journal[:_SHORT]}{_SUFFIX}"

    def is_named(self, file: Path) -> bool:
        """Tell whether a file has the name of this journal, its own or that of the archive."""
        return file.name in (self.name, self.archive_name)


def new_identity(name: str, table: str | None) -> Identity:
    """Return the identity of a journal that is made now."""
    return Identity(journal=os.urandom(_ID_BYTES).hex(), name=name, table=table)
