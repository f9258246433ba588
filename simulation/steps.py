"""The steps of a simulated table: the script before it is staged."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from models.cards import Card
from models.events import Action, AnyFact, Dealt
from models.money import Cents

HandKey: TypeAlias = tuple[Dealt, int]
"""The owner of a hand, a spot or the dealer, and the hand's number."""


@dataclass(frozen=True, slots=True)
class Step:
    """One true fact, with further data for staging."""

    fact: AnyFact
    card: Card | None = None
    """The face of the card in hand, where the fact itself leaves it unknown."""
    console: bool = False
    """Whether the floor enters it: no sensor can report it."""
    at_hand: bool = False
    """Whether the card is out of the shoe already, or stays in the dealer's hand."""


@dataclass(slots=True)
class Hand:
    """One hand of a spot while it is played."""

    spot: int
    number: int
    bet: Cents
    cards: list[Card] = field(default_factory=list)
    added: Cents = 0
    of_split: bool = False
    finished: bool = False
    settled: bool = False
    surrendered: bool = False
    down: list[Card] = field(default_factory=list)
    """Its cards that lie face down, or are in the player's hand."""

    @property
    def stake(self) -> Cents:
        """The stake on it, a double included."""
        return self.bet + self.added


@dataclass(slots=True)
class Rig:
    """A scene's demands on a round: cards by hand, decisions, wagers; the rest is random.

    ``cards`` holds wishes (:func:`simulation.shoe.fits`) in the order in which the hand gets its
    cards; the dealer's are the up card, the hole card, then the draws.
    """

    cards: Mapping[HandKey, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    """The cards of the spots that ``cards`` does not name, dealt in turn."""
    decisions: Mapping[tuple[int, int], tuple[Action, ...]] = field(default_factory=dict)
    wagers: Mapping[int, Cents] = field(default_factory=dict)
    insured: tuple[int, ...] | None = None
    """Spots that take insurance; ``None`` decides at random."""
    sits_out: tuple[int, ...] = ()
