"""SQLite's write-ahead log: created before SQLite opens a journal, and read without SQLite.

SQLite takes the seal after a database for a page of it, unless a log states the number of pages. So
this module creates the log while the seal is still on: a journal always has at least one of them.
The format is SQLite's own (sqlite.org/fileformat2.html, "The Write-Ahead Log")::

    magic  version  page size  checkpoint number  salt (8)  checksum (8)
    each frame:  page number  pages after a commit, else 0  salt (8)  checksum (8)  |  page
"""

import os
from struct import Struct
from typing import BinaryIO, Final

from stream.files import JournalFiles, sync_folder
from stream.seal import PAGE_BYTES, database_bytes

_MAGIC: Final = 0x377F0683
"""Magic number. Its last bit selects checksums of big-endian words; SQLite reads both."""
_VERSION: Final = 3_007_000
_HEAD: Final = Struct(">4I8s")
_FRAME: Final = Struct(">2I8s")
_SUM: Final = Struct(">2I")
_HEAD_BYTES: Final = _HEAD.size + _SUM.size
_FRAME_BYTES: Final = _FRAME.size + _SUM.size

_WAL_VERSION: Final = 2
_WRITE_VERSION_AT: Final = 18
"""Byte offset of the write version in SQLite's header: 2 stands for a write-ahead log."""

Sum = tuple[int, int]


def begin_log(files: JournalFiles) -> None:
    """Create a log beside a sealed journal that changes nothing in it; durable on return.

    It holds the unchanged first page and the number of pages.
    """
    with files.main.open("rb") as file:
        page = file.read(PAGE_BYTES)
        pages = database_bytes(file) // PAGE_BYTES
    salt = os.urandom(8)
    head = _HEAD.pack(_MAGIC, _VERSION, PAGE_BYTES, 0, salt)
    so_far = _summed(head, (0, 0), ">")
    frame = _FRAME.pack(1, pages, salt)
    after = _summed(page, _summed(frame[:8], so_far, ">"), ">")
    files.remove_log()
    try:
        with files.log_half.open("wb") as file:
            file.write(head + _SUM.pack(*so_far) + frame + _SUM.pack(*after) + page)
            file.flush()
            os.fsync(file.fileno())
        files.log_half.rename(files.log)
    except BaseException:  # Ctrl-C too leaves no half log
        files.remove_log()
        raise
    sync_folder(files.main.parent)


def is_log_missing(files: JournalFiles) -> bool:
    """Return whether the database needs a write-ahead log and has none, or one without an entry.

    It applies to a database that was not closed in order: one that was is sealed.
    """
    with files.main.open("rb") as file:
        file.seek(_WRITE_VERSION_AT)
        if file.read(1) != bytes([_WAL_VERSION]):
            return False
    try:
        with files.log.open("rb") as file:
            return not _has_commit(file)
    except FileNotFoundError:
        return True


def _has_commit(file: BinaryIO) -> bool:
    """Return whether a log holds, or held before its restart, a committed transaction.

    Everything before a restart of the log was copied into the database.
    """
    head = file.read(_HEAD_BYTES)
    if len(head) < _HEAD_BYTES:
        return False
    magic, _, page_bytes, checkpoint, salt = _HEAD.unpack_from(head)
    order = ">" if magic & 1 else "<"
    so_far = _summed(head[: _HEAD.size], (0, 0), order)
    if magic | 1 != _MAGIC or so_far != _SUM.unpack_from(head, _HEAD.size):
        return False
    if checkpoint:
        return True
    while len(frame := file.read(_FRAME_BYTES + page_bytes)) == _FRAME_BYTES + page_bytes:
        _, pages, own_salt = _FRAME.unpack_from(frame)
        so_far = _summed(frame[_FRAME_BYTES:], _summed(frame[:8], so_far, order), order)
        if own_salt != salt or so_far != _SUM.unpack_from(frame, _FRAME.size):
            return False
        if pages:
            return True
    return False


def _summed(content: bytes, so_far: Sum, order: str) -> Sum:
    one, two = so_far
    for first, second in Struct(f"{order}2I").iter_unpack(content):
        one = (one + first + two) & 0xFFFF_FFFF
        two = (two + second + one) & 0xFFFF_FFFF
    return one, two
