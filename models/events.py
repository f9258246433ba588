"""The vocabulary of the event stream: observations, facts and judgements in one order.

Every event is a frozen record tagged by ``type``. A fact, which people also write by hand, may hold
no field that it does not have. A reader of journals passes over fields that it does not know
(:func:`models.decode.known_part`), so a newer writer never stops an older reader.
"""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from models.cards import Card
from models.money import Cents
from models.session import CameraPose

Spot: TypeAlias = Annotated[int, Meta(ge=1, le=99)]
"""A betting spot, counted from the dealer's left (first base), from 1."""

HandNo: TypeAlias = Annotated[int, Meta(ge=0, le=15)]
"""A hand of a spot in the order of creation, from 0."""

Chips: TypeAlias = Annotated[Cents, Meta(ge=0, le=10**12)]
"""An amount of chips on the table."""

Number: TypeAlias = Annotated[int, Meta(ge=1, le=2**63 - 1)]
"""A count from 1 that fits into 64 bits."""

RoundNumber: TypeAlias = Annotated[int, Meta(ge=1, le=2**62)]
"""A round's number. Unnumbered rounds continue the count, so its bound leaves room within 64
bits."""

Dealt: TypeAlias = Spot | Literal["dealer"]
Face: TypeAlias = Literal["up", "down"]
WagerKind: TypeAlias = Literal["main", "double", "split", "insurance", "side", "toke", "coupon"]
PaidKind: TypeAlias = Literal["main", "insurance", "side", "toke", "coupon"]
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=200)]
"""What people call a person, a side bet or a slip."""
Moved: TypeAlias = Annotated[Cents, Meta(ge=-(10**12), le=10**12)]
"""An amount of chips that changes hands, with its sign."""
Action: TypeAlias = Literal["hit", "stand", "double", "split", "surrender", "even_money"]
Manner: TypeAlias = Literal["hand", "verbal", "tuck"]
SyncState: TypeAlias = Literal["synchronised", "unsynchronised", "unknown"]
"""The kernel's statement on the host's wall clock; ``unknown`` where the kernel cannot be asked."""
Probability: TypeAlias = Annotated[float, Meta(ge=0, le=1)]


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Any event of the stream. A hand-written file may omit these three fields."""

    seq: Number | None = None
    """Place in the table's journal, 1, 2, 3 … without gaps: the only order."""
    at: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    """When it happened at the table, nanoseconds since the Unix epoch, UTC."""
    table: str | None = None


class Observation(Event, frozen=True, kw_only=True):
    """The report of one sensor or person. Never retracted."""

    source: str
    """``shoe``, ``camera:overhead``, ``plate:3``, ``console:NAME``."""
    confidence: Probability | None = None
    heard: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    """The time up to which the table had processed everything when this came, where it came later
    than its own time; nanoseconds since the Unix epoch, UTC."""


class Fact(Event, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What happened at the table, once observations were reconciled. People write facts by hand."""

    evidence: tuple[int, ...] = ()
    """``seq`` of every supporting observation."""


class Judgement(Event, frozen=True, kw_only=True):
    """A conclusion of the engine from the facts."""

    because: tuple[int, ...] = ()
    """``seq`` of every supporting fact."""


# --- observations: the shoe ---------------------------------------------------------------


class ShoeCardRead(Observation, frozen=True, kw_only=True, tag="shoe_card_read"):
    """The reader in the shoe's mouth saw one card leave."""

    card: Card | None
    draw: int
    """Cards drawn since the shoe was loaded, from 1; a jump means a missed card."""
    raw: str
    """The frame as received, in hex: the evidence behind ``card``."""


class ShoeCutCard(Observation, frozen=True, kw_only=True, tag="shoe_cut_card"):
    """The cut card came to the mouth of the shoe."""

    raw: str


class ShoeLoaded(Observation, frozen=True, kw_only=True, tag="shoe_loaded"):
    """The shoe reports a fresh start after its cut card or at power-up."""

    raw: str


class ReaderFault(Observation, frozen=True, kw_only=True, tag="reader_fault"):
    """A device sent data that is no valid reading."""

    kind: str
    """``checksum``, ``framing``, ``gap``, ``overflow``, ``device_error``, ``link_lost`` …"""
    detail: str
    raw: str = ""
    missing_from: int | None = None
    """The first missed draw number, where the fault reports missed draws."""
    missing_to: int | None = None
    """The last of them; ``None`` beside ``missing_from`` where the count is unknown."""
    count: int = 1
    """How many faults this entry stands for."""


class DeviceReturned(Observation, frozen=True, kw_only=True, tag="device_returned"):
    """A device or camera that was reported lost works again."""

    away_ns: int
    """Nanoseconds without any data from it."""
    tries: int
    """The number of connection attempts, the successful one included."""


# --- observations: the camera -------------------------------------------------------------


HELD_BACK: Final = "held_back_"
"""How the kinds of a ``camera_fault`` begin that count faces which a camera does not tell of."""


class CardSighted(Observation, frozen=True, kw_only=True, tag="card_sighted"):
    """A card lies on the felt: new, better read, moved, turned or squared up beneath another.

    ``at`` is the time at which it came to rest.
    """

    track: int
    """The camera's own id of this card on the felt; never used twice in a session."""
    change: Literal["new", "read", "moved", "turned", "squared"]
    face: Face
    card: Card | None
    """The reading where it is certain; otherwise ``None``, and ``candidates`` holds the
    alternatives."""
    candidates: dict[str, Probability] = {}
    """Calibrated probabilities of the most likely faces of a card lying face up."""
    single_look: bool = False
    """Whether ``candidates`` come from this look alone, or from every look so far."""
    x_mm: float
    y_mm: float
    """The card's middle on the felt (table layout's frame)."""
    spread_mm: Annotated[float, Meta(ge=0)] = 0.0
    """Standard error of that place on each axis; 0 where the camera does not state it."""
    angle_deg: float
    """Direction of the card's top edge from its middle, clockwise from the felt's -y."""
    frame: int
    crop: tuple[int, int, int, int]
    """Left, top, width, height in pixels of that frame: the picture behind the reading."""


class ForeignCardSighted(Observation, frozen=True, kw_only=True, tag="foreign_card_sighted"):
    """A face or back on the felt fits no card of the decks in use after repeated looks."""

    track: int
    """The camera's identity of the card, as in ``card_sighted``."""
    face: Face
    card: Card | None
    """The face as read; ``None`` for a back or in doubt."""
    deck_fit: Probability
    """The best fit to the decks in use, from 0 to 1."""
    x_mm: float
    y_mm: float
    """The card's middle on the felt."""
    frame: int
    crop: tuple[int, int, int, int]
    """Left, top, width, height in pixels of that frame."""


class CardGone(Observation, frozen=True, kw_only=True, tag="card_gone"):
    """The felt is visible where the card of ``track`` lay; it was taken up."""

    track: int
    frame: int


class CameraFault(Observation, frozen=True, kw_only=True, tag="camera_fault"):
    """A camera or its picture is at fault, most kinds until a ``camera_recovered`` of that kind."""

    kind: str
    """``size_changed``, ``black``, ``overexposed``, ``frozen``, ``unfocused``, ``moved``,
    ``incomplete`` (a part of the picture is lost in decoding), ``obstructed`` (most of the felt is
    hidden), ``covered`` (an object lies where cards are dealt), ``overloaded`` (the machine reads
    fewer pictures than come; the others are left out), ``clock`` (its times part from the shoe's),
    ``mirrored`` (left and right are exchanged).
    Without an end: ``unwatched`` (no picture was read for a while; reported once it is over),
    ``left_out`` and ``damaged`` (so many pictures were not read), ``held_back_`` and why (a face
    was read surely and not told of: ``misfit``, ``moving``, ``cut``, ``felt``, ``print``,
    ``twice``)."""
    detail: str
    frame: int
    count: int = 1
    """How many faults this entry stands for: of ``left_out`` the pictures."""
    proposed: CameraPose | None = None
    """The new pose of a camera that moved, for a person to accept."""


class CameraRecovered(Observation, frozen=True, kw_only=True, tag="camera_recovered"):
    """A fault of the camera has passed."""

    kind: str
    """The ``kind`` of the ``camera_fault``."""
    lasted_ns: Annotated[int, Meta(ge=0)]
    frame: int


# --- observations: bet plates and people --------------------------------------------------


class PlateRead(Observation, frozen=True, kw_only=True, tag="plate_read"):
    """The amount on one circle, stable. Circles: hand number ``0`` … ``3``, ``I``, ``S``."""

    spot: Spot
    circle: str
    amount: Chips
    """The total on the circle, not the change."""
    chips: dict[str, int] = {}
    """Chip value in cents → how many."""
    raw: str = ""


class ConsoleEntry(
    Observation, frozen=True, kw_only=True, tag="console_entry", forbid_unknown_fields=True
):
    """A person at the console states a fact that no sensor here reports."""

    fact: "AnyFact"


class CardPlace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One card of a round, by the hand that received it."""

    to: Dealt
    hand: HandNo = 0
    nth: Annotated[int, Meta(ge=0, le=51)] = 0
    """Index among the round's ``card_dealt`` to that hand, from 0."""


Decision: TypeAlias = Literal[
    "chosen", "dealt", "burned", "account", "stands", "unreadable", "void"
]


class ReviewResolved(Observation, frozen=True, kw_only=True, tag="review_resolved"):
    """A person decided a review item; ``source`` names who, ``console:NAME``.

    ``chosen``: the card in question is ``choice``. ``dealt``: it belongs to ``card``'s hand.
    ``burned``: it went to the discard rack. ``account``: the round went as the item's account of
    that number has it. ``stands``: what is recorded is right.
    ``unreadable``: nobody knows the card; the round settles as far as every possible card agrees.
    ``void``: the floor calls the round off, and every wager goes back.
    """

    round: Number
    item: Annotated[int, Meta(ge=0, le=2**31)]
    """Index among the round's items, from 0, in the order in which they were raised."""
    decision: Decision
    choice: Card | None = None
    """The card, where the decision names one."""
    card: CardPlace | None = None
    """The card in question, where the evidence leaves it open; for ``dealt``, its place."""
    account: Annotated[int, Meta(ge=0, le=63)] | None = None
    """The item's account that holds, from 0, the stated one; for ``account``."""
    says: str = ""
    """What happened by the decision, in the words of the item's answer."""
    reason: str = ""
    """In the person's words; required for ``unreadable`` and ``void``."""
    approved_by: str = ""
    """The second person, where the house requires two; never the first one."""


class RulesStated(Observation, frozen=True, kw_only=True, tag="rules_stated"):
    """The house rules in force from here on; ``source`` set them."""

    rulebook: str
    rules: dict[str, str]
    """Every knob's value, in the notation of ``--set``."""
    overrides: dict[str, str] = {}
    """The knobs that differ from the sheet ``rulebook``."""
    rules_hash: str = ""
    """Hash of every knob in force; empty in entries of an older version."""


class ClockAnchored(Observation, frozen=True, kw_only=True, tag="clock_anchored"):
    """A clock was set: the table's to the host's wall clock, or a camera's to the table's."""

    wall_ns: int
    """The new time, nanoseconds since the Unix epoch, UTC."""
    step_ns: int
    """The change in nanoseconds; after a negative step the clock stood still until time caught
    up."""
    up_ns: Annotated[int, Meta(ge=0)] | None = None
    """Nanoseconds since the machine's start, for the table's clock: a count that nobody can set."""


class ClockCompared(Observation, frozen=True, kw_only=True, tag="clock_compared"):
    """The host's wall clock drifted or stepped away from the table's, which runs on undisturbed."""

    wall_ns: int
    """The wall clock's time, nanoseconds since the Unix epoch, UTC."""
    apart_ns: int
    """Nanoseconds that the wall clock is ahead of the table's."""
    step_ns: int
    """The jump in nanoseconds since the last comparison; 0 for mere drift. At a table's start,
    negative: how far the clock is behind the last entry of the earlier run."""


class ClockSynchronisation(Observation, frozen=True, kw_only=True, tag="clock_synchronisation"):
    """Whether another clock disciplines the host's clock; at every start and at every change."""

    state: SyncState


class ClockChecked(Observation, frozen=True, kw_only=True, tag="clock_checked"):
    """A person compared the host's clock with another one and found it right.

    ``source`` names who, ``console:NAME``.
    """


class ProgramStated(Observation, frozen=True, kw_only=True, tag="program_stated"):
    """The program that writes the journal; among its first entries, and again at every start."""

    version: str
    program_hash: str
    """Hash of the program's files; ``pitwatch verify-install`` prints the same."""
    networks: dict[str, str] = {}
    """SHA-256 of every network, by the name of its file."""
    compiled_hash: str = ""
    """Hash of the compiled libraries in use; empty where there are none."""


# --- facts --------------------------------------------------------------------------------


class ShoeStarted(Fact, frozen=True, kw_only=True, tag="shoe_started"):
    """A fresh shoe, or pitch decks after a shuffle."""

    decks: Annotated[int, Meta(ge=1, le=8)]


class CardBurned(Fact, frozen=True, kw_only=True, tag="card_burned"):
    """To the discard rack, unplayed."""

    card: Card | None


class CardBoxed(Fact, frozen=True, kw_only=True, tag="card_boxed"):
    """A card found face up in the shoe; it is not played."""

    card: Card | None


class CutCardReached(Fact, frozen=True, kw_only=True, tag="cut_card_reached"):
    """The round in play is the last of this shoe."""


class PlayerSeated(Fact, frozen=True, kw_only=True, tag="player_seated"):
    """A player holds these spots from now on."""

    player: str
    spots: tuple[Spot, ...]


class PlayerLeft(Fact, frozen=True, kw_only=True, tag="player_left"):
    """A player gives these spots up."""

    player: str
    spots: tuple[Spot, ...]


class RoundOpened(Fact, frozen=True, kw_only=True, tag="round_opened"):
    """A round opened for wagers."""

    round: RoundNumber


class WagerPlaced(Fact, frozen=True, kw_only=True, tag="wager_placed"):
    """Chips added, not the running total. A ``split`` wager names the new hand.

    ``toke``: the dealers' bet beside the main wager. ``coupon``: a promotional wager.
    """

    spot: Spot
    hand: HandNo = 0
    kind: WagerKind
    amount: Chips
    bet: Name | None = None
    """The side bet's name."""
    bettor: Name | None = None
    """Whose money it is; absent for the spot's own player."""


class WagerRemoved(Fact, frozen=True, kw_only=True, tag="wager_removed"):
    """Chips that the player took back, or that the floor took off."""

    spot: Spot
    hand: HandNo = 0
    kind: WagerKind
    amount: Chips
    bet: Name | None = None
    bettor: Name | None = None
    by: Literal["player", "floor"] = "player"
    reason: str = ""


class CardDealt(Fact, frozen=True, kw_only=True, tag="card_dealt"):
    """A card to a hand or the dealer, in the order in which cards left the shoe."""

    to: Dealt
    hand: HandNo = 0
    card: Card | None
    face: Face = "up"
    probability: Probability | None = None
    """Probability that ``card`` is right; absent where two sensors agree, and for a card that lies
    face down or was not read."""


class CardExposed(Fact, frozen=True, kw_only=True, tag="card_exposed"):
    """A face-down or unknown card is turned up or becomes known."""

    to: Dealt
    hand: HandNo = 0
    card: Card | None


class HoleCardChecked(Fact, frozen=True, kw_only=True, tag="hole_card_checked"):
    """The dealer checked the hole card."""

    blackjack: bool


class PlayerActed(Fact, frozen=True, kw_only=True, tag="player_acted"):
    """A player's decision. The cards and chips that follow a hit, stand or double show it too."""

    spot: Spot
    hand: HandNo = 0
    action: Action
    manner: Manner | None = None


class CardsTouched(Fact, frozen=True, kw_only=True, tag="cards_touched"):
    """A player touched cards."""

    spot: Spot
    manner: Literal["one_hand", "two_hands"]


class PaymentMade(Fact, frozen=True, kw_only=True, tag="payment_made"):
    """One payment at settlement: positive to the player, on top of the stake."""

    spot: Spot
    hand: HandNo = 0
    kind: PaidKind = "main"
    amount: Moved
    bet: Name | None = None
    """The side bet's name."""
    bettor: Name | None = None
    """Whose wager it is for; absent for the spot's own player."""


class Ruling(Fact, frozen=True, kw_only=True):
    """A decision of the floor: never a mistake itself."""

    reason: str = ""
    """In the person's words."""
    by: Name = "floor"
    """Who ruled."""


class HandCalledOff(Ruling, frozen=True, kw_only=True, tag="hand_called_off"):
    """The floor rules a hand dead; its wagers go back."""

    spot: Spot
    hand: HandNo | None = None
    """``None`` for every hand of the spot."""


class RoundCalledOff(Ruling, frozen=True, kw_only=True, tag="round_called_off"):
    """The floor calls the round off: every wager goes back; its cards stay out of the shoe."""


class HandPlace(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A hand on the felt, or the dealer's."""

    to: Dealt
    hand: HandNo = 0


Place: TypeAlias = HandPlace | Literal["rack"]


class CardMoved(Ruling, frozen=True, kw_only=True, tag="card_moved", rename={"origin": "from"}):
    """The floor rules that a card belongs elsewhere: play goes on as if it was dealt there."""

    card: Card | None
    origin: Place
    to: Place


class DiscardsReshuffled(Ruling, frozen=True, kw_only=True, tag="discards_reshuffled"):
    """The discards are shuffled and dealt on; what lies on the table stays out."""


TrayReason: TypeAlias = Literal[
    "buy_in", "cash_out", "fill", "credit", "colour_change", "marker", "other"
]


class TrayChanged(Fact, frozen=True, kw_only=True, tag="tray_changed"):
    """Chips that enter or leave the tray other than by wagers; positive into the tray."""

    amount: Moved
    reason: TrayReason
    spot: Spot | None = None
    player: Name | None = None
    slip: Name | None = None
    """The number of the form that goes with it."""


class TrayCounted(Fact, frozen=True, kw_only=True, tag="tray_counted"):
    """The chip tray's total, when known."""

    amount: Chips


class RoundClosed(Fact, frozen=True, kw_only=True, tag="round_closed"):
    """The cards are taken up; every unsettled wager settles here."""


AnyFact: TypeAlias = (
    ShoeStarted
    | CardBurned
    | CardBoxed
    | CutCardReached
    | PlayerSeated
    | PlayerLeft
    | RoundOpened
    | WagerPlaced
    | WagerRemoved
    | CardDealt
    | CardExposed
    | HoleCardChecked
    | PlayerActed
    | CardsTouched
    | PaymentMade
    | HandCalledOff
    | RoundCalledOff
    | CardMoved
    | DiscardsReshuffled
    | TrayChanged
    | TrayCounted
    | RoundClosed
)

AnyObservation: TypeAlias = (
    ShoeCardRead
    | ShoeCutCard
    | ShoeLoaded
    | ReaderFault
    | DeviceReturned
    | CardSighted
    | CardGone
    | ForeignCardSighted
    | CameraFault
    | CameraRecovered
    | PlateRead
    | ConsoleEntry
    | ReviewResolved
    | RulesStated
    | ProgramStated
    | ClockAnchored
    | ClockCompared
    | ClockSynchronisation
    | ClockChecked
)
