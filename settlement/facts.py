"""Facts decoded once into plain fields, in the record of their round."""

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import astuple

from models.cards import Card
from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CardDealt,
    CardExposed,
    CardMoved,
    CardsTouched,
    CutCardReached,
    DiscardsReshuffled,
    HandCalledOff,
    HandPlace,
    HoleCardChecked,
    PaymentMade,
    Place,
    PlayerActed,
    PlayerLeft,
    PlayerSeated,
    RoundCalledOff,
    RoundClosed,
    RoundOpened,
    ShoeStarted,
    TrayChanged,
    TrayCounted,
    WagerPlaced,
    WagerRemoved,
)
from settlement.hands import FACES, UNKNOWN, face_of

DEALER: Final = 0
"""The dealer, in place of a spot's number."""
RACK: Final = -1
"""The discard rack, in place of a spot's number."""

EVERY_HAND: Final = -1
"""Every hand of a spot, in place of a hand's number."""

CARD_DEALT: Final = 1
PLAYER_ACTED: Final = 2
WAGER_PLACED: Final = 3
PAYMENT_MADE: Final = 4
CARD_EXPOSED: Final = 5
ROUND_OPENED: Final = 6
ROUND_CLOSED: Final = 7
HOLE_CARD_CHECKED: Final = 8
WAGER_REMOVED: Final = 9
CARDS_TOUCHED: Final = 10
TRAY_COUNTED: Final = 11
PLAYER_SEATED: Final = 12
PLAYER_LEFT: Final = 13
SHOE_STARTED: Final = 14
CARD_BURNED: Final = 15
CARD_BOXED: Final = 16
CUT_CARD_REACHED: Final = 17
HAND_CALLED_OFF: Final = 18
ROUND_CALLED_OFF: Final = 19
CARD_MOVED: Final = 20
DISCARDS_RESHUFFLED: Final = 21
TRAY_CHANGED: Final = 22

KINDS: Final[dict[type, int]] = {
    CardDealt: CARD_DEALT,
    PlayerActed: PLAYER_ACTED,
    WagerPlaced: WAGER_PLACED,
    PaymentMade: PAYMENT_MADE,
    CardExposed: CARD_EXPOSED,
    RoundOpened: ROUND_OPENED,
    RoundClosed: ROUND_CLOSED,
    HoleCardChecked: HOLE_CARD_CHECKED,
    WagerRemoved: WAGER_REMOVED,
    CardsTouched: CARDS_TOUCHED,
    TrayCounted: TRAY_COUNTED,
    PlayerSeated: PLAYER_SEATED,
    PlayerLeft: PLAYER_LEFT,
    ShoeStarted: SHOE_STARTED,
    CardBurned: CARD_BURNED,
    CardBoxed: CARD_BOXED,
    CutCardReached: CUT_CARD_REACHED,
    HandCalledOff: HAND_CALLED_OFF,
    RoundCalledOff: ROUND_CALLED_OFF,
    CardMoved: CARD_MOVED,
    DiscardsReshuffled: DISCARDS_RESHUFFLED,
    TrayChanged: TRAY_CHANGED,
}
"""Every type of fact, the frequent ones first."""

OPEN: Final = 0
"""An exposed card that lay open already, or that a player held."""
HOLE: Final = 1
"""The dealer's face-down card turned up."""
FOREIGN: Final = 2
"""An exposed card whose face is that of no card dealt there."""

UNDISPUTED: Final[tuple[int, ...]] = ()
"""The faces of a card on which no two facts contradict each other."""


class ReadFact:
    """A fact with its place in the journal, or its line in the file.

    Only the fields of its own kind have a meaning.
    """

    fact: Any
    """The fact; ``kind`` stands for its type."""
    kind: int
    seq: int
    index: int
    """Its place in the record of the round."""
    sweep: int
    """The settling pass that a payment belongs to."""

    def write(self, fact: AnyFact, kind: int, line: int) -> None:
        """Read a fact into blank fields; ``line`` is its number where it has no ``seq``."""
        told = _FIELDS(fact)
        self.fact = fact
        self.kind = kind
        self.seq = line if told[0] is None else told[0]
        self.spot = DEALER
        self.hand = 0
        self.what = ""
        """The kind of wager or payment, or the action."""
        self.amount = 0
        self.manner: str | None = None
        self.bettor: str | None = None
        self.unsure = False
        """Whether the sensors leave a card dealt in doubt."""
        self.read = UNKNOWN
        """The card's index, as this fact states it."""
        self.card = UNKNOWN
        """The card's index, as far as the whole record reveals it."""
        self.between = UNDISPUTED
        """The faces that facts of the record give the card, where they contradict each other."""
        self.down = False
        """Whether it was dealt face down."""
        self.lies_down = False
        """Whether it is still face down at this point of the record."""
        self.turned = OPEN
        _write(self, told, kind)

    def repeat(self, read: "ReadFact", seq: int) -> None:
        """Take over the fields of a fact read before: as to :meth:`write` it, and much faster."""
        self.fact = read.fact
        self.kind = read.kind
        self.seq = seq
        self.spot = read.spot
        self.hand = read.hand
        self.what = read.what
        self.amount = read.amount
        self.manner = read.manner
        self.bettor = read.bettor
        self.unsure = read.unsure
        self.read = self.card = read.read
        self.between = UNDISPUTED
        self.down = self.lies_down = read.down
        self.turned = OPEN


def read_once(fact: AnyFact) -> ReadFact:
    """Return a fact read, to be repeated wherever the same content comes again."""
    read = ReadFact()
    read.write(fact, KINDS[type(fact)], 0)
    return read


_FIELDS: Final[Callable[[Any], tuple[Any, ...]]] = astuple
"""Returns a fact's fields, much faster than one by one where the engine is compiled."""


def _write(noted: ReadFact, told: tuple[Any, ...], kind: int) -> None:
    """Take over a fact's fields, in their order: first ``seq``, ``at``, ``table``, ``evidence``."""
    if kind == CARD_DEALT:
        _, _, _, _, to, hand, card, face, probability = told
        if isinstance(to, int):
            noted.spot, noted.hand = to, hand
        noted.read = noted.card = face_of(card)
        noted.down = noted.lies_down = face == "down"
        noted.unsure = probability is not None
    elif kind == PLAYER_ACTED:
        _, _, _, _, noted.spot, noted.hand, noted.what, noted.manner = told
    elif kind in (WAGER_PLACED, PAYMENT_MADE):
        _, _, _, _, noted.spot, noted.hand, noted.what, noted.amount, _, noted.bettor = told
    elif kind == CARD_EXPOSED:
        _, _, _, _, to, hand, card = told
        if isinstance(to, int):
            noted.spot, noted.hand = to, hand
        noted.read = face_of(card)
    else:
        _write_rare(noted, noted.fact, kind)


def _write_rare(noted: ReadFact, fact: Any, kind: int) -> None:
    if kind == WAGER_REMOVED:
        noted.spot, noted.hand = fact.spot, fact.hand
        noted.what, noted.amount, noted.bettor = fact.kind, fact.amount, fact.bettor
    elif kind == CARDS_TOUCHED:
        noted.spot = fact.spot
    elif kind in (CARD_BURNED, CARD_BOXED):
        noted.read = face_of(fact.card)
    elif kind in (TRAY_COUNTED, TRAY_CHANGED):
        noted.amount = fact.amount
    elif kind == HAND_CALLED_OFF:
        noted.spot = fact.spot
        noted.hand = EVERY_HAND if fact.hand is None else fact.hand
    elif kind == CARD_MOVED:
        noted.spot, noted.hand = place_of(fact.to)
        noted.read = noted.card = face_of(fact.card)


def place_of(place: Place) -> tuple[int, int]:
    """Return a place's spot, ``DEALER`` or ``RACK``, and hand."""
    if isinstance(place, HandPlace):
        return (place.to, place.hand) if isinstance(place.to, int) else (DEALER, 0)
    return RACK, 0


def card_named(face: int) -> str:
    """Write one card for people."""
    card: Card | None = FACES[face]
    return "??" if card is None else str(card)
