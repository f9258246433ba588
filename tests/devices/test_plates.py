"""Bet plates report money, so nothing unchecked is accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.framing import checked_line
from devices.plates import Plates, encode_plate
from devices.reading import Reading
from models.events import PlateRead, ReaderFault
from tests.devices.wires import AT_NS


def readings(*lines: bytes) -> tuple[Reading, ...]:
    return Plates().feed(b"".join(lines), AT_NS)


def test_a_plate_reports_amount_and_chips() -> None:
    line = b"PLATE 3 0 2500 2500x1*06\r\n"
    assert readings(line) == (
        PlateRead(
            source="plate:3",
            at=AT_NS,
            spot=3,
            circle="0",
            amount=2500,
            chips={"2500": 1},
            raw=line.hex(),
        ),
    )


@given(
    spot=st.integers(1, 99),
    circle=st.sampled_from(["0", "1", "2", "3", "15", "I", "S"]),
    chips=st.dictionaries(st.sampled_from([50, 100, 500, 2500, 10000]), st.integers(1, 99)),
)
def test_what_is_encoded_reads_back(spot: int, circle: str, chips: dict[int, int]) -> None:
    amount = sum(chip * count for chip, count in chips.items())
    (found,) = readings(encode_plate(spot, circle, amount, chips))
    assert isinstance(found, PlateRead)
    assert (found.spot, found.circle, found.amount) == (spot, circle, amount)
    assert found.chips == {str(chip): count for chip, count in chips.items()}


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        pytest.param(b"PLATE 3 0 2500\r\n", "checksum", id="unchecked"),
        pytest.param(b"PLATE 3 0 9500 2500x1*06\r\n", "checksum", id="digit-changed"),
        pytest.param(checked_line("PLATE 3 0 2500 500x1"), "contradiction", id="chips-differ"),
        pytest.param(checked_line("PLATE 0 0 2500"), "framing", id="no-such-spot"),
        pytest.param(checked_line("PLATE 3 X 2500"), "framing", id="no-such-circle"),
        pytest.param(checked_line("PLATE 3 0 -2500"), "framing", id="negative"),
        pytest.param(checked_line("PLATE 3 0 25.00"), "framing", id="not-cents"),
        pytest.param(checked_line("PLATE 3 0 9999999999999"), "framing", id="beyond-any-table"),
        pytest.param(checked_line("CARD AS"), "framing", id="another-device"),
    ],
)
def test_a_line_that_cannot_be_taken_as_an_amount(line: bytes, kind: str) -> None:
    (found,) = readings(line)
    assert isinstance(found, ReaderFault)
    assert (found.kind, found.raw) == (kind, line.hex())


def test_an_empty_circle_is_an_amount_too() -> None:
    (found,) = readings(encode_plate(3, "0", 0))
    assert isinstance(found, PlateRead)
    assert (found.amount, found.chips) == (0, {})
