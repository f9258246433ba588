"""The meaning of a tag in any reader's framing: a card out of the shoe, a chip on a circle.

These readers report that a tag came near, but not that it left. A tag is fixed to one card, so the
same tag twice in a shoe is a fault, not a card. Of chips they see one at a time: a circle with such
a reader is a circle for one chip or plaque.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

from msgspec import Meta

from devices.driver import Driver, Framer
from devices.framing import FrameFault
from devices.port import PortConfig
from devices.reading import Reading
from devices.shoes.state import ShoeState
from devices.tags.framing import TagFrame
from devices.tags.register import TagRegister, read_register
from models.errors import InstallerError
from models.events import PlateRead, ReaderFault, Spot

_NS_PER_MS: Final = 1_000_000


class TagConfig(PortConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one RFID reader."""

    source: str = "shoe"
    """``shoe``, or ``plate`` for a reader under a circle: the spot follows after a colon."""
    register: str | None = None
    """The file that assigns tags to cards and chips; without it every tag is unknown."""
    present_ms: Annotated[int, Meta(ge=0, le=60_000)] = 500
    """Milliseconds within which a repeated tag counts as still present."""
    spot: Spot | None = None
    """The spot whose circle the reader lies under, where it reads chips."""
    circle: Annotated[str, Meta(pattern=r"^([0-9]|1[0-5]|I|S)$")] = "0"


class TagReader(Driver[TagFrame]):
    """Turns tags into observations.

    Args:
        framer: decodes the reader's own frames.
        config: the reader's settings.
        register: the cards and chips of the tags.

    Raises:
        InstallerError: the register has chips, but no spot is set for them.
    """

    def __init__(
        self, framer: Framer[TagFrame], config: TagConfig, register: TagRegister | None = None
    ) -> None:
        super().__init__(framer, config.source)
        self._register = _register(config) if register is None else register
        if self._register.chips and config.spot is None:
            raise InstallerError(
                "the register has chips, but no spot is set for them",
                where=f"reader {config.source}",
                way_out="Set spot for this reader, or give it a register of cards alone",
            )
        self._spot, self._circle = config.spot, config.circle
        self._present_ns = config.present_ms * _NS_PER_MS
        self._shoe = ShoeState(config.source)
        self._out: set[str] = set()
        self._near: tuple[str, int] | None = None

    def returned(self, at_ns: int) -> tuple[Reading, ...]:
        """Report readings that may have been missed while the link was lost."""
        self._near = None
        return (*super().returned(at_ns), *self._shoe.returned(at_ns))

    def _read(self, frame: TagFrame, at_ns: int) -> Iterator[Reading]:
        tag, before = frame.tag.upper(), self._near
        self._near = (tag, at_ns)
        still_there = before is not None and at_ns - before[1] <= self._present_ns
        if before is not None and before[0] == tag and still_there:
            return
        yield from self._came(tag, before[0] if before and still_there else None, frame, at_ns)

    def _came(self, tag: str, beside: str | None, frame: TagFrame, at_ns: int) -> Iterator[Reading]:
        register = self._register
        if tag in register.cards:
            yield from self._card(tag, frame, at_ns)
        elif tag in register.chips:
            yield self._chip(tag, beside, frame, at_ns)
        elif tag in register.cut:
            yield from self._shoe.cut(frame.raw, at_ns)
        elif tag in register.start:
            yield from self._started(frame, at_ns)
        else:
            yield self._fault("unknown_tag", f"tag {tag} is not in the register", frame, at_ns)

    def _card(self, tag: str, frame: TagFrame, at_ns: int) -> Iterator[Reading]:
        if tag in self._out and not self._shoe.cut_card_seen:
            card = self._register.cards[tag]
            detail = f"tag {tag} ({card}) left the shoe before and came again"
            yield self._fault("repeat", detail, frame, at_ns)
            return
        if tag in self._out:
            yield self._loaded(frame, at_ns)
        self._out.add(tag)
        shoe = self._shoe
        yield shoe.drawn(self._register.cards[tag], frame.raw, at_ns, shoe.draws + 1)

    def _started(self, frame: TagFrame, at_ns: int) -> Iterator[Reading]:
        for event in self._shoe.started(frame.raw, at_ns):
            if not isinstance(event, ReaderFault):
                self._out.clear()
            yield event

    def _loaded(self, frame: TagFrame, at_ns: int) -> Reading:
        self._out.clear()
        return self._shoe.load(frame.raw, at_ns)

    def _chip(self, tag: str, beside: str | None, frame: TagFrame, at_ns: int) -> Reading:
        if beside in self._register.chips:
            detail = f"chips {beside} and {tag} at once: this reader cannot tell a stack"
            return self._fault("contradiction", detail, frame, at_ns)
        value, spot = self._register.chips[tag], self._spot
        assert spot is not None
        return PlateRead(
            source=f"{self._source}:{spot}",
            at=at_ns,
            spot=spot,
            circle=self._circle,
            amount=value,
            chips={str(value): 1},
            raw=frame.raw.hex(),
        )

    def _fault(self, kind: str, detail: str, frame: TagFrame, at_ns: int) -> ReaderFault:
        return FrameFault(kind, detail, frame.raw).observed(self._source, at_ns)


def _register(config: TagConfig) -> TagRegister:
    return TagRegister() if config.register is None else read_register(Path(config.register))
