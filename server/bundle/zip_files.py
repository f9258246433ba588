"""Read a ZIP so that it can hold nothing but the files that it names.

Nothing is unpacked before the sizes that the ZIP states are known to be within bounds, and no file
beyond the size stated for it.
"""

import io
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

_CENTRAL_HEADER_BYTES: Final = 46
_END_BYTES: Final = 22
LARGEST_UNPACKED_BYTES: Final = 256 << 20
"""Bytes that the compressed files of a ZIP may have together. Video is not compressed; the
events and proofs of a day with 100,000 entries have some 60 MB."""


class NotPlain(Exception):
    """The ZIP is broken, or holds bytes that belong to no file."""


def unpacked(data: bytes) -> dict[str, bytes]:
    """Return every file of a ZIP under its name.

    Raises:
        NotPlain: it is no ZIP, names a file twice, has bytes between its files, or unpacks to more
            than a bundle holds.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = sorted(archive.infolist(), key=lambda one: one.header_offset)
            for fault in _faults(data, entries, archive.start_dir, len(archive.comment)):
                raise NotPlain(fault)
            return {entry.filename: _content(data, entry) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError) as fault:
        raise NotPlain("it is no ZIP, or was changed") from fault


def _faults(
    data: bytes, entries: list[zipfile.ZipInfo], directory: int, comment: int
) -> Iterator[str]:
    for name, times in Counter(entry.filename for entry in entries).items():
        if times > 1:
            yield f"it holds {name} twice"
    most = f"at most {LARGEST_UNPACKED_BYTES:,} bytes expected"
    stated = sum(one.file_size for one in entries if one.compress_type != zipfile.ZIP_STORED)
    if stated > LARGEST_UNPACKED_BYTES:
        yield f"its compressed files unpack to {stated:,} bytes, {most}"
    end, listed = 0, 0
    for entry in entries:
        head = entry.FileHeader()
        begin = entry.header_offset
        if begin != end or data[begin : begin + len(head)] != head or entry.comment:
            yield f"it holds bytes before or in the header of {entry.filename}"
        end = begin + len(head) + entry.compress_size
        listed += _CENTRAL_HEADER_BYTES + len(entry.filename.encode()) + len(entry.extra)
    if end != directory or directory + listed + _END_BYTES + comment != len(data):
        yield "it holds bytes beside its files"


def _content(data: bytes, entry: zipfile.ZipInfo) -> bytes:
    """Return a file's content; it and its packed bytes end exactly where the ZIP states."""
    begin = entry.header_offset + len(entry.FileHeader())
    packed = data[begin : begin + entry.compress_size]
    if entry.compress_type == zipfile.ZIP_STORED:
        content, is_exact = packed, entry.compress_size == entry.file_size
    elif entry.compress_type == zipfile.ZIP_DEFLATED:
        inflating = zlib.decompressobj(-zlib.MAX_WBITS)
        content = inflating.decompress(packed, entry.file_size + 1)
        if len(content) > entry.file_size:
            stated = f"the {entry.file_size:,} bytes that it states"
            raise NotPlain(f"{entry.filename} unpacks to more than {stated}")
        is_exact = inflating.eof and not inflating.unused_data
    else:
        raise NotPlain(f"{entry.filename} is packed in another way than the files of a bundle")
    if not is_exact:
        raise NotPlain(f"it holds bytes after the end of {entry.filename}")
    if zlib.crc32(content) != entry.CRC:
        raise NotPlain("it is no ZIP, or was changed")
    return content
