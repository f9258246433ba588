"""What took place at the table, sensor by sensor, waiting for its turn."""

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from models.cards import Card
from models.events import AnyFact, Spot
from models.judgements import Review
from settlement.reconcile.sightings import Lying, Track


@dataclass(frozen=True, slots=True)
class Arrived:
    """A card left the shoe; ``lying`` is where it came to rest, where that was seen."""

    at: int
    card: Card | None
    lying: Lying | None
    seqs: tuple[int, ...]
    doubts: tuple[Review, ...] = ()
    said: Card | None = None
    """The shoe's word; ``None`` where it had none."""
    welcome_if_due: bool = False
    """The doubts fall away where just this card was to come: one sensor missed it."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A card that lay on the felt lies elsewhere now."""

    at: int
    track: Track
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Turned:
    """A card that lay on the felt shows its other side now, or was read for the first time."""

    at: int
    track: Track
    lying: Lying
    seqs: tuple[int, ...]
    unseen: bool = False
    """The turning itself was missed: it took place some time before."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A card was taken up."""

    at: int
    track: Track
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChipsChanged:
    """A circle holds another amount now."""

    at: int
    spot: Spot
    circle: str
    total: int
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entered:
    """A person at the console stated a fact, or a device told of one that needs no place."""

    at: int
    fact: AnyFact
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Doubted:
    """Something was lost that only a person can make good."""

    at: int
    review: Review
    seqs: tuple[int, ...]


Happening: TypeAlias = Arrived | Moved | Turned | Taken | ChipsChanged | Entered | Doubted


class Agenda:
    """Happenings in the order of the table's time."""

    def __init__(self) -> None:
        self._waiting: list[Happening] = []

    def __iter__(self) -> Iterator[Happening]:
        return iter(self._waiting)

    def add(self, happening: Happening) -> None:
        """Put a happening in its place."""
        insort(self._waiting, happening, key=_turn)

    def drop(self, happening: Happening) -> None:
        """Take a happening out again: it was explained by another."""
        self._waiting.remove(happening)

    def rename(self, track: Track, known_as: Track) -> None:
        """What was told of one track is told of another: they are the same card."""
        for at, found in enumerate(self._waiting):
            if isinstance(found, Moved | Turned | Taken) and found.track == track:
                self._waiting[at] = replace(found, track=known_as)

    def first(self, before_ns: int) -> Happening | None:
        """Return the first happening where it lies before ``before_ns``."""
        if self._waiting and self._waiting[0].at <= before_ns:
            return self._waiting[0]
        return None


def _turn(happening: Happening) -> tuple[int, tuple[int, ...]]:
    return happening.at, happening.seqs
