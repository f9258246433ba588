r"""ID-TECK RFK101 readers, 9600 baud, 8 data bits, 2 stop bits.

::

    STX  tag: 8 characters  ETX  LRC     11 bytes
    02   '15148F26'         03   78

``LRC`` is one byte, the exclusive-or of tag and ETX. No public text states whether it covers STX: a
setting decides.
"""

from functools import partial
from typing import Final, Literal

from devices.framing import FrameFault, exclusive_or
from devices.tags.framing import ETX, FixedFramer, TagFrame
from devices.tags.reader import TagConfig, TagReader

_LENGTH: Final = 11


class IdteckConfig(TagConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one RFK101."""

    stop_bits: Literal[1, 2] = 2
    check_covers_start: bool = False
    """Whether the LRC covers STX too."""


class IdteckFramer(FixedFramer):
    """Cut a byte stream into the reader's frames."""

    def __init__(self, *, check_covers_start: bool = False) -> None:
        super().__init__(_LENGTH, partial(_tag, check_covers_start))


class Idteck(TagReader):
    """Turns the reader's tags into observations."""

    def __init__(self, config: IdteckConfig | None = None) -> None:
        config = config or IdteckConfig()
        super().__init__(IdteckFramer(check_covers_start=config.check_covers_start), config)


def _tag(check_covers_start: bool, frame: bytes) -> TagFrame | FrameFault:
    text = frame[1:9]
    if frame[9] != ETX:
        return FrameFault("framing", "no end of text where one is due", frame)
    if not all(0x21 <= byte <= 0x7E for byte in text):
        return FrameFault("framing", "a character that no tag holds", frame)
    due = _check(frame[:-1], check_covers_start)
    if frame[-1] != due:
        return FrameFault("checksum", f"checksum is {due:02X}, not as sent", frame)
    return TagFrame(text.decode("ascii"), frame)


def _check(frame: bytes, check_covers_start: bool) -> int:
    return exclusive_or(frame if check_covers_start else frame[1:])


def encode_tag(tag: str, *, check_covers_start: bool = False) -> bytes:
    """Encode the frame of a tag of eight characters."""
    frame = b"\x02%s\x03" % tag.encode("ascii")
    return frame + bytes((_check(frame, check_covers_start),))
