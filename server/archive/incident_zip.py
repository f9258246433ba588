"""Read an incident's ZIP so that it can hold nothing but the files that it names."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final

_CENTRAL_HEADER_BYTES: Final = 46
_END_BYTES: Final = 22


class NotPlain(Exception):
    """The ZIP is broken, or holds bytes that belong to no file."""


def unpacked(data: bytes) -> dict[str, bytes]:
    """Return every file of a ZIP under its name.

    Raises:
        NotPlain: it is no ZIP, names a file twice, or has bytes between its files.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = sorted(archive.infolist(), key=lambda one: one.header_offset)
            for fault in _faults(data, entries, archive.start_dir, len(archive.comment)):
                raise NotPlain(fault)
            return {entry.filename: archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError) as fault:
        raise NotPlain("it is not an incident file") from fault


def _faults(
    data: bytes, entries: list[zipfile.ZipInfo], directory: int, comment: int
) -> Iterator[str]:
    end, listed = 0, 0
    for entry in entries:
        if any(other is not entry and other.filename == entry.filename for other in entries):
            yield f"it holds {entry.filename} twice"
        head = entry.FileHeader()
        begin = entry.header_offset
        if begin != end or data[begin : begin + len(head)] != head or entry.comment:
            yield f"it holds bytes before or in the header of {entry.filename}"
        end = begin + len(head) + entry.compress_size
        if not _is_exact(entry, data[begin + len(head) : end]):
            yield f"it holds bytes after the end of {entry.filename}"
        listed += _CENTRAL_HEADER_BYTES + len(entry.filename.encode()) + len(entry.extra)
    if end != directory or directory + listed + _END_BYTES + comment != len(data):
        yield "it holds bytes beside its files"


def _is_exact(entry: zipfile.ZipInfo, packed: bytes) -> bool:
    """Return whether the packed bytes end exactly at the file's end."""
    if entry.compress_type == zipfile.ZIP_STORED:
        return entry.compress_size == entry.file_size
    inflating = zlib.decompressobj(-zlib.MAX_WBITS)
    inflating.decompress(packed)
    return inflating.eof and not inflating.unused_data
