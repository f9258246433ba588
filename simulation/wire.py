"""The session's serial data: the bytes of shoe and plates, read by read."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from random import Random
from typing import Final, Literal, TypeAlias

from devices import plates
from devices.shoes import angel_eye, line
from models.cards import Card
from simulation.betting import PlateChange
from simulation.staging import ShoeMoment

ShoeDriver: TypeAlias = Literal["angel-eye", "line"]

Read: TypeAlias = tuple[int, bytes]
"""The arrival of bytes, in nanoseconds since the session's start, and the bytes."""

STABLE_NS: Final = 300_000_000
"""Nanoseconds that an amount is unchanged before its plate reports it."""
_BYTE_NS: Final = {"angel-eye": 2_083_333, "line": 1_041_667}
_REPEATED: Final = 0.12
"""Share of the shoe's reports that are sent twice."""


def shoe_reads(moments: Iterable[ShoeMoment], driver: ShoeDriver, seed: int) -> list[Read]:
    """Return the shoe's bytes as they arrive: fragmented, occasionally repeated."""
    chance, found = Random(f"{seed}:shoe"), list[Read]()
    for at_ns, frame in _frames(moments, driver):
        sent = 2 if driver == "angel-eye" and chance.random() < _REPEATED else 1
        free = max(at_ns, found[-1][0] + 1 if found else 0)
        for again in range(sent):
            found += _fragments(frame, free + again * 60_000_000, _BYTE_NS[driver], chance)
    return found


def plate_reads(changes: Iterable[PlateChange], seed: int) -> list[Read]:
    """Return the plates' lines, each sent once an amount is stable."""
    chance, found = Random(f"{seed}:plates"), list[Read]()
    for at_ns, change in _rested(changes):
        frame = plates.encode_plate(change.spot, change.circle, change.amount, change.chips)
        free = max(at_ns, found[-1][0] + 1 if found else 0)
        found += _fragments(frame, free, _BYTE_NS["line"], chance)
    return found


def capture(reads: Iterable[Read]) -> str:
    """Write reads as a capture file's text."""
    return "".join(f"{at_ns} {chunk.hex()}\n" for at_ns, chunk in reads)


def _frames(moments: Iterable[ShoeMoment], driver: ShoeDriver) -> Iterator[Read]:
    encode = _angel_eye if driver == "angel-eye" else _line
    draw = 0
    for number, moment in enumerate(moments, start=1):
        draw = 0 if moment.what == "fresh" else draw + isinstance(moment.what, Card)
        yield moment.at_ns, encode(moment, draw, number)


def _angel_eye(moment: ShoeMoment, draw: int, number: int) -> bytes:
    if isinstance(moment.what, Card):
        return angel_eye.encode_card(moment.what, draw, number)
    if moment.what == "cut":
        return angel_eye.encode_cut_card(number)
    return angel_eye.encode_start(number)


def _line(moment: ShoeMoment, draw: int, number: int) -> bytes:
    del number
    if isinstance(moment.what, Card):
        return line.encode_card(moment.what, draw)
    return line.encode_cut_card() if moment.what == "cut" else line.encode_start()


def _rested(changes: Iterable[PlateChange]) -> Iterator[tuple[int, PlateChange]]:
    """Yield the plates' reports with their times: stable amounts, and only if new."""
    by_circle: dict[tuple[int, str], list[PlateChange]] = {}
    for change in sorted(changes, key=lambda change: change.at_ns):
        by_circle.setdefault((change.spot, change.circle), []).append(change)
    reports = [report for circle in by_circle.values() for report in _reported(circle)]
    yield from sorted(reports, key=lambda timed: timed[0])


def _reported(changes: list[PlateChange]) -> Iterator[tuple[int, PlateChange]]:
    reported = 0
    following = [change.at_ns for change in changes[1:]]
    for change, until_ns in zip_longest(changes, following):
        rested = until_ns is None or until_ns - change.at_ns >= STABLE_NS
        if rested and change.amount != reported:
            reported = change.amount
            yield change.at_ns + STABLE_NS, change


def _fragments(frame: bytes, start_ns: int, byte_ns: int, chance: Random) -> list[Read]:
    """Cut a frame as a port does: each read holds the bytes that have arrived by then."""
    cuts = sorted(chance.sample(range(1, len(frame)), chance.randint(0, 2)))
    found, begin = list[Read](), 0
    for end in (*cuts, len(frame)):
        found.append((start_ns + end * byte_ns, frame[begin:end]))
        begin = end
    return found
