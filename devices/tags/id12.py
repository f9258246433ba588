r"""ID-12 and ID-20 readers of 125 kHz tags, 9600 baud 8N1.

::

    STX  tag: 10 hex digits  check: 2 hex digits  CR  LF  ETX     16 bytes
    02   '0415148F26'        'AC'                 0D  0A  03

``check`` is the exclusive-or of the tag's five bytes. A tag is sent once, when it comes near.
"""

from typing import Final

from devices.framing import FrameFault
from devices.tags.framing import FixedFramer, TagFrame, hex_frame, hex_tag
from devices.tags.reader import TagConfig, TagReader

_LENGTH: Final = 16
_END: Final = b"\r\n\x03"


class Id12Config(TagConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one ID-12 or ID-20."""


class Id12Framer(FixedFramer):
    """Cut a byte stream into the reader's frames."""

    def __init__(self) -> None:
        super().__init__(_LENGTH, _tag)


class Id12(TagReader):
    """Turns the reader's tags into observations."""

    def __init__(self, config: Id12Config | None = None) -> None:
        super().__init__(Id12Framer(), config or Id12Config())


def _tag(frame: bytes) -> TagFrame | FrameFault:
    return hex_tag(frame, frame[1:13], _END)


def encode_tag(tag: str) -> bytes:
    """Encode the frame of a tag of ten hex digits."""
    return hex_frame(tag, _END)
