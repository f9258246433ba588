"""Facts decoded once into plain fields, in the record of their round."""

from typing import Any, Final

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
    Dealt,
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

    def write(self, fact: AnyFact, kind: int, seq: int) -> None:
        """Read a fact into blank fields."""
        self.fact = fact
        self.kind = kind
        self.seq = seq
        self.spot = DEALER
        self.hand = 0
        self.what = ""
        """The kind of wager or payment, or the action."""
        self.amount = 0
        self.manner: str | None = None
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
        _write(self, fact, kind)

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
        self.read = self.card = read.read
        self.between = UNDISPUTED
        self.down = self.lies_down = read.down
        self.turned = OPEN


def read_once(fact: AnyFact) -> ReadFact:
    """Return a fact read, to be repeated wherever the same content comes again."""
    read = ReadFact()
    read.write(fact, KINDS[type(fact)], 0)
    return read


def _write(noted: ReadFact, fact: Any, kind: int) -> None:
    """Decode the fields of a fact's own type, which ``kind`` stands for."""
    if kind == CARD_DEALT:
        _dealt(noted, fact)
    elif kind == PLAYER_ACTED:
        _acted(noted, fact)
    elif kind in (WAGER_PLACED, PAYMENT_MADE, WAGER_REMOVED):
        _chips(noted, fact)
    elif kind == CARD_EXPOSED:
        _exposed(noted, fact)
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


def _dealt(noted: ReadFact, fact: CardDealt) -> None:
    _place(noted, fact.to, fact.hand)
    noted.read = noted.card = face_of(fact.card)
    noted.down = noted.lies_down = fact.face == "down"


def _exposed(noted: ReadFact, fact: CardExposed) -> None:
    _place(noted, fact.to, fact.hand)
    noted.read = face_of(fact.card)


def _place(noted: ReadFact, to: Dealt, hand: int) -> None:
    if isinstance(to, int):
        noted.spot = to
        noted.hand = hand


def _acted(noted: ReadFact, fact: PlayerActed) -> None:
    noted.spot = fact.spot
    noted.hand = fact.hand
    noted.what = fact.action
    noted.manner = fact.manner


def _chips(noted: ReadFact, fact: WagerPlaced | WagerRemoved | PaymentMade) -> None:
    noted.spot = fact.spot
    noted.hand = fact.hand
    noted.what = fact.kind
    noted.amount = fact.amount


def card_named(face: int) -> str:
    """Write one card for people."""
    card: Card | None = FACES[face]
    return "??" if card is None else str(card)
