"""Byte streams as a bad cable delivers them, and drivers fed with them."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from hypothesis import strategies as st

from devices import plates
from devices.reading import Reading
from devices.registry import make_driver
from devices.shoes import angel_eye, line
from devices.tags import id12, idteck, rdm6300
from devices.tags.register import read_register
from models.cards import DECK, Card

AT_NS = 1_700_000_000_000_000_000

SUITED = st.sampled_from(DECK)
SEQS = st.integers(0, 30)

ANGEL_EYE_FRAMES = st.one_of(
    st.builds(angel_eye.encode_card, SUITED, st.integers(0, 15), SEQS),
    st.builds(angel_eye.encode_retransmission, SUITED, st.integers(0, 15), SEQS),
    st.builds(angel_eye.encode_cut_card, SEQS),
    st.builds(angel_eye.encode_start, SEQS),
    st.builds(angel_eye.encode_error, st.integers(1, 7), SEQS),
    st.sampled_from([b"\x06", b"\x1502", b"\x15FF"]),
)
LINE_FRAMES = st.one_of(
    st.builds(line.encode_card, st.sampled_from(list(Card)), st.none() | st.integers(1, 400)),
    st.sampled_from([line.encode_cut_card(), line.encode_start(), b"CARD AS\n", b"ERR jam\r\n"]),
)
PLATE_FRAMES = st.builds(
    plates.encode_plate,
    st.integers(1, 7),
    st.sampled_from("0123IS"),
    st.just(2500),
    st.sampled_from([{}, {2500: 1}, {500: 5}, {1000: 1, 500: 3}]),
)

REGISTER = Path(__file__).with_name("register.toml")
"""One deck of tags, those of ten hex digits and those of eight characters."""

_TAGS = read_register(REGISTER)


def tag_of(card: Card, length: int) -> str:
    """Return the tag of ``length`` characters that the register has for ``card``."""
    return next(tag for tag, held in _TAGS.cards.items() if held is card and len(tag) == length)


def mark(tags: tuple[str, ...], length: int) -> str:
    """Return the one of ``tags`` that has ``length`` characters."""
    return next(tag for tag in tags if len(tag) == length)


CUT_TAGS, START_TAGS = _TAGS.cut, _TAGS.start
_LONG_TAGS = st.builds(tag_of, SUITED, st.just(10)) | st.sampled_from(
    [mark(CUT_TAGS, 10), mark(START_TAGS, 10), "0123456789", "0202020202"]
)
_SHORT_TAGS = st.builds(tag_of, SUITED, st.just(8)) | st.sampled_from(
    [mark(CUT_TAGS, 8), mark(START_TAGS, 8), "UNKNOWN!"]
)
FRAMES = {
    "angel-eye": ANGEL_EYE_FRAMES,
    "line": LINE_FRAMES,
    "plate": PLATE_FRAMES,
    "id12": st.builds(id12.encode_tag, _LONG_TAGS),
    "rdm6300": st.builds(rdm6300.encode_tag, _LONG_TAGS),
    "idteck": st.builds(idteck.encode_tag, _SHORT_TAGS),
}
SETTINGS: dict[str, dict[str, object]] = {
    name: {"register": str(REGISTER)} for name in ("id12", "rdm6300", "idteck")
}
"""What a driver needs beside its defaults to be read here."""

MARKS = st.lists(st.sampled_from([2, 3, 5, 6, 0x15, 10, 13, 42, 48, 65, 68, 69]), max_size=140).map(
    bytes
)
"""Garbage made of the bytes that mean something to a framer."""


@st.composite
def damaged(draw: st.DrawFn, frames: st.SearchStrategy[bytes]) -> bytes:
    """A frame cut short or with one byte changed."""
    frame = draw(frames)
    place = draw(st.integers(0, len(frame) - 1))
    if draw(st.booleans()):
        return frame[:place]
    return frame[:place] + bytes((draw(st.integers(0, 255)),)) + frame[place + 1 :]


def streams(driver: str) -> st.SearchStrategy[bytes]:
    """Sound frames, damaged frames and garbage in any order."""
    frames = FRAMES[driver]
    garbage = st.binary(max_size=200) | MARKS
    return st.lists(frames | damaged(frames) | garbage, max_size=12).map(b"".join)


def cut(stream: bytes, places: Iterable[int]) -> list[bytes]:
    """Cut ``stream`` at ``places``, taken modulo its length."""
    edges = sorted({0, len(stream), *(place % (len(stream) + 1) for place in places)})
    return [stream[a:b] for a, b in pairwise(edges)]


def readings_of(driver: str, chunks: Iterable[bytes]) -> list[Reading]:
    """Return all that a fresh driver reports of a stream, its end included."""
    listener = make_driver(driver, SETTINGS.get(driver))
    readings = [reading for chunk in chunks for reading in listener.feed(chunk, AT_NS)]
    return [*readings, *listener.finish(AT_NS)]
