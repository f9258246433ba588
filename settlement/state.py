"""What the engine knows of a table: its shoe and seats, and the round in play. All frozen."""

from typing import TypeAlias

import msgspec

from models.cards import Card
from models.events import AnyFact, Dealt, Face
from models.judgements import Violation
from models.money import Cents

Cards: TypeAlias = tuple[Card | None, ...]


class Laid(msgspec.Struct, frozen=True):
    """One card of the dealer's as it lies."""

    card: Card | None
    face: Face
    seq: int


class Hand(msgspec.Struct, frozen=True):
    """One hand of a spot."""

    cards: Cards = ()
    burned: Cards = ()
    stake: Cents = 0
    """The main or split wager."""
    stake_seq: int = 0
    owed_stake: Cents = 0
    """What a split hand's wager must match; 0 for the first hand."""
    added: Cents = 0
    """Chips added by a double."""
    added_seq: int = 0
    split: bool = False
    aces: bool = False
    """Made by splitting aces."""
    doubled_seq: int = 0
    """The fact that doubled it; 0 where none did."""
    double_card: bool = False
    void_split: bool = False
    """The split that made it was illegal and the rulebook returns its chips."""
    void_double: bool = False
    stood: bool = False
    surrendered_seq: int = 0
    surrender_faulted: bool = False
    even_money: bool = False
    due_seq: int = 0
    """The fact since which a card is owed to it; 0 where none is."""


class Spot(msgspec.Struct, frozen=True):
    """One betting spot in a round."""

    number: int
    hands: tuple[Hand, ...] = (Hand(),)
    places: tuple[int, ...] = (0,)
    """Hand numbers in the order in which they lie on the felt."""
    split_chips: tuple[tuple[int, Cents, int], ...] = ()
    """Split wagers laid before the cards were parted: ``(hand, amount, seq)``."""
    insurance: Cents = 0
    insurance_seq: int = 0
    insurance_faulted: bool = False
    late: bool = False
    """Its wager came after the first card."""
    face_faulted: bool = False


class Payment(msgspec.Struct, frozen=True):
    """Chips that changed hands, and the settling pass they belong to."""

    seq: int
    spot: int
    hand: int
    kind: str
    amount: Cents
    sweep: int
    hole_known: bool


class Script(msgspec.Struct, frozen=True):
    """What the whole record of a round tells of each of its facts.

    Attributes:
        cards: the identity of the card dealt by each fact, as far as ever learnt.
        turned: for each ``card_exposed``, what it turned: the ``hole`` card, an ``open``
            card, or a ``foreign`` one that nobody dealt there.
        last_turn: index of the last fact by which a hand was played on, before it stood.
        dealt_in: cards each spot got up to the dealer's second.
        order: who got the cards up to the dealer's second, in order.
        draws: indices of the dealer's cards after the second.
    """

    cards: dict[int, Card | None]
    turned: dict[int, str]
    last_turn: dict[tuple[int, int], int]
    dealt_in: dict[Dealt, int]
    order: tuple[Dealt, ...]
    draws: tuple[int, ...]


class Round(msgspec.Struct, frozen=True):
    """A round in play."""

    number: int
    script: Script
    spots: tuple[Spot, ...] = ()
    dealer: tuple[Laid, ...] = ()
    opened: bool = False
    """Whether its opening was observed."""
    wagered: bool = False
    """Whether any main wager was observed."""
    dealing: bool = False
    """Whether the first card has been dealt."""
    passes: tuple[tuple[Dealt, ...], ...] = ()
    """Who is still to get a card in each pass of the initial deal."""
    owed: tuple[Dealt, ...] = ()
    """Who was passed over and may still get that card."""
    order_faulted: int = -1
    """Passes left when the deal's order was last found wrong."""
    strays: frozenset[Dealt] = frozenset()
    """Spots not in play that were dealt a card."""
    acted: bool = False
    checked: bool | None = None
    hole_shown: bool = False
    out_of_turn: frozenset[tuple[int, int]] = frozenset()
    early_draw_seq: int = 0
    payments: tuple[Payment, ...] = ()
    sweep: int = 0
    settling: bool = False
    """Whether the fact before was a payment."""
    last_seq: int = 0
    closed: bool = False
    counted: bool = False
    """Whether the tray was counted after it closed."""


class Shoe(msgspec.Struct, frozen=True):
    """The cards that have left the shoe."""

    decks: int
    started: bool = False
    """Whether its start was observed."""
    out: dict[str, int] = {}
    """Cards and ranks → how many have been seen; ``""`` counts every card."""
    burned: int = 0
    burn_judged: bool = False
    boxed: tuple[Card | None, ...] = ()
    """Cards found face up and not yet seen in the discard rack."""
    boxed_last: bool = False
    """Whether the last card out was one of them."""
    rounds: int = 0
    cut: bool = False
    """The cut card came in a round that is over."""


class Table(msgspec.Struct, frozen=True):
    """What lasts from round to round."""

    shoe: Shoe
    seats: dict[int, str] = {}
    """Spot → the player who holds it."""
    entered: frozenset[str] = frozenset()
    """Who has played every round of this shoe."""
    newcomers: frozenset[str] = frozenset()
    """Who sat down since the last round was dealt."""
    seen_rounds: int = 0
    cut_now: bool = False
    """The cut card came in the round in play."""
    tray: Cents | None = None
    tray_change: Cents = 0
    """What payments since the last count did to the tray."""
    tray_sure: bool = True
    """Whether every round since the last count had its payments observed."""


class State(msgspec.Struct, frozen=True):
    """A table, the round in play, and which fact of it comes next."""

    table: Table
    round: Round
    index: int = 0


class Step(msgspec.Struct, frozen=True):
    """The state after a fact, and the mistakes that the fact shows."""

    after: State
    findings: tuple[Violation, ...] = ()


class Noted(msgspec.Struct, frozen=True):
    """A fact with its place in the journal or its line in the file."""

    seq: int
    fact: AnyFact
