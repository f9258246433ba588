r"""RDM6300 readers of 125 kHz tags, 9600 baud 8N1.

::

    STX  version: 2 hex digits  tag: 8 hex digits  check: 2 hex digits  ETX     14 bytes
    02   '04'                   '15148F26'         'AC'                 03

``check`` is the exclusive-or of the five bytes of version and tag. The tag in the register is the
ten digits of both. The reader repeats it while the tag is near.
"""

from typing import Final

from devices.framing import FrameFault
from devices.tags.framing import FixedFramer, TagFrame, hex_frame, hex_tag
from devices.tags.reader import TagConfig, TagReader

_LENGTH: Final = 14
_END: Final = b"\x03"


class Rdm6300Config(TagConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one RDM6300."""


class Rdm6300Framer(FixedFramer):
    """Cut a byte stream into the reader's frames."""

    def __init__(self) -> None:
        super().__init__(_LENGTH, _tag)


class Rdm6300(TagReader):
    """Turns the reader's tags into observations."""

    def __init__(self, config: Rdm6300Config | None = None) -> None:
        super().__init__(Rdm6300Framer(), config or Rdm6300Config())


def _tag(frame: bytes) -> TagFrame | FrameFault:
    return hex_tag(frame, frame[1:13], _END)


def encode_tag(tag: str) -> bytes:
    """Encode the frame of ten hex digits of version and tag."""
    return hex_frame(tag, _END)
