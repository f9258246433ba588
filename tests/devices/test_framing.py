"""Where a stream is cut changes nothing; no stream stops a framer or fills the memory."""

import random
import re

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devices.framing import CAP_BYTES, FrameFault, Line, LineFramer, checked_line, exclusive_or
from devices.reading import Reading
from devices.registry import DRIVERS, make_driver
from devices.shoes import angel_eye, line
from models.cards import DECK, Card
from models.events import PlateRead, ReaderFault, ShoeCardRead
from tests.devices.wires import AT_NS, FRAMES, MARKS, SUITED, cut, readings_of, streams
from tests.thoroughness import examples

CUT = re.compile(rb"CUT")
PRINTABLE = st.text([chr(code) for code in range(0x20, 0x7F)], max_size=300)


def meant(chunks: list[bytes], driver: str) -> list[Reading]:
    """What is reported of a stream, without faults, evidence and a shoe's count."""
    readings = [each for each in readings_of(driver, chunks) if not isinstance(each, ReaderFault)]
    uncounted = [
        msgspec.structs.replace(each, draw=0) if isinstance(each, ShoeCardRead) else each
        for each in readings
    ]
    return [msgspec.structs.replace(each, raw="") for each in uncounted]


@pytest.mark.parametrize("driver", DRIVERS)
@settings(max_examples=examples(150))
@given(data=st.data())
def test_however_a_stream_is_cut_the_same_observations_come_out(
    driver: str, data: st.DataObject
) -> None:
    stream = data.draw(streams(driver))
    whole = readings_of(driver, [stream])
    assert readings_of(driver, cut(stream, data.draw(st.lists(st.integers(0, 4000))))) == whole
    assert readings_of(driver, [stream[i : i + 1] for i in range(len(stream))]) == whole


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("length", range(CAP_BYTES - 6, CAP_BYTES + 4))
@pytest.mark.parametrize("end", [b"\x03", b"\x05", b"\x0342", b"\n", b"\r\n", b"\x00", b"*00\r\n"])
def test_a_stream_cut_at_the_cap_gives_the_same(driver: str, length: int, end: bytes) -> None:
    start = b"\x051G" if driver == "angel-eye" else b""
    stream = start.ljust(length, b"1") + end + b"\x051S\x0364" + b"17 CARD AS\r\n"
    whole = readings_of(driver, [stream])
    assert readings_of(driver, [stream[i : i + 1] for i in range(len(stream))]) == whole
    assert readings_of(driver, [stream[:length], stream[length:]]) == whole


@settings(max_examples=examples(300))
@given(garbage=st.binary(max_size=300) | MARKS, card=SUITED)
def test_no_garbage_before_a_report_loses_it(garbage: bytes, card: Card) -> None:
    frame = angel_eye.encode_card(card, 1, 7)
    cards = [r for r in readings_of("angel-eye", [garbage + frame]) if isinstance(r, ShoeCardRead)]
    assert cards[-1].card is card
    assert cards[-1].raw == frame.hex()


@settings(max_examples=examples(300))
@given(garbage=st.binary(max_size=300) | MARKS, card=SUITED)
def test_no_garbage_that_ends_before_a_line_loses_it(garbage: bytes, card: Card) -> None:
    *_, last = readings_of("line", [garbage + b"\xff" + line.encode_card(card)])
    assert isinstance(last, ShoeCardRead)
    assert last.card is card


@pytest.mark.parametrize("driver", DRIVERS)
@settings(max_examples=examples(200))
@given(data=st.data(), garbage=PRINTABLE)
def test_no_text_before_a_report_loses_it(driver: str, data: st.DataObject, garbage: str) -> None:
    is_line = driver in ("line", "plate")
    frame = data.draw(FRAMES[driver].filter(lambda one: not is_line or b"*" in one))
    stream = garbage.encode("ascii") + frame
    found = meant([stream], driver)
    assert found[-1:] == meant([frame], driver)
    assert meant([stream[i : i + 1] for i in range(len(stream))], driver) == found


@pytest.mark.parametrize(
    "garbage",
    [
        b"xx",
        b"PLATE 1 0 2",
        b"x" * 103,
        b"x" * 120,
        b"x" * 300,
        b"PLATE " * 40,
        b"PLATE 1 0 2500*0",
    ],
)
def test_a_report_of_money_after_text_is_read_and_the_text_is_a_fault(garbage: bytes) -> None:
    line = checked_line("PLATE 3 0 2500")
    *faults, read = readings_of("plate", [garbage + line])
    assert isinstance(read, PlateRead)
    assert (read.spot, read.amount, read.raw) == (3, 2500, line.hex())
    assert faults
    assert all(isinstance(one, ReaderFault) for one in faults)


@pytest.mark.parametrize("driver", DRIVERS)
@settings(max_examples=examples(400))
@given(data=st.data())
def test_a_single_changed_byte_never_makes_another_reading(
    driver: str, data: st.DataObject
) -> None:
    checked = FRAMES[driver].filter(lambda frame: driver not in ("line", "plate") or b"*" in frame)
    frame = data.draw(checked)
    changed = bytearray(frame)
    changed[data.draw(st.integers(0, len(frame) - 1))] ^= data.draw(st.integers(1, 255))
    assert meant([bytes(changed)], driver) in ([], meant([frame], driver))


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_hundred_thousand_random_bytes_stop_no_driver(driver: str) -> None:
    chance = random.Random(f"noise for {driver}")
    listener = make_driver(driver)
    alphabets = (bytes(range(256)), b"\x02\x03\x05\x06\x15\r\n* 0123456789ABCDEFDSRPLATEx")
    for alphabet in alphabets:
        for _ in range(500):
            chunk = bytes(chance.choices(alphabet, k=100))
            assert all(len(r.raw) <= 2 * CAP_BYTES * 2 for r in listener.feed(chunk, AT_NS))
    assert all(len(left.raw) // 2 <= 3 * CAP_BYTES for left in listener.finish(AT_NS))


@pytest.mark.parametrize("driver", DRIVERS)
def test_endless_silence_between_frames_is_given_up_in_bounded_pieces(driver: str) -> None:
    opening = {"angel-eye": b"\x051G", "line": b"CARD ", "plate": b"PLATE "}.get(driver, b"\x02")
    listener = make_driver(driver)
    found = [r for _ in range(1000) for r in listener.feed(opening.ljust(100, b"1"), AT_NS)]
    assert found
    assert all(isinstance(r, ReaderFault) and len(r.raw) <= 2 * CAP_BYTES for r in found)


def test_exclusive_or_of_the_worked_example() -> None:
    assert exclusive_or(bytes.fromhex("3144 81B8 03")) == 0x4F


@pytest.mark.parametrize(
    ("stream", "lines"),
    [
        pytest.param(b"CUT\r\n", ["CUT"], id="crlf"),
        pytest.param(b"CUT\nCUT\n", ["CUT", "CUT"], id="bare-lf"),
        pytest.param(b"\r\n\n\r\nCUT\r\n", ["CUT"], id="empty-lines"),
        pytest.param(b"\x00\xffCUT\r\n", ["CUT"], id="after-garbage"),
        pytest.param(b"\xff" * 125 + b"CUT\r\n", ["CUT"], id="after-garbage-up-to-the-cap"),
        pytest.param(b"\xff" * 900 + b"CUT\r\n", ["CUT"], id="after-much-garbage"),
        pytest.param(b"x" * 200 + b"\xffCUT\r\n", ["CUT"], id="garbage-ends-a-long-line"),
        pytest.param(b"C\xffUT\r\n", ["UT"], id="garbage-within"),
        pytest.param(b"CUT", [], id="unfinished"),
        pytest.param(b"x" * 127 + b"\n", ["x" * 127], id="longest"),
        pytest.param(b"x" * 128 + b"\nCUT\n", ["CUT"], id="too-long"),
        pytest.param(b"x" * 500 + b"\nCUT\n", ["CUT"], id="much-too-long"),
    ],
)
def test_lines_of_a_stream(stream: bytes, lines: list[str]) -> None:
    assert [f.text for f in LineFramer(CUT).feed(stream) if isinstance(f, Line)] == lines


@given(text=st.text("ABC 0123", min_size=1, max_size=60))
def test_a_checked_line_reads_back(text: str) -> None:
    (found,) = LineFramer(CUT).feed(checked_line(text))
    assert found == Line(text, checked=True, raw=checked_line(text))


def test_a_wrong_checksum_is_a_fault_with_the_bytes_as_they_came() -> None:
    (found,) = LineFramer(CUT).feed(b"CUT*00\r\n")
    assert isinstance(found, FrameFault)
    assert (found.kind, found.raw) == ("checksum", b"CUT*00\r\n")


def test_every_card_of_the_deck_survives_the_wire() -> None:
    stream = b"".join(angel_eye.encode_card(card, 1, n) for n, card in enumerate(DECK))
    assert [r.card for r in readings_of("angel-eye", [stream]) if isinstance(r, ShoeCardRead)] == [
        *DECK
    ]
