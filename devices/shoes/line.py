r"""Shoes and bridges that send one line of text a card, 9600 baud 8N1.

::

    [ draw SP ] 'CARD' SP card [ '*' HH ] CR LF      17 CARD AS*00
    'CUT'  [ '*' HH ] CR LF                          the cut card has come
    'START' [ '*' HH ] CR LF                         a fresh shoe (our own addition)
    'ERR' SP text [ '*' HH ] CR LF                   the device's own error

``draw`` counts the cards drawn since the shoe was loaded, from 1.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from devices.driver import Driver
from devices.framing import FrameFault, Line, LineFramer, checked_line
from devices.port import PortConfig
from devices.reading import Reading
from devices.shoes.state import ShoeState
from models.cards import Card
from models.events import ReaderFault

_OPENING: Final = re.compile(rb"(?:[1-9][0-9]{0,3} )?CARD |CUT|START|ERR ")
_CARD: Final = re.compile(r"(?:(?P<draw>[1-9][0-9]{0,3}) )?CARD (?P<card>\S+)")
_CARDS: Final = {str(card.value): card for card in Card}


class LineConfig(PortConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one shoe with the line protocol."""

    source: str = "shoe"
    checksum_required: bool = False
    """Whether a line without a checksum is a fault."""


class LineShoe(Driver[Line]):
    """Turns the shoe's lines into observations. After one numbered card, all must be numbered."""

    def __init__(self, config: LineConfig | None = None) -> None:
        self._config = config or LineConfig()
        super().__init__(LineFramer(_OPENING), self._config.source)
        self._shoe = ShoeState(self._config.source)
        self._numbered = False

    def returned(self, at_ns: int) -> tuple[Reading, ...]:
        """Report possibly missed cards; where cards are numbered, the next number shows them."""
        return (*super().returned(at_ns), *self._shoe.returned(at_ns))

    def _read(self, frame: Line, at_ns: int) -> Iterator[Reading]:
        if self._config.checksum_required and not frame.checked:
            yield self._fault("checksum", "a line without a checksum", frame, at_ns)
        elif frame.text == "CUT":
            yield from self._shoe.cut(frame.raw, at_ns)
        elif frame.text == "START":
            yield from self._shoe.started(frame.raw, at_ns)
        elif frame.text.split(" ")[0] == "ERR":
            yield self._fault("device_error", frame.text[3:].strip(), frame, at_ns)
        else:
            yield from self._card(frame, at_ns)

    def _card(self, line: Line, at_ns: int) -> Iterator[Reading]:
        parts = _CARD.fullmatch(line.text)
        card = _CARDS.get(parts["card"]) if parts else None
        if parts is None or card is None:
            yield self._fault("framing", f"no such line: {line.text}", line, at_ns)
        elif parts["draw"] is None or self._is_doubtful(int(parts["draw"]), line):
            yield from self._unnumbered(card, line, at_ns)
        else:
            yield from self._numbered_card(card, int(parts["draw"]), line, at_ns)

    def _unnumbered(self, card: Card, line: Line, at_ns: int) -> Iterator[Reading]:
        due = self._shoe.draws + 1
        if self._numbered:
            yield self._fault("gap", f"no sound number where {due} was due", line, at_ns)
        yield self._shoe.drawn(card, line.raw, at_ns, due)

    def _is_doubtful(self, draw: int, line: Line) -> bool:
        # Garbage may have replaced digits: 17 becomes 7, and an exclusive-or may miss it.
        return line.after_garbage and draw != self._shoe.draws + 1

    def _numbered_card(self, card: Card, draw: int, line: Line, at_ns: int) -> Iterator[Reading]:
        shoe = self._shoe
        if self._numbered and (draw, card) == (shoe.draws, shoe.last_card):
            yield self._fault("repeat", f"card {draw} sent again", line, at_ns)
            return
        if draw == 1 and shoe.cut_card_seen:
            yield shoe.load(line.raw, at_ns)
        if draw != shoe.draws + 1 and (shoe.loaded or shoe.draws):
            detail = f"number {draw} where {shoe.draws + 1} was due"
            fault = self._fault("gap", detail, line, at_ns)
            missing = (shoe.draws + 1, draw - 1) if draw > shoe.draws + 1 else (None, None)
            yield replace(fault, missing_from=missing[0], missing_to=missing[1])
        self._numbered = True
        yield shoe.drawn(card, line.raw, at_ns, draw)

    def _fault(self, kind: str, detail: str, line: Line, at_ns: int) -> ReaderFault:
        return FrameFault(kind, detail, line.raw).observed(self._source, at_ns)


def encode_card(card: Card, draw: int | None = None) -> bytes:
    """Encode the line of one card with its checksum; ``draw`` counts from 1."""
    number = "" if draw is None else f"{draw} "
    return checked_line(f"{number}CARD {card}")


def encode_cut_card() -> bytes:
    """Encode the line of the cut card."""
    return checked_line("CUT")


def encode_start() -> bytes:
    """Encode the line of a freshly loaded shoe."""
    return checked_line("START")


def encode_error(text: str) -> bytes:
    """Encode the device's own error."""
    return checked_line(f"ERR {text}")
