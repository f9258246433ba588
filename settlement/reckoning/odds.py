"""How likely each thing is that the reckoning weighs, in one table.

Every constant is a probability unless its name says otherwise. ``MEASURED`` marks those that a
bench measured; the others are chosen, and say what they trade off.
"""

from math import log
from typing import Final

from models.cards import Card
from settlement.hands import total

# --- the dealer and the players -------------------------------------------------------------

MISTAKE: Final = 2e-5
"""A round holds just this mistake: one mistake in a hundred rounds, of some sixty kinds at some
eight hands."""

FORGOTTEN: Final = 1e-4
"""A card that a double or a split owes to a hand does not come: the same mistake, of the one or two
hands of a round that are owed one, and not of eight. Chosen."""

HIT: Final = 0.3
"""A player whose points nobody knows takes another card."""

HIT_TO_11: Final = 0.95
HIT_TO_16: Final = 0.5
HIT_FROM_17: Final = 0.03
"""A player of so many points takes another card; of 17 and an ace that counts 11, as of 16."""

STOOD_UNSEEN: Final = 0.03
"""A hand stood whose player holds cards, and the camera missed how he tucked them."""

STOOD: Final = 0.5
"""A hand that lies open stood: nothing on the felt shows it."""

PUSHES: Final = 0.1
"""A hand is left alone when its round is settled: 8 to 9 in 100 hands of blackjack push."""

TURNED_IN_DEAL: Final = 1e-3
"""A player turns a card up before he has two, or, of no natural, before the deal ends."""

OUT_OF_STEP: Final = 0.01
"""A card of a deal from the hand comes at any time. Chosen: an arm hides one card in sixty for long
(7 of 438 on films), and a dealer may halt."""

RHYTHM_SPREAD: Final = 0.2
"""Standard deviation of the logarithm of the time from one card of a deal to the next, about the
dealer's own pace. Chosen: simulated dealers keep it within 0.07."""

PUT_BACK: Final = 0.02
"""A player lays cards back as they were dealt."""

BURNED: Final = 0.003
"""A card of the shoe goes to the rack in the middle of a round: about one a shoe. Chosen."""

ENTERED_AMISS: Final = 0.001
"""A person enters what a player did not do, or moves a card that does not lie there."""

# --- a camera -------------------------------------------------------------------------------

HIDDEN: Final = 0.1
"""A card is not yet seen when the next one is: an arm lies over it."""

HIDDEN_LONG: Final = 0.016
"""An arm hides a card for more than ``HIDDEN_LONG_NS``: 7 of 438 on films."""

HIDDEN_LONG_NS: Final = 500_000_000

HIDDEN_LONG_FOR_NS: Final = 500_000_000
"""A card hidden so long stays hidden for so much longer, on average: at most, by 21 late cards of
27 films (0.34 s; 95% bound 0.51 s)."""

HIDDEN_FOR_NS: Final = 800_000_000
"""So long an arm hides a card, on average. Chosen."""

HIDDEN_TO_ANOTHER: Final = 0.3
"""An arm that hides a card from one camera hides it from another one, too. Chosen."""

LONG_TO_ANOTHER: Final = 0.005
"""An arm that hides a card for more than ``HIDDEN_LONG_NS`` hides it from another camera until the
same moment, too. Chosen: cameras look from different sides, past an arm at different times."""

MISSED: Final = 0.01
"""A card that lies in view is never seen where it lies."""

MISSED_FACE: Final = 0.0021
"""A camera never sees a card that lies face up in view: 7 (and a half) of 3,589 hands on films."""

MISSED_BY_ONE: Final = 0.02
"""A camera misses a card that another one sees: 4 of 211 backs on films."""

NOTHING_TO_ANOTHER: Final = 0.005
"""Where one camera sights a card that is none, another sights one as well. Chosen: cameras err
apart from each other."""

NO_FACE: Final = 0.0005
"""A sighting of a face is of no card."""

NO_BACK: Final = 0.005
"""A sighting of a back is of no card: one in ten rounds of twenty cards."""

FAINT_P: Final = 0.5
"""A back that its finder is less sure of is faint."""

FAINT: Final = 0.17
"""The back of a card is faint: 89 of 513 on films."""

NO_BACK_FAINT: Final = 0.87
"""A sighting of a back that is no card is faint: 16 of 18 on films."""

DOUBTED: Final = 0.1
"""The first look at a card's face is not certain: 6 of 546 on films whose decks are read well, and
most of those of a deck that is not."""

NO_FACE_DOUBTED: Final = 0.8
"""A sighting of a face that is no card's is not certain: 2 of 2 on films."""

SEEN_AGAIN: Final = 0.1
"""A sighting of no card is repeated by the next look."""

SEEN_TWICE: Final = 0.01
"""A card gets a second track while its first one lasts."""

TRACK_BROKEN: Final = 0.02
"""A card that moved or was turned gets a new track before its old one is reported gone."""

LAID_APART: Final = 0.5
"""A card of a pair that was split is laid apart before the next card comes to it, and gets a new
track. Chosen: of 54 cards moved on film, all got a new track."""

MOVED_AT_ONCE: Final = 0.02
"""A card that just came to rest, or was tucked, is moved again."""

MOVES: Final = 0.02
"""A card that lies there is moved, and not taken up."""

TAKES_OVER: Final = 0.01
"""A like card laid upon another takes over its track."""

COMES_BACK: Final = 0.5
"""A card that left the felt, and is not settled, comes into view again."""

LOST_SIGHT: Final = 0.01
"""A card that is reported gone still lies there, or is taken up from a hand that is to be played or
settled yet."""

TWIN_LINGERS: Final = 0.1
"""A second track of a card is not reported gone with it."""

GOES_UNSEEN: Final = 0.03
"""A card is taken up, and never reported gone."""

NOT_ACROSS: Final = 1e-4
"""A double's card is not laid across its hand."""

ACROSS: Final = 1e-3
"""Any other card is."""

GLIMPSED: Final = 1e-3
"""A card that lies face down is read as some face, and not surely."""

BACK_AS_FACE: Final = 0.005
"""The first look at a card that lies face down shows some face, and not surely which: 1 of 214 on
films (`lab.bench.backs --seeds 2`) with the finder before."""

LASTING: Final = 0.05
"""The share of a camera's errors that last from one look to the next, where no shoe tells of them.
Chosen: on films none of five lasted to the second look. Of the one card that a shoe did not read it
is the share that lasts for good: there is more to lose by stating a mistake than by asking."""

OTHER_SIDE: Final = 0.05
"""The hand that a split makes lies on the other side."""

# --- a shoe that reads its cards ---------------------------------------------------------------

SHOE_MISSED: Final = 1e-3
"""A card leaves the shoe unread."""

NO_CARD_READ: Final = 1e-4
"""A reading of the shoe is of no card, or the card never came to the felt."""

BEHIND_A_FAULT: Final = 0.3
"""A card passed behind a fault of the shoe's reader."""

LATE: Final = 0.02
"""A card comes to rest at another time than it takes to carry it from the shoe."""

# --- chips ----------------------------------------------------------------------------------

DOUBLES: Final = 0.1
"""A player who may double does."""

DOUBLES_HARD_12: Final = 5e-4
"""A player of 12 points and more does, no ace counting 11. Chosen: no strategy says so."""

PAID_EARLY: Final = 0.01
"""A hand that need not be settled yet is settled: surrender, or a natural that nobody saw."""

PAID_TWICE: Final = 1e-3
"""Chips are added to a hand that was paid."""

TAKEN_BACK: Final = 0.05
"""The mistake, where a whole wager goes from a hand that need not be settled, is that its player
took it back: the dealer may have taken it."""

SILENT_PLATES: Final = 1e-5
"""The bet plates fall silent in a round. Chosen."""

UNMODELLED: Final = 1e-8
"""A round went as no account and no edit has it. Chosen: between 4e-10, two kinds of mistake, and
2e-7, a hundredth of one."""

# --- the reckoning itself -------------------------------------------------------------------

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

PLACE_SPREAD_MM: Final = 6.0
"""Standard deviation of where a card comes to lie about where it is due, on each axis."""

SAME_PLACE_MM: Final = 4.0
"""Standard deviation of two sightings of one card that did not move, on each axis."""

NEAR: Final = 0.09
"""A card lies about where it was due, by a careless hand."""

NEAR_SPREAD_MM: Final = 25.0
"""Standard deviation of where a careless hand lays a card, on each axis."""

ASTRAY: Final = 0.01
"""A card lies anywhere in its zone, and not where it was due."""

IN_ROW: Final = 0.5
"""A card that the dealer draws lies beside his last one, in a row."""

ROW_STEP_MM: Final = 70.0
"""From one card of the dealer's row to the next: a card's width and some felt."""

ZONE_MM2: Final = 60_000.0
"""The area of a zone of cards, to compare a place in it with one that was due."""


def hidden_for(for_ns: int) -> float:
    """Return how likely an arm hides a card for that long, as a logarithm."""
    if for_ns <= HIDDEN_LONG_NS:
        return log(HIDDEN)
    return log(HIDDEN_LONG) - (for_ns - HIDDEN_LONG_NS) / HIDDEN_LONG_FOR_NS


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
