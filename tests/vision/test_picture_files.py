"""Odd picture files are read for what they show, or refused in one line; none of them crashes."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from models.errors import OperatorError
from tests.thoroughness import examples
from vision.photos import open_picture
from vision.picture_files import damage, declared_size

YELLOW = (20, 200, 240)
"""BGR of a block in the upper left of every picture made here."""


def picture() -> NDArray[np.uint8]:
    made = np.full((60, 80, 3), (90, 60, 30), np.uint8)
    made[8:32, 8:40] = YELLOW
    return made


def encoded(suffix: str, image: NDArray[np.integer] | None = None) -> bytes:
    done, content = cv2.imencode(suffix, picture() if image is None else image)
    assert done
    return bytes(content)


def opened(folder: Path, content: bytes) -> NDArray[np.uint8]:
    path = folder / "picture"
    path.write_bytes(content)
    return open_picture(path)


def animated(folder: Path, suffix: str) -> bytes:
    animation = cv2.Animation()
    animation.frames = [picture(), np.ascontiguousarray(picture()[::-1, ::-1])]
    animation.durations = [100, 100]
    path = folder / f"moving{suffix}"
    assert cv2.imwriteanimation(str(path), animation)
    return path.read_bytes()


def with_orientation(jpeg: bytes, orientation: int) -> bytes:
    """Put an EXIF block with a camera's orientation behind a JPEG's first marker."""
    entry = struct.pack(">HHIHH", 0x0112, 3, 1, orientation, 0)
    tiff = b"MM\0*" + struct.pack(">IH", 8, 1) + entry + struct.pack(">I", 0)
    body = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + jpeg[2:]


def cmyk_jpeg(inks: tuple[int, int, int, int], blocks: tuple[int, int]) -> bytes:
    """One flat colour for print, ``blocks`` of 8 by 8 pixels; inks as stored, 1..64 or 192..255.

    Quantised by 8, a block's one coefficient is its shade less 128: seven bits, then none.
    """

    def segment(marker: int, body: bytes) -> bytes:
        return bytes((0xFF, marker)) + struct.pack(">H", len(body) + 2) + body

    def table(place: int, symbols: bytes) -> bytes:
        lengths = bytes(len(symbols) > n for n in range(16))
        return segment(0xC4, bytes((place,)) + lengths + symbols)

    first = "".join("10" + format(ink - 128 if ink > 128 else ink - 1, "07b") + "0" for ink in inks)
    bits = first + "00" * 4 * (blocks[0] * blocks[1] - 1)
    padded = bits + "1" * (-len(bits) % 8)
    scan = int(padded, 2).to_bytes(len(padded) // 8, "big").replace(b"\xff", b"\xff\0")
    parts = b"".join(bytes((number, 0x11, 0)) for number in (1, 2, 3, 4))
    size = struct.pack(">HH", blocks[1] * 8, blocks[0] * 8)
    return b"".join(
        [
            b"\xff\xd8",
            segment(0xEE, b"Adobe\0\x64\0\0\0\0\0"),
            segment(0xDB, b"\0" + bytes([8] * 64)),
            segment(0xC0, b"\x08" + size + b"\x04" + parts),
            table(0x00, b"\x00\x07"),
            table(0x10, b"\x00"),
            segment(0xDA, b"\x04" + bytes((1, 0, 2, 0, 3, 0, 4, 0)) + b"\0\x3f\0"),
            scan,
            b"\xff\xd9",
        ]
    )


@pytest.mark.parametrize("suffix", [".png", ".webp", ".bmp", ".tiff", ".jpg", ".gif"])
def test_every_common_kind_of_file_is_opened_in_its_own_colours(
    tmp_path: Path, suffix: str
) -> None:
    seen = opened(tmp_path, encoded(suffix))
    assert seen.shape == (60, 80, 3)
    assert np.abs(seen[20, 20].astype(int) - YELLOW).max() < 30


@pytest.mark.parametrize("suffix", [".gif", ".webp", ".png"])
def test_of_an_animation_the_first_frame_is_read(tmp_path: Path, suffix: str) -> None:
    seen = opened(tmp_path, animated(tmp_path, suffix))
    assert seen.shape == (60, 80, 3)
    assert np.abs(seen[20, 20].astype(int) - YELLOW).max() < 30


@pytest.mark.parametrize(
    ("image", "shade"),
    [
        pytest.param(picture()[..., 1].astype(np.uint16) * 257, (200, 200, 200), id="grey-16-bit"),
        pytest.param(picture().astype(np.uint16) * 257, YELLOW, id="colour-16-bit"),
        pytest.param(picture()[..., 1], (200, 200, 200), id="grey"),
        pytest.param(cv2.cvtColor(picture(), cv2.COLOR_BGR2BGRA), YELLOW, id="alpha"),
    ],
)
def test_deep_grey_and_transparent_pictures_come_as_eight_bits_of_bgr(
    tmp_path: Path, image: NDArray[np.integer], shade: tuple[int, int, int]
) -> None:
    seen = opened(tmp_path, encoded(".png", image))
    assert seen.dtype == np.uint8
    assert tuple(seen[20, 20]) == shade


def test_a_photograph_taken_sideways_is_turned_upright(tmp_path: Path) -> None:
    seen = opened(tmp_path, with_orientation(encoded(".jpg"), 6))
    assert seen.shape == (80, 60, 3)
    assert np.abs(seen[20, 40].astype(int) - YELLOW).max() < 30


def test_colour_for_print_comes_out_as_the_colour_it_prints(tmp_path: Path) -> None:
    """Adobe stores inks inverted: 255 is none. No cyan, full magenta and yellow is red."""
    seen = opened(tmp_path, cmyk_jpeg((255, 1, 1, 255), (3, 2)))
    assert seen.shape == (16, 24, 3)
    assert np.abs(seen[8, 8].astype(int) - (1, 1, 255)).max() < 12


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp", ".bmp", ".gif", ".tiff"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_file_that_breaks_off_is_refused_whatever_its_kind(
    tmp_path: Path, suffix: str, share: float
) -> None:
    noise = np.random.default_rng(3).integers(0, 255, (60, 80, 3), np.uint8)
    content = encoded(suffix, noise)
    with pytest.raises(OperatorError, match="Give a whole JPEG, PNG or WebP") as refused:
        opened(tmp_path, content[: round(len(content) * share)])
    assert "\n" not in str(refused.value)


def test_a_png_whose_checksum_fails_is_said_to_be_damaged(tmp_path: Path) -> None:
    content = bytearray(encoded(".png"))
    content[content.index(b"IDAT") + 12] ^= 0x55
    with pytest.raises(OperatorError, match="checksum of its IDAT"):
        opened(tmp_path, bytes(content))


def png_claiming(width: int, height: int) -> bytes:
    head = struct.pack(">II", width, height) + b"\x08\x02\0\0\0"
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(b"")), (b"IEND", b""))
    parts = [
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def test_a_small_file_that_claims_a_gigapixel_is_refused_before_it_is_decoded(
    tmp_path: Path,
) -> None:
    with pytest.raises(OperatorError, match="40000 x 25000 pixels are more than 100 megapixels"):
        opened(tmp_path, png_claiming(40_000, 25_000))


def test_a_picture_of_no_pixels_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="0 x 0 pixels are too few"):
        opened(tmp_path, png_claiming(0, 0))


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp", ".bmp", ".gif"])
def test_the_declared_size_is_the_size_that_is_decoded(suffix: str) -> None:
    assert declared_size(encoded(suffix)) == (80, 60)


def test_the_three_kinds_of_webp_declare_their_size(tmp_path: Path) -> None:
    lossy = bytes(cv2.imencode(".webp", picture(), [cv2.IMWRITE_WEBP_QUALITY, 70])[1])
    lossless = bytes(cv2.imencode(".webp", picture(), [cv2.IMWRITE_WEBP_QUALITY, 101])[1])
    kinds = [lossy, lossless, animated(tmp_path, ".webp")]
    assert {content[12:16] for content in kinds} == {b"VP8 ", b"VP8L", b"VP8X"}
    assert [declared_size(content) for content in kinds] == [(80, 60)] * 3


KINDS: tuple[Callable[[], bytes], ...] = tuple(
    lambda suffix=suffix: encoded(suffix)  # type: ignore[misc]
    for suffix in (".png", ".jpg", ".webp", ".bmp", ".gif")
)


@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(KINDS), st.data())
def test_whatever_bytes_change_a_picture_opens_or_is_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, kind: Callable[[], bytes], data: st.DataObject
) -> None:
    content = bytearray(kind())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    said, seen = "", None
    try:
        seen = opened(tmp_path_factory.getbasetemp(), bytes(content))
    except OperatorError as refused:
        said = str(refused)
    assert "\n" not in said
    assert said if seen is None else seen.ndim == 3 and min(seen.shape[:2]) >= 16


@given(st.binary(max_size=80))
def test_any_bytes_at_all_have_a_size_or_none_and_are_looked_at_without_failing(
    content: bytes,
) -> None:
    size = declared_size(content)
    assert size is None or min(size) >= 0
    assert damage(content) != "", "what is damaged is named"
