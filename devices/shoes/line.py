r"""Shoes and bridges that send one line of text a card, 9600 baud 8N1.

::

    [ draw SP ] 'CARD' SP card [ '*' HH ] CR LF      17 CARD AS*00
    'CUT'  [ '*' HH ] CR LF                          the cut card has come
    'START' [ '*' HH ] CR LF                         a fresh shoe (our own addition)
    'ERR' SP text [ '*' HH ] CR LF                   the device's own complaint

``draw`` counts the cards out since the shoe was loaded, from 1.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from devices.driver import Reading
from devices.framing import FrameFault, Line, LineFramer, checked_line
from models.cards import Card
from models.events import ReaderFault, ShoeCardRead, ShoeCutCard, ShoeLoaded

_CARD: Final = re.compile(r"(?:(?P<draw>[1-9][0-9]{0,3}) )?CARD (?P<card>\S+)")
_CARDS: Final = {str(card.value): card for card in Card}


class LineConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one shoe."""

    baud: int = 9600
    source: str = "shoe"
    checksum_required: bool = False
    """Whether a line without a checksum is a fault."""


class LineShoe:
    """Turn the shoe's lines into observations. Once a card bore a number, all must."""

    def __init__(self, config: LineConfig | None = None) -> None:
        self._config = config or LineConfig()
        self._framer = LineFramer()
        self._draws = 0
        self._numbered = self._loaded = self._cut_card_seen = False
        self._last_card: Card | None = None

    def feed(self, chunk: bytes, at_ns: int) -> tuple[Reading, ...]:
        """Return what ``chunk``, which arrived at ``at_ns``, completes."""
        return tuple(
            reading for found in self._framer.feed(chunk) for reading in self._read(found, at_ns)
        )

    def finish(self, at_ns: int) -> tuple[Reading, ...]:
        """Return what the end of the stream leaves unfinished, as faults."""
        source = self._config.source
        return tuple(fault.observed(source, at_ns) for fault in self._framer.finish())

    def _read(self, found: Line | FrameFault, at_ns: int) -> Iterator[Reading]:
        if isinstance(found, FrameFault):
            yield found.observed(self._config.source, at_ns)
        elif self._config.checksum_required and not found.checked:
            yield self._fault("checksum", "a line without a checksum", found, at_ns)
        elif found.text == "CUT":
            yield from self._cut_card(found, at_ns)
        elif found.text == "START":
            yield from self._start(found, at_ns)
        elif found.text.startswith("ERR"):
            yield self._fault("device_error", found.text[3:].strip(), found, at_ns)
        else:
            yield from self._card(found, at_ns)

    def _cut_card(self, line: Line, at_ns: int) -> Iterator[ShoeCutCard]:
        if not self._cut_card_seen:
            self._cut_card_seen = True
            yield ShoeCutCard(source=self._config.source, at=at_ns, raw=line.raw.hex())

    def _start(self, line: Line, at_ns: int) -> Iterator[Reading]:
        if self._draws and not self._cut_card_seen:
            detail = f"the shoe started again after {self._draws} cards and no cut card"
            yield self._fault("restart", detail, line, at_ns)
        elif self._cut_card_seen or not self._loaded:
            yield self._load(line, at_ns)

    def _load(self, line: Line, at_ns: int) -> ShoeLoaded:
        self._loaded, self._cut_card_seen = True, False
        self._draws, self._last_card = 0, None
        return ShoeLoaded(source=self._config.source, at=at_ns, raw=line.raw.hex())

    def _card(self, line: Line, at_ns: int) -> Iterator[Reading]:
        parts = _CARD.fullmatch(line.text)
        card = _CARDS.get(parts["card"]) if parts else None
        if parts is None or card is None:
            yield self._fault("framing", f"no such line: {line.text}", line, at_ns)
        elif parts["draw"] is None:
            yield from self._unnumbered(card, line, at_ns)
        else:
            yield from self._numbered_card(card, int(parts["draw"]), line, at_ns)

    def _unnumbered(self, card: Card, line: Line, at_ns: int) -> Iterator[Reading]:
        if self._numbered:
            yield self._fault("gap", f"no number where {self._draws + 1} was due", line, at_ns)
        yield self._drawn(card, self._draws + 1, line, at_ns)

    def _numbered_card(self, card: Card, draw: int, line: Line, at_ns: int) -> Iterator[Reading]:
        if draw == 1 and self._cut_card_seen:
            yield self._load(line, at_ns)
        if self._numbered and draw == self._draws and card is self._last_card:
            yield self._fault("repeat", f"card {draw} sent again", line, at_ns)
            return
        if draw != self._draws + 1 and (self._loaded or self._numbered or self._draws):
            detail = f"number {draw} where {self._draws + 1} was due"
            yield self._fault("gap", detail, line, at_ns)
        self._numbered = True
        yield self._drawn(card, draw, line, at_ns)

    def _drawn(self, card: Card, draw: int, line: Line, at_ns: int) -> ShoeCardRead:
        self._draws, self._last_card = draw, card
        return ShoeCardRead(
            source=self._config.source, at=at_ns, card=card, draw=draw, raw=line.raw.hex()
        )

    def _fault(self, kind: str, detail: str, line: Line, at_ns: int) -> ReaderFault:
        return FrameFault(kind, detail, line.raw).observed(self._config.source, at_ns)


def encode_card(card: Card, draw: int | None = None) -> bytes:
    """Encode the line of one card with its checksum; ``draw`` counts from 1."""
    number = "" if draw is None else f"{draw} "
    return checked_line(f"{number}CARD {card}")


def encode_cut_card() -> bytes:
    """Encode the line saying that the cut card has come."""
    return checked_line("CUT")


def encode_start() -> bytes:
    """Encode the line saying that a fresh shoe was loaded."""
    return checked_line("START")


def encode_error(text: str) -> bytes:
    """Encode the device's own complaint."""
    return checked_line(f"ERR {text}")
