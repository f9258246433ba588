"""The identity of a journal: an id drawn at its creation, its name and its table.

Every checkpoint signs the identity. So neither another journal under this name nor this journal
under another name passes for the right one.
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
    """The identity of a journal."""

    journal: str
    """Its id in hex: 16 random bytes."""
    name: str
    """The name of its original file, without its folder."""
    table: str | None = None
    """The table's id; ``None`` where it belongs to no table, or the table was unknown."""

    @property
    def digest(self) -> bytes:
        """The part that checkpoints sign: a SHA-256 over its three fields."""
        return hashlib.sha256(_PURPOSE + msgspec.json.encode(self)).digest()

    @property
    def names_a_file(self) -> bool:
        """Whether its names are those of files in one folder, and lead to no other folder."""
        names = (self.name, self.archive_name)
        return all(Path(name).name == name != ".." and "\0" not in name for name in names)

    @property
    def archive_name(self) -> str:
        """The file name in an archive: its own name, with the start of its id."""
        stem = self.name.removesuffix(_SUFFIX)
        return f"{stem}.{self.journal[:_SHORT]}{_SUFFIX}"

    def is_named(self, file: Path) -> bool:
        """Whether a file has this journal's own name or its archive name."""
        return file.name in (self.name, self.archive_name)


def new_identity(name: str, table: str | None) -> Identity:
    """Return the identity of a journal created now."""
    return Identity(journal=os.urandom(_ID_BYTES).hex(), name=name, table=table)
