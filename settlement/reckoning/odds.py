"""How likely each thing is that the reckoning weighs, in one table, by sense.

A number is a probability unless its name says otherwise. One that was counted has its count: how
often it was so, of how many, on simulated tables or on the films of ``lab.bench.rates``.
``python -m lab.bench.prices`` counts again and prints each count beside the number. One that
nothing shows is chosen. *Same* from one value to another: no figure moves between them, of rounds
asked, wrong, or with a mistake missed, with a shoe at five times the errors and dealt by hand.
``python -m lab.bench.prices --vary NAME=VALUE`` plays them. How often a shoe and a look misread a
card stands beside what they read: ``SHOE_MISREAD_P`` of ``reconcile/identity``, ``MISREAD_P`` of
``reconcile/looks``.
"""

from math import log
from typing import Final

from models.cards import Card
from settlement.hands import total

# --- the dealer and the players -------------------------------------------------------------

MISTAKE: Final = 2e-5
"""A round holds just this mistake: one mistake in a hundred rounds, of some sixty kinds at some
eight hands. Chosen."""

FORGOTTEN: Final = 1e-4
"""A card that a double or a split owes to a hand does not come: the same mistake, of the one or two
hands of a round that are owed one, and not of eight. Chosen."""

UNUSUAL: Final = 1e-3
"""Somebody does what nobody expects, and no clause is about: turns a card up too soon, puts one
aside, lays it across its hand where it is due along, adds chips to a paid hand, enters what did not
happen. Chosen: 0 of 6,321 cards lie so on tables; of them same from 1e-4."""

NOT_ACROSS: Final = 1e-4
"""A double's card is not laid across its hand. Chosen: with 1e-3 chips added before an ordinary
card are a double, and not the raise that they are."""

HIT: Final = 0.3
"""A player whose points nobody knows takes another card: 2,547 of 5,443 on tables, by basic
strategy. With 0.5, and 0.75 for ``HIT_TO_16``, one mistake of 30 is missed."""

HIT_TO_11: Final = 0.95
"""A player of so many points takes another card: 676 of 676 on tables …"""

HIT_TO_16: Final = 0.5
"""… of 12 to 16, or of 17 and an ace that counts 11: 1,838 of 2,642 …"""

HIT_FROM_17: Final = 0.03
"""… and of more: 33 of 2,125."""

DOUBLES: Final = 0.1
"""A player who may double does: 520 of 4,337 on tables."""

DOUBLES_HARD_12: Final = 5e-4
"""A player of 12 points and more does, no ace counting 11: 0 of 2,909 on tables. Chosen: with 1e-3
a raise after the deal is asked that every sensor saw."""

PUSHES: Final = 0.1
"""A hand is left alone when its round is settled: 442 of 5,165 on tables."""

RHYTHM_SPREAD: Final = 0.2
"""Standard deviation of the logarithm of the time from one card of a deal to the next, about the
dealer's own pace: 0.104 of 10,013 on tables. Same from 0.1 to 0.2."""

OUT_OF_STEP: Final = 0.01
"""A card of a deal from the hand comes at any time: 172 of 10,185 on tables."""

MOVES: Final = 0.02
"""A card that lies there is moved or laid back, and not taken up: 0 of 32,996 on tables, whose
people are tidy. Chosen: same from 0.01 to 0.02."""

PLACE_SPREAD_MM: Final = 6.0
"""Standard deviation of where a card comes to lie about where it is due, on each axis: 2.202 mm of
16,063 on tables, whose dealer is tidy. Chosen: same from 4 to 6."""

NEAR: Final = 0.09
"""A card lies about where it was due, by a careless hand: 1 of 16,064 on tables, whose dealer has
none. Chosen: same from 0.02 to 0.09."""

NEAR_SPREAD_MM: Final = 25.0
"""Standard deviation of where a careless hand lays a card, on each axis. Chosen."""

ASTRAY: Final = 0.01
"""A card lies anywhere in its zone, and not where it was due. Chosen."""

IN_ROW: Final = 0.5
"""A card that the dealer draws lies beside his last one, in a row: 1,830 of 1,830 on tables.
Same from 0.5 to 0.9."""

ROW_STEP_MM: Final = 70.0
"""From one card of the dealer's row to the next, a card's width and some felt: 70.035 mm on average
of 1,830 on tables."""

ZONE_MM2: Final = 60_000.0
"""The area of a zone of cards, to compare a place in it with one that was due."""

# --- a camera -------------------------------------------------------------------------------

HIDDEN: Final = 0.1
"""A card is not yet seen when the next one is, for an arm lies over it: 1 of 25,771 on tables,
whose people keep their arms away. Chosen: with 0.03 one round of 501 more is asked."""

HIDDEN_LONG: Final = 0.016
"""An arm hides a card for more than ``HIDDEN_LONG_NS``: 105 of 9,927 on films."""

HIDDEN_LONG_NS: Final = 500_000_000
"""… and then for as much longer, on average: at most, by 21 late cards of 27 films (0.34 s; 95%
bound 0.51 s)."""

HIDDEN_TO_ANOTHER: Final = 0.3
"""An arm that hides a card from one camera hides it from another one, too. Chosen."""

TO_ANOTHER: Final = 0.005
"""Where one camera errs, another errs alike: it sights a card that is none there, too, or an arm
that hides a card for more than ``HIDDEN_LONG_NS`` hides it from the other until the same moment.
Chosen: cameras look from different sides, and err apart from each other."""

MISSED: Final = 0.01
"""A card that lies in view is never seen where it lies: 37 of 3,899 backs on films."""

MISSED_FACE: Final = 0.0021
"""A camera never sees a card that lies face up in view: 7 of 4,952 hands on films."""

NO_FACE: Final = 0.0005
"""A sighting of a face is of no card: 24 of 6,072 on films. Same from 0.0005 to 0.004."""

NO_BACK: Final = 0.005
"""A sighting of a back is of no card: 30 of 6,072 on films."""

FAINT_P: Final = 0.5
"""A back that its finder is less sure of is faint."""

FAINT: Final = 0.17
"""The back of a card is faint: 89 of 513 on the films of ``lab.bench.backs`` …"""

NO_BACK_FAINT: Final = 0.87
"""… and a sighting of a back that is no card is: 16 of 18."""

DOUBTED: Final = 0.1
"""The first look at a card's face is not certain: 167 of 6,065 on films. Same from 0.03 to 0.1."""

NO_FACE_DOUBTED: Final = 0.8
"""A sighting of a face that is no card's is not certain: 19 of 24 on films."""

SEEN_AGAIN: Final = 0.1
"""A sighting of no card is repeated by the next look: 12 of 54 on films. Same from 0.1 to 0.2."""

TRACK_ERRS: Final = 0.01
"""A card's track is lost, doubled, or taken for another card's. Chosen."""

COMES_BACK: Final = 0.5
"""A card that left the felt, and is not settled, comes into view again. Chosen: with 1 a round is
stated wrongly that a person is asked about (a named one of ``test_long_runs``)."""

TRACK_BROKEN: Final = 0.02
"""A card that moved or was turned gets a new track before its old one is reported gone. Chosen:
same from 0.01 to 0.02."""

TWIN_LINGERS: Final = 0.1
"""A second track of a card is not reported gone with it. Chosen: same from 0.1 to 1."""

GOES_UNSEEN: Final = 0.03
"""A card is taken up, and never reported gone: 2 of 9,494 on films. Chosen: with 0.001 a card that
lies outside every zone is not asked about."""

BACK_AS_FACE: Final = 0.005
"""The first look at a card that lies face down shows some face, and not surely which: 1 of 214 on
the films of ``lab.bench.backs``."""

LASTING: Final = 0.05
"""The share of a camera's errors that last from one look to the next, where no shoe tells of them:
0 of 5 on films. Of the one card that a shoe did not read it is the share that lasts for good: there
is more to lose by stating a mistake than by asking. Chosen."""

SAME_PLACE_MM: Final = 4.0
"""Standard deviation of two sightings of one card that did not move, on each axis: one sighting's
is 1.3 to 1.9 mm on films. Chosen."""

OTHER_SIDE: Final = 0.05
"""The hand that a split makes lies on the other side. Chosen: same from 0.01 to 0.05."""

# --- a shoe that reads its cards ---------------------------------------------------------------

SHOE_MISSED: Final = 1e-3
"""A card leaves the shoe unread. Chosen: no reader was measured."""

NO_CARD_READ: Final = 1e-4
"""A reading of the shoe is of no card, or the card never came to the felt. Chosen."""

LATE: Final = 0.02
"""A card comes to rest at another time than it takes to carry it from the shoe. Chosen: same from
0.01 to 0.02."""

# --- chips ----------------------------------------------------------------------------------

PAID_EARLY: Final = 0.01
"""A hand that need not be settled yet is settled: surrendered, or a natural that nobody saw.
Chosen."""

TAKEN_BACK: Final = 0.05
"""The mistake, where a whole wager goes from a hand that need not be settled, is that its player
took it back: the dealer may have taken it. Chosen."""

# --- the reckoning itself -------------------------------------------------------------------

UNMODELLED: Final = 1e-8
"""A round went as no account and no edit has it. Chosen: between 4e-10, two kinds of mistake, and
2e-7, a hundredth of one."""

KEPT: Final = 1e-6
"""A story less likely than this, beside the likeliest, is dropped."""

MANY_STORIES: Final = 8
"""From so many stories on, those with the same facts and the same cards are made one."""

MOST_STORIES: Final = 512
"""So many stories are kept at most."""

STORIES_APART: Final = 16
"""So many are kept where the sensors' clocks part: the round is a question by any. Chosen: with 512
of them three rounds took 39 s."""

AGREED: Final = 1e-4
"""Facts are published when stories that hold otherwise weigh less than this together."""

ASKED_FROM: Final = 3e-3
"""A person is asked where accounts by which the money is another have these odds together. Chosen:
of about 1,600 rounds none had odds between 0.0026 and 0.0079. One round in a hundred holds a
mistake, and only beside a mistake do other accounts have such odds."""

MISJUDGED_FROM: Final = 2e-2
"""As ``ASKED_FROM``, where only a verdict differs, and no money: of these none had odds between
0.009 and 0.098."""


def hidden_for(for_ns: int) -> float:
    """Return how likely an arm hides a card for that long, as a logarithm."""
    if for_ns <= HIDDEN_LONG_NS:
        return log(HIDDEN)
    return log(HIDDEN_LONG) - (for_ns - HIDDEN_LONG_NS) / HIDDEN_LONG_NS


def doubles(faces: tuple[Card | None, ...]) -> float:
    """Return how likely a player doubles on two cards, where the rules allow it on any two."""
    if None in faces:
        return DOUBLES
    points, soft = total(faces)
    return DOUBLES_HARD_12 if points >= 12 and not soft else DOUBLES


def hits(faces: tuple[Card | None, ...]) -> float:
    """Return how likely a player takes another card."""
    if None in faces:
        return HIT
    points, soft = total(faces)
    if points <= 11:
        return HIT_TO_11
    return HIT_TO_16 if points <= 16 or (soft and points == 17) else HIT_FROM_17
