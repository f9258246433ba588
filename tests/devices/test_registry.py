"""Drivers by name."""

import pytest

from devices.registry import DRIVERS, make_driver
from devices.shoes.line import LineShoe
from models.errors import InstallerError
from models.events import ReaderFault


@pytest.mark.parametrize("name", DRIVERS)
def test_every_driver_works_with_its_defaults(name: str) -> None:
    assert make_driver(name).feed(b"", 0) == ()


def test_an_unknown_driver_is_refused_with_those_there_are() -> None:
    with pytest.raises(InstallerError, match="angel-eye, line, plate"):
        make_driver("angle-eye")


def test_settings_reach_the_driver() -> None:
    shoe = make_driver("line", {"source": "shoe:2", "checksum_required": True})
    assert isinstance(shoe, LineShoe)
    (found,) = shoe.feed(b"CARD AS\r\n", 0)
    assert isinstance(found, ReaderFault)
    assert found.source == "shoe:2"


@pytest.mark.parametrize("settings", [{"baud": "fast"}, {"parity": "N"}], ids=str)
def test_a_wrong_setting_is_refused_with_those_there_are(settings: dict[str, object]) -> None:
    with pytest.raises(InstallerError, match="baud, stop_bits, source, checksum_required"):
        make_driver("line", settings)
