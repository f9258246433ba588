"""The Angel Eye II-EX dealing shoe on RS-232C, 4800 baud 8N1.

It is a baccarat shoe: at blackjack its rank, suit, order, cut card and errors count, and the
target of a card is ignored.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from devices.driver import Answer, Driver
from devices.framing import CAP_BYTES, FrameFault, exclusive_or
from devices.port import Baud, PortConfig
from devices.reading import Reading
from devices.shoes.state import ShoeState
from models.cards import RANKS, Card
from models.errors import InstallerError
from models.events import ReaderFault, ShoeCardRead

STX, ETX, ENQ, ACK, NAK = 0x02, 0x03, 0x05, 0x06, 0x15

_SUITS: Final = {1: "D", 2: "C", 3: "S", 4: "H"}
_SUIT_NUMBERS: Final = {suit: number for number, suit in _SUITS.items()}
_DATA_BYTES: Final[Mapping[str, int]] = {"D": 2, "R": 2, "d": 2, "E": 1, "e": 1}
"""Data bytes of the reports of fixed length, which may contain control bytes."""
_SETTING_MODE: Final = 2
_MARKS: Final = re.compile(rb"[\x05\x06\x15]")
_HEX: Final = b"0123456789ABCDEF"
_ERRORS: Final = {
    1: "cannot read",
    2: "overdraw",
    3: "button misuse",
    4: "reverse at exit",
    5: "reverse midway",
    6: "card code error",
    7: "draw time-out",
}
_REFUSALS: Final = {
    "01": "overrun, frame or parity",
    "02": "checksum",
    "03": "no end of text",
    "11": "format or length",
    "12": "address",
    "13": "command",
    "14": "type",
    "21": "busy",
    "22": "writing",
}


class AngelEyeConfig(PortConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one Angel Eye shoe."""

    baud: Baud = 4800
    """Bits a second; one site used 9600."""
    source: str = "shoe"
    commands: bool = False
    """Whether anything may be sent to the shoe."""
    command_check_covers_start: bool = True
    """Whether the checksum of a command covers its start byte.

    The maker's text excludes it, but its worked example includes it. The default follows the
    example.
    """
    seq_counts: bool = False
    """Whether SEQ counts the reports, 0 to 9 in a circle: a skipped number is then a fault.

    No public text states how SEQ continues.
    """


@dataclass(frozen=True, slots=True)
class Report:
    """One unsolicited report whose checksum holds."""

    seq: str
    code: str
    data: bytes
    raw: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    """The shoe's answer to a command: accepted, or refused with a code."""

    refusal: str | None
    raw: bytes


Cut: TypeAlias = tuple[Report | Reply | FrameFault | None, int]
"""The first item of the buffer and its length in bytes; length 0 asks for more bytes."""


class AngelEyeFramer:
    """Cut a byte stream into reports and replies.

    ::

        report   ENQ  SEQ  CODE  DATA…  ETX  BCC  BCC      reply   ACK
                 05   '1'  'D'   81 B8  03   '4'  'F'              NAK  '0' '2'

    ``BCC`` is the exclusive-or of SEQ … ETX in two upper-case hex digits. Invalid bytes become one
    fault, and reading continues at the next start byte, even within the broken frame.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._junk = bytearray()

    def feed(self, chunk: bytes) -> Iterator[Report | Reply | FrameFault]:
        """Yield each report or reply completed by ``chunk``, or the fault in its place."""
        for start in range(0, len(chunk), CAP_BYTES):
            self._buffer += chunk[start : start + CAP_BYTES]
            yield from self._cut_all()

    def finish(self) -> Iterator[FrameFault]:
        """Yield the fault of the unfinished bytes at the end of the stream."""
        left = bytes(self._junk + self._buffer)
        self._junk.clear()
        self._buffer.clear()
        if left:
            yield FrameFault("framing", "the stream ended within a frame", left)

    def _cut_all(self) -> Iterator[Report | Reply | FrameFault]:
        while self._buffer:
            junk = _junk_bytes(self._buffer)
            if junk:
                yield from self._discard(junk)
                continue
            if self._buffer[0] == ENQ:
                yield from self._give_up_junk()
            found, length = _first(self._buffer)
            if not length:
                return
            del self._buffer[:length]
            if found is not None:
                yield from self._give_up_junk()
                yield found

    def _discard(self, length: int) -> Iterator[FrameFault]:
        for byte in self._buffer[:length]:
            self._junk.append(byte)
            if len(self._junk) == CAP_BYTES:
                yield from self._give_up_junk()
        del self._buffer[:length]

    def _give_up_junk(self) -> Iterator[FrameFault]:
        junk = bytes(self._junk)
        self._junk.clear()
        if junk:
            yield FrameFault("framing", "bytes between frames", junk)


def _junk_bytes(buffer: bytearray) -> int:
    mark = _MARKS.search(buffer)
    if mark is None:
        return len(buffer)
    if buffer[mark.start()] == NAK and mark.start() == 0 and _is_no_refusal(buffer):
        return 1
    return mark.start()


def _is_no_refusal(buffer: bytearray) -> bool:
    return any(byte not in _HEX for byte in buffer[1:3])


def _first(buffer: bytearray) -> Cut:
    if buffer[0] == ACK:
        return Reply(None, bytes(buffer[:1])), 1
    if buffer[0] == NAK:
        raw = bytes(buffer[:3])
        return (Reply(raw[1:].decode("ascii"), raw), 3) if len(raw) == 3 else (None, 0)
    return _report(bytes(buffer[:CAP_BYTES]))


def _report(head: bytes) -> Cut:
    for place in range(1, min(3, len(head))):
        if not 0x20 < head[place] < 0x7F:
            return _broken(head[: place + 1], "framing", "no sequence and code after the start")
    end = _end_of_text(head)
    if end is None:
        return _unfinished(head)
    if head[end] != ETX:
        return _broken(head[: end + 1], "framing", "no end of text where one is due")
    if end + 3 > CAP_BYTES:
        return _broken(head[: end + 1], "overflow", f"longer than {CAP_BYTES} bytes")
    return _checked(head[: end + 3]) if len(head) >= end + 3 else (None, 0)


def _unfinished(head: bytes) -> Cut:
    if len(head) < CAP_BYTES:
        return None, 0
    return _broken(head, "overflow", f"no end of text in {CAP_BYTES} bytes")


def _end_of_text(head: bytes) -> int | None:
    """Return the position of ETX, found or expected; ``None`` while it is unknown."""
    fixed = _DATA_BYTES.get(chr(head[2])) if len(head) > 2 else None
    if fixed is not None:
        return 3 + fixed if len(head) > 3 + fixed else None
    ends = (head.find(mark, 3) for mark in (ETX, ENQ))
    return min((end for end in ends if end >= 0), default=None)


def _checked(frame: bytes) -> Cut:
    due = b"%02X" % exclusive_or(frame[1:-2])
    if frame[-2:] != due:
        return _broken(frame, "checksum", f"checksum is {due.decode()}, not as sent")
    return Report(chr(frame[1]), chr(frame[2]), frame[3:-3], frame), len(frame)


def _broken(frame: bytes, kind: str, detail: str) -> Cut:
    # A start byte within a broken frame may open a sound one: keep it.
    inner = frame.find(ENQ, 1)
    raw = frame if inner < 0 else frame[:inner]
    return FrameFault(kind, detail, raw), len(raw)


class AngelEyeShoe(Driver[Report | Reply]):
    """Turns the shoe's bytes into observations; sends nothing."""

    def __init__(self, config: AngelEyeConfig | None = None) -> None:
        self._config = config or AngelEyeConfig()
        super().__init__(AngelEyeFramer(), self._config.source)
        self._shoe = ShoeState(self._config.source)
        self._last: tuple[str, str, bytes] | None = None
        self._answer: Answer | None = None
        self._last_card = b""

    def command(self, kind: str, number: int) -> bytes:
        """Encode a command, where the table allows commands.

        Raises:
            InstallerError: this shoe is configured as read-only.
        """
        if not self._config.commands:
            raise InstallerError(
                "commands to the shoe are not allowed",
                where=f"driver angel-eye of {self._config.source}",
                way_out="Set commands = true for this port to allow them",
            )
        covers_start = self._config.command_check_covers_start
        return encode_command(kind, number, check_covers_start=covers_start)

    def answers(self) -> tuple[Answer, ...]:
        """Return the last answer to a command since the last call."""
        answer, self._answer = self._answer, None
        return () if answer is None else (answer,)

    def returned(self, at_ns: int) -> tuple[Reading, ...]:
        """Report possibly missed cards; this shoe does not count them, so neither can we."""
        return (*super().returned(at_ns), *self._shoe.returned(at_ns))

    def _read(self, frame: Report | Reply, at_ns: int) -> Iterator[Reading]:
        if isinstance(frame, Reply):
            self._answer = _answer(frame)
            yield from self._refusal(frame, at_ns)
            return
        key = (frame.seq, frame.code, frame.data)
        # The shoe may send each report up to three times.
        if key != self._last:
            yield from self._left_out(frame, at_ns)
            self._last = key
            yield from self._report(frame, at_ns)

    def _left_out(self, report: Report, at_ns: int) -> Iterator[ReaderFault]:
        """Report skipped SEQ numbers, where they count: each may have been a card."""
        if not self._config.seq_counts or self._last is None or report.code == "S":
            return
        before = self._last[0]
        if before.isdecimal() and report.seq.isdecimal():
            missed = (int(report.seq) - int(before) - 1) % 10
            if missed:
                detail = f"{missed} reports left out before number {report.seq}"
                yield self._fault("missed_report", detail, report.raw, at_ns)

    def _report(self, report: Report, at_ns: int) -> Iterator[Reading]:
        match report.code:
            case "D":
                yield self._card(report, at_ns)
            case "d":
                yield self._card_outside_game(report, at_ns)
            case "R":
                yield from self._retransmission(report, at_ns)
            case "C":
                yield from self._shoe.cut(report.raw, at_ns)
            case "S":
                yield from self._shoe.started(report.raw, at_ns)
            case "E":
                yield self._fault("device_error", _error_text(report.data), report.raw, at_ns)
            case "e" | "P" | "G" | "L" | "M":
                return
            case _:
                detail = f"report {report.code!r} is not known"
                yield self._fault("unknown_report", detail, report.raw, at_ns)

    def _card(self, report: Report, at_ns: int) -> ShoeCardRead:
        self._last_card = report.data
        return self._shoe.drawn(_card(report.data), report.raw, at_ns, self._shoe.draws + 1)

    def _card_outside_game(self, report: Report, at_ns: int) -> Reading:
        # A card drawn while the shoe is locked or in error still lies on the felt.
        if report.data[0] & 0x0F != _SETTING_MODE:
            return self._card(report, at_ns)
        detail = f"card {_card(report.data)} drawn in setting mode"
        return self._fault("card_outside_game", detail, report.raw, at_ns)

    def _retransmission(self, report: Report, at_ns: int) -> Iterator[ReaderFault]:
        if report.data != self._last_card:
            detail = f"card {_card(report.data)} sent again, not the last one reported"
            yield self._fault("retransmission", detail, report.raw, at_ns)

    def _refusal(self, reply: Reply, at_ns: int) -> Iterator[ReaderFault]:
        if reply.refusal is not None:
            detail = f"the shoe refused a command: {_meaning(reply.refusal)}"
            yield self._fault("refusal", detail, reply.raw, at_ns)

    def _fault(self, kind: str, detail: str, raw: bytes, at_ns: int) -> ReaderFault:
        return FrameFault(kind, detail, raw).observed(self._source, at_ns)


def _answer(reply: Reply) -> Answer:
    return Answer(reply.refusal is None, "" if reply.refusal is None else _meaning(reply.refusal))


def _meaning(refusal: str) -> str:
    return f"{refusal}, {_REFUSALS.get(refusal, 'other')}"


def _card(data: bytes) -> Card | None:
    suit, rank = _SUITS.get(data[1] >> 4 & 0x07), data[1] & 0x0F
    if suit is None or not data[1] & 0x80 or not 1 <= rank <= len(RANKS):
        return None
    return Card(RANKS[rank - 1] + suit)


def _error_text(data: bytes) -> str:
    number = data[0] & 0x3F
    mode = "in error mode" if data[0] & 0x40 else "not in error mode"
    return f"{_ERRORS.get(number, f'error {number}')}, {mode}"


def encode_card(card: Card, index: int, seq: int) -> bytes:
    """Encode the report of one card.

    Args:
        card: a card of known suit.
        index: the card's index within the game, taken modulo 16.
        seq: the report's number; the wire carries its last digit.

    Raises:
        ValueError: the card's suit is not known.
    """
    if not card.suited:
        raise ValueError(f"the shoe cannot report {card}, a card without a suit")
    rank = RANKS.index(card.rank) + 1
    return _encode(
        "D", bytes((0x80 | index & 0x0F, 0x80 | _SUIT_NUMBERS[card.suit] << 4 | rank)), seq
    )


def encode_card_outside_game(card: Card, mode: int, seq: int) -> bytes:
    """Encode the report of a card drawn while locked (``mode`` 0), in error (1), in setting (2)."""
    return _encode("d", bytes((0x80 | mode, encode_card(card, 0, seq)[4])), seq)


def encode_retransmission(card: Card, index: int, seq: int) -> bytes:
    """Encode the repetition of a card already reported; arguments as :func:`encode_card`."""
    return _encode("R", encode_card(card, index, seq)[3:5], seq)


def encode_cut_card(seq: int) -> bytes:
    """Encode the report of the cut card."""
    return _encode("C", b"", seq)


def encode_start(seq: int) -> bytes:
    """Encode the report of a communication start: power-up, or a new shoe."""
    return _encode("S", b"", seq)


def encode_error(number: int, seq: int) -> bytes:
    """Encode the report of error ``number`` (1 to 7), raised in error mode."""
    return _encode("E", bytes((0x40 | number & 0x3F,)), seq)


def encode_error_cleared(number: int, seq: int) -> bytes:
    """Encode the report that error ``number`` is cleared."""
    return _encode("e", bytes((number & 0x3F,)), seq)


def encode_lock(locked: bool, seq: int) -> bytes:
    """Encode the report that the shoe is locked or unlocked.

    No public text states its data. This sends two digits as in the command; nothing reads them.
    """
    return _encode("L", b"02" if locked else b"01", seq)


def encode_command(kind: str, number: int, *, check_covers_start: bool = True) -> bytes:
    """Encode a command to the shoe: ``LK`` 2 locks, ``LK`` 1 unlocks, ``EC`` clears an error."""
    frame = b"\x02OP%s%02d\x03" % (kind.encode("ascii"), number)
    return frame + b"%02X" % exclusive_or(frame if check_covers_start else frame[1:])


def _encode(code: str, data: bytes, seq: int) -> bytes:
    body = b"%d%s%s\x03" % (seq % 10, code.encode("ascii"), data)
    return bytes((ENQ,)) + body + b"%02X" % exclusive_or(body)
