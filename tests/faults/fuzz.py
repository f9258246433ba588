"""Noise through every framer and decoder.

Noise is random bytes, bytes that mean something to the protocol, and sound frames damaged by
either. Whatever raises ends it. The same for the decoder of events, which reads journals and
files: it may only refuse a damaged line.
"""

import random
from collections import Counter
from collections.abc import Iterator

import msgspec

from devices.plates import encode_plate
from devices.reading import Reading
from devices.registry import make_driver
from devices.shoes import angel_eye, line
from devices.simulated import TAG_ENCODERS
from models.cards import DECK
from models.decode import decode_event
from models.errors import InputRefused
from models.events import Event, ReaderFault, ShoeCardRead
from models.judgements import Review, ReviewRaised
from server.house.rulebooks import rules_for
from simulation.truth import settled
from tests.devices.wires import SETTINGS, tag_of
from tests.server.evenings import evening

_PIECE_BYTES = 4096
_JSON = b'{}[]",:0123456789-+.eE nulltruefalse\\u\xff\x00'
_MEANING = b"\x02\x03\x05\x06\x15\r\n* 0123456789ABCDEFDSRPLATEx"


def noise(driver: str, total: int) -> Iterator[bytes]:
    """Yield ``total`` bytes of noise for a driver, the same for the same arguments."""
    chance = random.Random(f"{driver} noise")
    frames = [_frame(driver, number) for number in range(len(DECK))]
    left = total
    while left > 0:
        piece = _piece(chance, frames)[:left]
        left -= len(piece)
        yield piece


def fuzz(driver: str, total: int) -> Counter[str]:
    """Feed noise to a fresh driver; return the count of each report."""
    listener, counts = make_driver(driver, SETTINGS.get(driver)), Counter[str]()
    at_ns = 0
    for piece in noise(driver, total):
        at_ns += 4_000_000_000
        counts.update(map(_name, listener.feed(piece, at_ns)))
        listener.answers()
    counts.update(map(_name, listener.finish(at_ns)))
    return counts


def fuzz_events(total: int) -> Counter[str]:
    """Decode damaged lines; return how many were events all the same, and how many were refused."""
    chance, counts, left = random.Random("events noise"), Counter[str](), total
    sound = [msgspec.json.encode(event) for event in _events()]
    while left > 0:
        line = _damaged(chance, chance.choice(sound))
        left -= len(line)
        try:
            decode_event(line, "noise", 1)
        except InputRefused:
            counts["refused"] += 1
        else:
            counts["event"] += 1
    return counts


def _events() -> Iterator[Event]:
    """Events of many forms, deep ones among them."""
    for card in DECK:
        yield ShoeCardRead(source="shoe", at=1, card=card, draw=1, raw="00")
        yield ReviewRaised(round=1, review=Review("which", (str(card),), (1, 2)))
    yield from settled(evening(3), rules_for("kansas-shoe"))


def _damaged(chance: random.Random, line: bytes) -> bytes:
    match chance.randrange(4):
        case 0:
            return chance.randbytes(len(line))
        case 1:
            cut = sorted(chance.choices(range(len(line)), k=2))
            return line[: cut[0]] + line[cut[1] :] + line[cut[0] : cut[1]]
        case 2:
            return line.replace(b"{", b'{"at":' * chance.choice((1, 2, 5, 20, 2000)), 1)
        case _:
            changed = bytearray(line)
            for place in chance.choices(range(len(line)), k=chance.randrange(1, 4)):
                changed[place] = chance.choice(_JSON)
            return bytes(changed)


def _piece(chance: random.Random, frames: list[bytes]) -> bytes:
    match chance.randrange(3):
        case 0:
            return chance.randbytes(_PIECE_BYTES)
        case 1:
            return bytes(chance.choices(_MEANING, k=_PIECE_BYTES))
        case _:
            stream = bytearray(b"".join(chance.choices(frames, k=_PIECE_BYTES // 12)))
            for place in chance.choices(range(len(stream)), k=len(stream) // 40):
                stream[place] ^= 1 << chance.randrange(8)
            return bytes(stream)


def _frame(driver: str, number: int) -> bytes:
    card = DECK[number]
    match driver:
        case "angel-eye":
            return angel_eye.encode_card(card, number, number)
        case "line":
            return line.encode_card(card, number + 1)
        case "plate":
            return encode_plate(number % 7 + 1, "0", 500 * number, {500: number} if number else {})
        case _:
            return TAG_ENCODERS[driver](tag_of(card, 8 if driver == "idteck" else 10))


def _name(reading: Reading) -> str:
    return reading.kind if isinstance(reading, ReaderFault) else type(reading).__name__
