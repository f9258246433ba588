"""Where a bundle's files and its seal lie: a folder, a ZIP, a PNG, a page or a PDF.

Each container is two functions, ``split`` and ``join``. If its parts, joined again, do not make the
same bytes, it was changed. So a container has no bytes beside its files and its seal.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from server.bundle.manifest import BEGINS, MANIFEST, Kind
from server.bundle.zip_files import unpacked

Files: TypeAlias = Mapping[str, bytes]
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
PNG_END: Final = b"\0\0\0\0IEND\xaeB`\x82"
"""The chunk that ends a PNG."""
_TEXT: Final = b"\0\0\0\0\0"
"""After the keyword of an iTXt chunk: not compressed, no language, no translated keyword."""
_SEAL: Final = b"Pitwatch bundle" + _TEXT
_PAGE: Final = b"<!-- ", b" -->\n"
_BLANK: Final = b"pitwatch bundle"


class NoSeal(Exception):
    """The container has no seal of this version."""


class Container(NamedTuple):
    """How one file holds a bundle."""

    split: Callable[[bytes], tuple[dict[str, bytes], bytes]]
    """Returns files and seal; raises ``NoSeal``, or ``NotPlain`` for a ZIP."""
    join: Callable[[Files, bytes], bytes]
    """Makes the container of files and seal."""
    kind: Kind
    """The bundles that it holds."""


def container_of(content: bytes) -> Container:
    """Return the container that a file is, by its first bytes."""
    for begins, container in _BY_BEGIN.items():
        if content.startswith(begins):
            return container
    return PAGE


def _split_zip(content: bytes) -> tuple[dict[str, bytes], bytes]:
    files = unpacked(content)
    seal = files.pop(MANIFEST, b"")
    if not seal.startswith(BEGINS):
        raise NoSeal
    return files, seal


def _join_zip(files: Files, seal: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in {MANIFEST: seal, **files}.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data)
    return target.getvalue()


def _split_png(content: bytes) -> tuple[dict[str, bytes], bytes]:
    place = content.rfind(_SEAL + BEGINS)
    if place < 0:
        raise NoSeal
    behind = len(PNG_END) + 4
    return {"picture.png": content[: place - 8]}, content[place + len(_SEAL) : -behind]


def _join_png(files: Files, seal: bytes) -> bytes:
    (picture,) = files.values()
    return picture + chunk(b"iTXt", _SEAL + seal) + PNG_END


def picture_file(png: bytes, description: str) -> bytes:
    """Return a PNG as a bundle's file: with a sentence that picture viewers show, and no end."""
    text = b"Description" + _TEXT + description.encode()
    return png.removesuffix(PNG_END) + chunk(b"iTXt", text)


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return a PNG's chunk (PNG 1.2, 3.2)."""
    size, check = len(data), zlib.crc32(kind + data)
    return struct.pack(">I", size) + kind + data + struct.pack(">I", check)


def _split_page(content: bytes) -> tuple[dict[str, bytes], bytes]:
    begin, end = _PAGE
    place = content.rfind(begin + BEGINS)
    if place < 0:
        raise NoSeal
    return {"report.html": content[:place]}, content[place + len(begin) : -len(end)] + b"\n"


def _join_page(files: Files, seal: bytes) -> bytes:
    (page,) = files.values()
    begin, end = _PAGE
    return page + begin + seal.removesuffix(b"\n") + end


def _split_pdf(content: bytes) -> tuple[dict[str, bytes], bytes]:
    place = content.find(in_hex(BEGINS))
    found = re.compile(rb"(?:(?!0A)[0-9A-F]{2})*0A").match(content, place) if place >= 0 else None
    if found is None:
        raise NoSeal
    seal = bytes.fromhex(found[0].decode())
    body = content[:place] + in_hex(blank(len(seal))) + content[found.end() :]
    return {"report.pdf": body}, seal.rstrip(b" \n") + b"\n"


def _join_pdf(files: Files, seal: bytes) -> bytes:
    (body,) = files.values()
    place = re.search(in_hex(_BLANK) + rb"(?:20)*0A", body)
    assert place is not None  # `split` or the writer put it there
    written = seal.removesuffix(b"\n").ljust(len(place[0]) // 2 - 1) + b"\n"
    return body[: place.start()] + in_hex(written) + body[place.end() :]


def blank(size: int) -> bytes:
    """Return what a PDF has in the place of its seal while its hash is computed."""
    return _BLANK.ljust(size - 1) + b"\n"


def in_hex(text: bytes) -> bytes:
    """Return a text as a PDF's signature holds it."""
    return text.hex().upper().encode()


ZIP: Final = Container(_split_zip, _join_zip, "incident")
PNG: Final = Container(_split_png, _join_png, "snapshot")
PAGE: Final = Container(_split_page, _join_page, "report")
PDF: Final = Container(_split_pdf, _join_pdf, "report")
_BY_BEGIN: Final = {b"PK": ZIP, b"\x89PNG": PNG, b"%PDF": PDF}
