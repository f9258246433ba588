"""What can go wrong between a table and its sensors, done to perfect observations by a seed."""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

from msgspec.structs import replace

from models.cards import DECK, Card
from models.events import (
    AnyObservation,
    CardGone,
    CardSighted,
    PlateRead,
    ReaderFault,
    ShoeCardRead,
)

Timed: TypeAlias = tuple[int, AnyObservation]
Noise: TypeAlias = Callable[[Sequence[Timed], Random], list[Timed]]

MS = 1_000_000
OFTEN = 0.08
"""Share of observations that a noise strikes: a round holds about twenty cards."""


def renumbered(heard: Sequence[Timed]) -> list[Timed]:
    """Give observations their ``seq`` in the order of their arrival."""
    ordered = sorted(heard, key=lambda timed: timed[0])
    return [(at, replace(said, seq=seq)) for seq, (at, said) in enumerate(ordered, start=1)]


def shoe_misreads(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    return [
        (at, replace(said, card=_another(said.card, chance)))
        if isinstance(said, ShoeCardRead) and chance.random() < OFTEN
        else (at, said)
        for at, said in heard
    ]


def shoe_misses_a_number(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    return [
        (at, said)
        for at, said in heard
        if not (isinstance(said, ShoeCardRead) and chance.random() < OFTEN)
    ]


def shoe_frames_break(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    """A frame fails its checksum; the reader, which counts frames, does not count it."""
    found: list[Timed] = []
    lost = 0
    for at, said in heard:
        if isinstance(said, ShoeCardRead) and chance.random() < OFTEN:
            lost += 1
            fault = ReaderFault(source="shoe", at=said.at, kind="checksum", detail="", raw=said.raw)
            found.append((at, fault))
        elif isinstance(said, ShoeCardRead):
            lost = 0 if said.draw == 1 else lost
            found.append((at, replace(said, draw=said.draw - lost)))
        else:
            found.append((at, said))
    return found


def shoe_misses_unnoticed(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    broken = shoe_frames_break(heard, chance)
    return [timed for timed in broken if not isinstance(timed[1], ReaderFault)]


def shoe_repeats(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    again = [
        (at + 60 * MS, said)
        for at, said in heard
        if isinstance(said, ShoeCardRead) and chance.random() < OFTEN
    ]
    return [*heard, *again]


def line_noise(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    """Bytes that are no frame, while no card passes."""
    faults = [
        (at, ReaderFault(source="shoe", at=at, kind="framing", detail=""))
        for at, _ in heard
        if chance.random() < OFTEN
    ]
    return [*heard, *faults]


def camera_misreads(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    def misread(said: CardSighted) -> CardSighted:
        other = _another(said.card, chance)
        return replace(said, card=other, candidates={str(other): 0.9995})

    return [
        (at, misread(said))
        if isinstance(said, CardSighted) and said.card and chance.random() < OFTEN
        else (at, said)
        for at, said in heard
    ]


def camera_half_reads(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    def half_read(said: CardSighted) -> CardSighted:
        other = _another(said.card, chance)
        return replace(said, card=None, candidates={str(said.card): 0.6, str(other): 0.4})

    return [
        (at, half_read(said))
        if isinstance(said, CardSighted) and said.card and chance.random() < 3 * OFTEN
        else (at, said)
        for at, said in heard
    ]


def camera_cannot_read(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    return [
        (at, replace(said, card=None, candidates={}))
        if isinstance(said, CardSighted) and chance.random() < OFTEN
        else (at, said)
        for at, said in heard
    ]


def camera_is_late(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    """An arm lies over a card; what the camera says of it afterwards is late as a whole."""
    found: list[Timed] = []
    for at, said in heard:
        late = chance.randrange(200, 4_000) * MS if chance.random() < OFTEN else 0
        if late and isinstance(said, CardSighted):
            found.append((at + late, replace(said, at=at + late - 150 * MS)))
        else:
            found.append((at, said))
    return _in_track_order(found)


def camera_misses(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    tracks = {said.track for _, said in heard if isinstance(said, CardSighted)}
    lost = {track for track in sorted(tracks) if chance.random() < OFTEN / 2}
    return [
        (at, said)
        for at, said in heard
        if not (isinstance(said, CardSighted | CardGone) and said.track in lost)
    ]


def camera_sees_ghosts(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    """A card reported where none lies, and taken back a second later."""
    ghosts: list[Timed] = []
    for number, (at, said) in enumerate(heard):
        if isinstance(said, CardSighted) and chance.random() < OFTEN / 2:
            track = 100_000 + number
            face = chance.choice(DECK)
            ghost = replace(
                said, track=track, change="new", face="up", card=face, candidates={str(face): 0.995}
            )
            ghosts.append((at + 10 * MS, replace(ghost, x_mm=said.x_mm + 30)))
            gone = CardGone(source=said.source, at=at + 900 * MS, track=track, frame=0)
            ghosts.append((at + 900 * MS, gone))
    return [*heard, *ghosts]


def camera_sees_double(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    """A card gets a second track where it lies."""
    doubles: list[Timed] = []
    for at, said in heard:
        if isinstance(said, CardSighted) and chance.random() < OFTEN:
            track = 200_000 + said.track
            moved = replace(said, track=track, change="new", x_mm=said.x_mm + 3)
            doubles.append((at + 700 * MS, moved))
    return [*heard, *doubles]


def cards_not_seen_going(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    return [
        (at, said)
        for at, said in heard
        if not (isinstance(said, CardGone) and chance.random() < OFTEN)
    ]


def plates_break(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    return [
        (at, ReaderFault(source="plate", at=said.at, kind="checksum", detail=""))
        if isinstance(said, PlateRead) and chance.random() < OFTEN
        else (at, said)
        for at, said in heard
    ]


def everything_at_once(heard: Sequence[Timed], chance: Random) -> list[Timed]:
    for noise in (camera_is_late, camera_half_reads, shoe_frames_break, line_noise, shoe_repeats):
        heard = noise(heard, chance)
    return list(heard)


def _another(card: Card | None, chance: Random) -> Card:
    return chance.choice([other for other in DECK if other is not card])


def _in_track_order(heard: list[Timed]) -> list[Timed]:
    """A camera tells of one card's life in order, however late."""
    latest: dict[int, int] = {}
    found: list[Timed] = []
    for at, said in heard:
        told = at
        if isinstance(said, CardSighted | CardGone):
            told = latest[said.track] = max(at, latest.get(said.track, 0) + 1)
        found.append((told, said))
    return found
