"""The port settings of every byte device."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Baud = Annotated[int, Meta(ge=300, le=921_600)]


class PortConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A serial port's line: 8 data bits, no parity, no flow control."""

    baud: Baud = 9600
    """Bits a second."""
    stop_bits: Literal[1, 2] = 1
