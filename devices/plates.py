r"""Bet plates: the amount on each betting circle, in our own documented line format.

::

    'PLATE' SP spot SP circle SP cents { SP chip 'x' count } '*' HH CR LF
     PLATE     3       0      2500      2500x1              *06

``circle`` is the hand's number, ``I`` for the insurance line or ``S`` for a side wager. A line is
sent when the amount has been stable for 300 ms, and on request (``?`` CR LF). The checksum is
required: an amount is money.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from devices.driver import Driver
from devices.framing import FrameFault, Line, LineFramer, checked_line
from devices.port import PortConfig
from devices.reading import Reading
from models.events import PlateRead, ReaderFault
from models.money import Cents

REQUEST: Final = b"?\r\n"
"""Requests the amount on every circle."""

_OPENING: Final = re.compile(rb"PLATE [1-9]")
_PLATE: Final = re.compile(
    r"PLATE (?P<spot>[1-9][0-9]?) (?P<circle>[0-9]|1[0-5]|I|S) (?P<amount>[0-9]{1,12})"
    r"(?P<chips>(?: [1-9][0-9]{0,11}x[1-9][0-9]{0,3})*)"
)


class PlateConfig(PortConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one line of plates."""

    source: str = "plate"
    """Prefix of an observation's source; the spot follows after a colon."""


class Plates(Driver[Line]):
    """Turn the plates' lines into observations."""

    def __init__(self, config: PlateConfig | None = None) -> None:
        super().__init__(LineFramer(_OPENING), (config or PlateConfig()).source)

    def greeting(self) -> bytes:
        """Request every circle: an amount may have changed while the link was down."""
        return REQUEST

    def _read(self, frame: Line, at_ns: int) -> Iterator[Reading]:
        parts = _PLATE.fullmatch(frame.text)
        if not frame.checked:
            yield self._fault("checksum", "a line without a checksum", frame, at_ns)
        elif parts is None:
            yield self._fault("framing", f"no such line: {frame.text}", frame, at_ns)
        else:
            yield self._plate(parts, frame, at_ns)

    def _plate(self, parts: re.Match[str], line: Line, at_ns: int) -> Reading:
        amount, chips = int(parts["amount"]), _chips(parts["chips"])
        value = sum(int(chip) * count for chip, count in chips.items())
        if chips and value != amount:
            detail = f"the chips make {value}, the amount says {amount}"
            return self._fault("contradiction", detail, line, at_ns)
        return PlateRead(
            source=f"{self._source}:{parts['spot']}",
            at=at_ns,
            spot=int(parts["spot"]),
            circle=parts["circle"],
            amount=amount,
            chips=chips,
            raw=line.raw.hex(),
        )

    def _fault(self, kind: str, detail: str, line: Line, at_ns: int) -> ReaderFault:
        return FrameFault(kind, detail, line.raw).observed(self._source, at_ns)


def _chips(text: str) -> dict[str, int]:
    counted: dict[str, int] = {}
    for stack in text.split():
        chip, _, count = stack.partition("x")
        counted[chip] = counted.get(chip, 0) + int(count)
    return counted


def encode_plate(
    spot: int, circle: str, amount: Cents, chips: Mapping[int, int] | None = None
) -> bytes:
    """Encode the line for one circle. ``chips`` maps a chip's value in cents to a count."""
    stacks = "".join(f" {chip}x{count}" for chip, count in (chips or {}).items())
    return checked_line(f"PLATE {spot} {circle} {amount}{stacks}")
