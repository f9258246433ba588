"""The seal of a closed journal: one page after the database's last, over every byte before it.

::

    SQLite pages …  |  magic (24)  entries (8)  head (32)  digest (32)  zeros to 4096

SQLite counts its pages in its own header and ignores what follows. A writer that continues the
journal removes the seal first. The hash chain proves the entries; the seal proves the rest of the
file as well: page headers, free space, the schema.
"""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

PAGE_BYTES: Final = 4096

_MAGIC: Final = b"pitwatch journal seal 1\n"
_PAGES_AT: Final = 28
"""Byte offset of the page count in SQLite's header, four bytes, big-endian."""


class SealBroken(Exception):
    """The file has changed since it was sealed, or something else follows the database."""


@dataclass(frozen=True, slots=True)
class Seal:
    """A seal's statement: the number of entries, and the last one's hash."""

    entries: int
    head: bytes


def write_seal(path: Path, seal: Seal) -> None:
    """Seal a journal that nobody has open; durable on return."""
    with path.open("r+b") as file:
        length = database_bytes(file)
        file.truncate(length)
        page = _page(file, length, seal)
        file.seek(length)
        file.write(page)
        file.flush()
        os.fsync(file.fileno())


def break_seal(path: Path) -> bytes:
    """Remove the seal of a journal that is continued, durable on return; return its page.

    With the seal, the file would pass for closed in order even after its write-ahead log was lost.
    """
    with path.open("r+b") as file:
        length = database_bytes(file)
        file.seek(length)
        page = file.read()
        file.truncate(length)
        os.fsync(file.fileno())
    return page


def put_back(path: Path, page: bytes) -> None:
    """Restore the page that :func:`break_seal` removed; durable on return."""
    with path.open("r+b") as file:
        file.seek(database_bytes(file))
        file.write(page)
        file.flush()
        os.fsync(file.fileno())


def has_seal(path: Path) -> bool:
    """Return whether a journal was closed in order, without checking its seal's contents."""
    with path.open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - PAGE_BYTES, 0))
        return file.read(len(_MAGIC)) == _MAGIC


def read_seal(path: Path) -> Seal | None:
    """Check and return a journal's seal, ``None`` where it was not closed in order.

    Raises:
        SealBroken: a byte of the file has changed.
    """
    with path.open("rb") as file:
        length = file.seek(0, os.SEEK_END) - PAGE_BYTES
        file.seek(max(length, 0))
        page = file.read()
        if not page.startswith(_MAGIC):
            _refuse_trailing_bytes(file, length + PAGE_BYTES)
            return None
        start = len(_MAGIC)
        seal = Seal(int.from_bytes(page[start : start + 8], "big"), page[start + 8 : start + 40])
        if _page(file, length, seal) != page:
            raise SealBroken("a byte outside the entries differs from what was sealed")
        return seal


def _refuse_trailing_bytes(file: BinaryIO, length: int) -> None:
    if length != database_bytes(file):
        raise SealBroken("the file's length differs from its header")


def database_bytes(file: BinaryIO) -> int:
    """Return the length of the database according to its header."""
    file.seek(_PAGES_AT)
    return int.from_bytes(file.read(4), "big") * PAGE_BYTES


def _page(file: BinaryIO, length: int, seal: Seal) -> bytes:
    statement = _MAGIC + seal.entries.to_bytes(8, "big") + seal.head
    digest = hashlib.sha256()
    file.seek(0)
    left = length
    while left and (block := file.read(min(left, 1 << 20))):
        digest.update(block)
        left -= len(block)
    digest.update(statement)
    return (statement + digest.digest()).ljust(PAGE_BYTES, b"\0")
