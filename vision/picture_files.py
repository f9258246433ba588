"""Check a picture file before decoding it: its declared size, and whether it is whole.

Decoders fill missing parts with grey and allocate all the memory that a header asks for, so a
photograph used as evidence is checked first. Layouts: PNG (W3C, 2025, section 5), JPEG (ITU-T T.81,
annex B), WebP (RFC 9649, section 2.6), GIF89a (section 18), TIFF (6.0, section 2), BMP
(BITMAPCOREHEADER and later).
"""

import zlib
from collections.abc import Iterator
from typing import Final

JPEG: Final = b"\xff\xd8\xff"
JPEG_END: Final = b"\xff\xd9"
JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a frame header; the three left out define tables or are reserved."""
JPEG_SCAN: Final = 0xDA  # ITU-T T.81, table B.1: start of scan
PNG: Final = b"\x89PNG\r\n\x1a\n"
TIFF_LITTLE, TIFF_BIG = b"II*\0", b"MM\0*"
TIFF_SHORT, TIFF_LONG = 3, 4
TIFF_WIDTH, TIFF_HEIGHT = 256, 257
GIF: Final = (b"GIF87a", b"GIF89a")
LARGEST_PIXELS: Final = 100_000_000
"""Pixels of a picture, whatever few bytes hold it: 300 MB once unpacked. Chosen."""


def declared_size(content: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels from a file's header; ``None`` without one."""
    if content.startswith(PNG) and content[12:16] == b"IHDR":
        return _big(content[16:20]), _big(content[20:24])
    if content.startswith(JPEG):
        return _jpeg_size(content)
    if content.startswith(GIF):
        return _little(content[6:8]), _little(content[8:10])
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return _webp_size(content)
    if content[:2] == b"BM":
        half = 2 if _little(content[14:18]) == 12 else 4
        height = int.from_bytes(content[18 + half : 18 + 2 * half], "little", signed=True)
        return _little(content[18 : 18 + half]), abs(height)
    return _tiff_size(content) if content[:4] in (TIFF_LITTLE, TIFF_BIG) else None


def _tiff_size(content: bytes) -> tuple[int, int] | None:
    number = _little if content.startswith(TIFF_LITTLE) else _big
    first = number(content[4:8])
    sizes: dict[int, int] = {}
    for at in range(first + 2, first + 2 + 12 * number(content[first : first + 2]), 12):
        width = {TIFF_SHORT: 2, TIFF_LONG: 4}.get(number(content[at + 2 : at + 4]), 0)
        sizes[number(content[at : at + 2])] = number(content[at + 8 : at + 8 + width])
    found = sizes.get(TIFF_WIDTH), sizes.get(TIFF_HEIGHT)
    return None if found[0] is None or found[1] is None else (found[0], found[1])


def damage(content: bytes) -> str | None:
    """Describe the damage of a file that is cut off or whose checksums fail; else ``None``."""
    if content.startswith(JPEG):
        return None if JPEG_END in content[-4096:] else "the picture breaks off before its end"
    if content.startswith(PNG):
        return _png_damage(content)
    return None


def _png_damage(content: bytes) -> str | None:
    kind = b""
    for kind, body, checksum in _png_chunks(content):
        if len(checksum) == 4 and zlib.crc32(kind + body) != _big(checksum):
            return f"the picture is damaged: the checksum of its {kind.decode('latin-1')} is wrong"
    return None if kind == b"IEND" else "the picture breaks off before its end"


def _png_chunks(content: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    at, kind = len(PNG), b""
    while at + 8 <= len(content) and kind != b"IEND":
        end = at + 8 + _big(content[at : at + 4])
        kind = content[at + 4 : at + 8]
        yield kind, content[at + 8 : end], content[end : end + 4]
        at = end + 4


def _jpeg_size(content: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(content) and content[at] == 0xFF:
        marker = content[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if marker in JPEG_FRAMES:
            return _big(content[at + 7 : at + 9]), _big(content[at + 5 : at + 7])
        if marker == JPEG_SCAN:
            return None
        at += 2 + _big(content[at + 2 : at + 4])
    return None


def _webp_size(content: bytes) -> tuple[int, int] | None:
    kind = content[12:16]
    if kind == b"VP8X":
        return _little(content[24:27]) + 1, _little(content[27:30]) + 1
    if kind == b"VP8L":
        bits = _little(content[21:25])
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        return _little(content[26:28]) & 0x3FFF, _little(content[28:30]) & 0x3FFF
    return None


def _big(number: bytes) -> int:
    return int.from_bytes(number, "big")


def _little(number: bytes) -> int:
    return int.from_bytes(number, "little")
