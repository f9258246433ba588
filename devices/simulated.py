"""Simulated devices: each answers its host as the real one would. Pure.

``receive`` takes the host's bytes and returns the device's answer; the other methods return
unsolicited bytes. :mod:`devices.simulators` puts them on a port.
"""

from collections.abc import Callable, Mapping
from typing import Final, Protocol

from devices.framing import CAP_BYTES, exclusive_or
from devices.plates import REQUEST, encode_plate
from devices.shoes import angel_eye, line
from devices.tags import id12, idteck, rdm6300
from models.cards import Card
from models.money import Cents

_COMMAND_BYTES: Final = 10
"""Length of STX 'O' 'P' TYPE(2) DATA(2) ETX BCC(2)."""

TAG_ENCODERS: Final[Mapping[str, Callable[[str], bytes]]] = {
    "id12": id12.encode_tag,
    "rdm6300": rdm6300.encode_tag,
    "idteck": idteck.encode_tag,
}


class SimulatedDevice(Protocol):
    """A device that answers its host."""

    def receive(self, chunk: bytes) -> bytes:
        """Process the host's bytes; return the device's answer."""


class AngelEyeDevice:
    """An Angel Eye shoe: reports, acknowledges, refuses, locks.

    Args:
        copies: the number of times each report is sent, 1 to 3.
        refusal: the code with which it refuses every command.
        check_covers_start: whether a command's checksum includes the start byte.
    """

    def __init__(
        self, copies: int = 1, refusal: str | None = None, *, check_covers_start: bool = True
    ) -> None:
        self.refusal = refusal
        self.locked = False
        self.error = 0
        self._copies, self._covers_start = copies, check_covers_start
        self._seq = self._index = 0
        self._last: Card | None = None
        self._held = bytearray()

    def start(self) -> bytes:
        """Report a communication start: power-up, or a new shoe."""
        self._index, self._last = 0, None
        return self._report(angel_eye.encode_start)

    def draw(self, card: Card) -> bytes:
        """Report a drawn card; while locked or in error, as outside a game."""
        self._index, self._last = self._index + 1, card
        mode = 0 if self.locked else 1 if self.error else None
        if mode is None:
            return self._report(lambda seq: angel_eye.encode_card(card, self._index, seq))
        return self._report(lambda seq: angel_eye.encode_card_outside_game(card, mode, seq))

    def send_last_again(self) -> bytes:
        """Report the last card again, as a retransmission."""
        card = self._last
        if card is None:
            return b""
        return self._report(lambda seq: angel_eye.encode_retransmission(card, self._index, seq))

    def cut(self) -> bytes:
        """Report the cut card."""
        return self._report(angel_eye.encode_cut_card)

    def fail(self, number: int) -> bytes:
        """Raise error ``number``, 1 to 7, and stay in error mode until it is cleared."""
        self.error = number
        return self._report(lambda seq: angel_eye.encode_error(number, seq))

    def receive(self, chunk: bytes) -> bytes:
        """Acknowledge or refuse each complete command."""
        answer = b""
        for byte in chunk:
            if byte == angel_eye.STX:
                self._held.clear()
            self._held.append(byte)
            del self._held[:-CAP_BYTES]
            if self._held[-3:-2] == b"\x03" and self._held[:1] == b"\x02":
                answer += self._answer(bytes(self._held))
                self._held.clear()
        return answer

    def _answer(self, frame: bytes) -> bytes:
        refusal = self.refusal or self._fault_in(frame)
        if refusal is not None:
            return b"\x15" + refusal.encode("ascii")
        kind, number = frame[3:5].decode("ascii"), int(frame[5:7])
        return b"\x06" + self._obey(kind, number)

    def _fault_in(self, frame: bytes) -> str | None:
        due = exclusive_or(frame[:-2] if self._covers_start else frame[1:-2])
        if frame[-2:] != b"%02X" % due:
            return "02"
        if len(frame) != _COMMAND_BYTES or not frame[5:7].isdigit():
            return "11"
        return None if frame[1:3] == b"OP" and frame[3:5] in (b"LK", b"EC", b"GP") else "13"

    def _obey(self, kind: str, number: int) -> bytes:
        if kind == "LK":
            self.locked = number == 2
            return self._report(lambda seq: angel_eye.encode_lock(self.locked, seq))
        if kind == "EC" and self.error:
            self.error = 0
            return self._report(lambda seq: angel_eye.encode_error_cleared(number, seq))
        return b""

    def _report(self, encode: Callable[[int], bytes]) -> bytes:
        self._seq += 1
        return encode(self._seq) * self._copies


class LineShoeDevice:
    """A shoe of the plain line protocol, which numbers its cards and accepts no commands."""

    def __init__(self) -> None:
        self.draws = 0

    def start(self) -> bytes:
        """Report a freshly loaded shoe."""
        self.draws = 0
        return line.encode_start()

    def draw(self, card: Card) -> bytes:
        """Report a drawn card."""
        self.draws += 1
        return line.encode_card(card, self.draws)

    def cut(self) -> bytes:
        """Report the cut card."""
        return line.encode_cut_card()

    def receive(self, chunk: bytes) -> bytes:  # noqa: ARG002 - it receives nothing
        """Ignore the host."""
        return b""


class PlatesDevice:
    """Bet plates that report each changed circle, and all of them on request."""

    def __init__(self) -> None:
        self._amounts: dict[tuple[int, str], Cents] = {}
        self._held = b""

    def put(self, spot: int, circle: str, amount: Cents) -> bytes:
        """Report a stable ``amount`` on a circle."""
        self._amounts[spot, circle] = amount
        return encode_plate(spot, circle, amount)

    def receive(self, chunk: bytes) -> bytes:
        """Answer each request with every circle."""
        self._held += chunk
        asked = self._held.count(REQUEST)
        self._held = self._held.rpartition(REQUEST)[2][-len(REQUEST) :]
        amounts = self._amounts.items()
        return asked * b"".join(encode_plate(*place, amount) for place, amount in amounts)


class TagDevice:
    """An RFID reader, which accepts no commands.

    Args:
        driver: ``id12``, ``rdm6300`` or ``idteck``: how it frames a tag.
    """

    def __init__(self, driver: str) -> None:
        self._encode = TAG_ENCODERS[driver]

    def show(self, tag: str, times: int = 1) -> bytes:
        """Hold a tag near the reader; a reader that repeats reports it ``times`` times."""
        return self._encode(tag) * times

    def receive(self, chunk: bytes) -> bytes:  # noqa: ARG002 - it receives nothing
        """Ignore the host."""
        return b""
