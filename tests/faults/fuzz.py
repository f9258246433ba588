"""Noise through every framer and decoder: ``python -m tests.faults.fuzz [--bytes N]``.

Noise is random bytes, bytes that mean something to the protocol, and sound frames damaged by
either. Prints for each driver how many bytes went through, how fast, and how far the memory
rose; whatever raises ends it.
"""

import argparse
import random
import resource
from collections import Counter
from collections.abc import Iterator

from devices.plates import encode_plate
from devices.reading import Reading
from devices.registry import DRIVERS, make_driver
from devices.shoes import angel_eye, line
from devices.simulated import TAG_ENCODERS
from models.cards import DECK
from models.events import ReaderFault
from stream.clock import elapsed_ns
from tests.devices.wires import SETTINGS, tag_of

_PIECE_BYTES = 4096
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
    """Feed noise to a fresh driver; return how often it said what."""
    listener, said = make_driver(driver, SETTINGS.get(driver)), Counter[str]()
    at_ns = 0
    for piece in noise(driver, total):
        at_ns += 4_000_000_000
        said.update(map(_name, listener.feed(piece, at_ns)))
        listener.answers()
    said.update(map(_name, listener.finish(at_ns)))
    return said


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


def main() -> None:
    """Fuzz every driver and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1] if __doc__ else None)
    parser.add_argument("--bytes", type=int, default=10_000_000, help="for each driver")
    total = parser.parse_args().bytes
    print(f"{'driver':10} {'bytes':>10} {'MB/s':>6} {'memory rose':>12}  said")
    for driver in DRIVERS:
        before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun_ns = elapsed_ns()
        said = fuzz(driver, total)
        seconds = (elapsed_ns() - begun_ns) / 1e9
        rose_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
        common = ", ".join(f"{name} {number}" for name, number in said.most_common(4))
        print(f"{driver:10} {total:10} {total / seconds / 1e6:6.2f} {rose_kb:9} kB  {common}")


if __name__ == "__main__":
    main()
