"""The plain line shoe, line by line."""

import pytest

from devices.framing import checked_line
from devices.reading import Reading
from devices.shoes.line import (
    LineConfig,
    LineShoe,
    encode_card,
    encode_cut_card,
    encode_error,
    encode_start,
)
from models.cards import Card
from models.events import ReaderFault, ShoeCardRead, ShoeCutCard, ShoeLoaded
from tests.devices.wires import AT_NS


def readings(*lines: bytes) -> tuple[Reading, ...]:
    return LineShoe().feed(b"".join(lines), AT_NS)


def summarised(found: tuple[Reading, ...]) -> list[str]:
    """Say readings shortly: ``AS 1``, or a fault's kind, or an event's name."""
    return [_summary(each) for each in found]


def _summary(reading: Reading) -> str:
    if isinstance(reading, ShoeCardRead):
        return f"{reading.card} {reading.draw}"
    return reading.kind if isinstance(reading, ReaderFault) else type(reading).__name__


@pytest.mark.parametrize(
    ("lines", "due"),
    [
        pytest.param(b"CARD AS\r\nCARD TD\r\n", ["AS 1", "TD 2"], id="plain"),
        pytest.param(b"CARD A?\r\n", ["A? 1"], id="rank-alone"),
        pytest.param(b"1 CARD AS\r\n2 CARD TD\r\n", ["AS 1", "TD 2"], id="numbered"),
        pytest.param(b"17 CARD AS\r\n18 CARD TD\r\n", ["AS 17", "TD 18"], id="host-came-late"),
        pytest.param(b"1 CARD AS\r\n3 CARD TD\r\n", ["AS 1", "gap", "TD 3"], id="number-missed"),
        pytest.param(b"1 CARD AS\r\nCARD TD\r\n", ["AS 1", "gap", "TD 2"], id="no-number"),
        pytest.param(b"1 CARD AS\r\n1 CARD AS\r\n", ["AS 1", "repeat"], id="sent-twice"),
        pytest.param(b"5 CARD AS\r\n5 CARD TD\r\n", ["AS 5", "gap", "TD 5"], id="number-reused"),
        pytest.param(b"START\r\n2 CARD AS\r\n", ["ShoeLoaded", "gap", "AS 2"], id="first-missed"),
        pytest.param(b"START\r\nSTART\r\n", ["ShoeLoaded"], id="started-once"),
        pytest.param(b"CUT\r\nCUT\r\n", ["ShoeCutCard"], id="cut-once"),
        pytest.param(b"ERR\r\nERR jam\r\n", ["device_error", "device_error"], id="complaint"),
        pytest.param(b"CARD XX\r\n", ["framing"], id="no-such-card"),
        pytest.param(b"CARD as\r\n", ["framing"], id="lower-case"),
        pytest.param(b"0 CARD AS\r\n", ["framing"], id="draw-zero"),
        pytest.param(b"HELLO\r\n", ["framing"], id="no-such-line"),
        pytest.param(b"CARD AS*00\r\nCARD TD\r\n", ["checksum", "TD 1"], id="wrong-checksum"),
    ],
)
def test_lines_as_the_shoe_sends_them(lines: bytes, due: list[str]) -> None:
    assert summarised(readings(lines)) == due


def test_a_new_shoe_after_the_cut_card_is_known_by_its_numbers_alone() -> None:
    found = readings(b"40 CARD AS\r\n", b"CUT\r\n", b"41 CARD TD\r\n", b"1 CARD 9C\r\n")
    assert summarised(found) == ["AS 40", "ShoeCutCard", "TD 41", "ShoeLoaded", "9C 1"]


@pytest.mark.parametrize(
    ("damaged", "due"),
    [
        pytest.param(
            b"3\x133 CARD AS*35\r\n", ["9C 332", "framing", "gap", "AS 333"], id="digit-lost"
        ),
        pytest.param(b"\xff333 CARD AS\r\n", ["9C 332", "framing", "AS 333"], id="none-lost"),
    ],
)
def test_a_number_after_garbage_counts_only_where_it_is_the_due_one(
    damaged: bytes, due: list[str]
) -> None:
    assert summarised(readings(b"332 CARD 9C\r\n", damaged)) == due


@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        pytest.param(b"7 CARD AS\r\n11 CARD TD\r\n", (8, 10), id="three-missed"),
        pytest.param(b"7 CARD AS\r\n9 CARD TD\r\n", (8, 8), id="one-missed"),
        pytest.param(b"START\r\n2 CARD AS\r\n", (1, 1), id="the-first"),
        pytest.param(b"7 CARD AS\r\n5 CARD TD\r\n", (None, None), id="count-went-back"),
    ],
)
def test_a_gap_names_the_draws_that_are_missing(
    lines: bytes, missing: tuple[int | None, int | None]
) -> None:
    (gap,) = (each for each in readings(lines) if isinstance(each, ReaderFault))
    assert (gap.missing_from, gap.missing_to) == missing


def test_a_checksum_can_be_required() -> None:
    shoe = LineShoe(LineConfig(checksum_required=True))
    assert summarised(shoe.feed(b"CARD AS\r\n" + encode_card(Card("TD")), AT_NS)) == [
        "checksum",
        "TD 1",
    ]


def test_what_is_encoded_reads_back() -> None:
    found = readings(
        encode_start(), encode_card(Card("AS"), 1), encode_cut_card(), encode_error("jam")
    )
    assert summarised(found) == ["ShoeLoaded", "AS 1", "ShoeCutCard", "device_error"]
    assert isinstance(found[0], ShoeLoaded)
    assert isinstance(found[2], ShoeCutCard)
    assert found[1].raw == checked_line("1 CARD AS").hex()
    assert isinstance(found[3], ReaderFault)
    assert found[3].detail == "jam"
