"""The state of a hand during play, and what its player may do: draw, double, split, surrender.

Who has no engine's hand asks about `hand_with` these cards: the simulator and the reckoning.
"""

from collections.abc import Iterable
from typing import Final

from models.cards import Card
from settlement.hands import face_of, matched, points_of
from settlement.houserules import HouseRules
from settlement.script import Script
from settlement.side_cards import HandLine, lines_made
from settlement.state import Hand, Round, Spot

NO_LINE: Final[list[HandLine | None]] = [None]
"""What a hand makes of no pay table."""

DEAD: Final = 0
UNSURE: Final = 1
LIVE: Final = 2


def hand_with(
    cards: Iterable[Card | None], *, split: bool = False, stake: int = 0, added: int = 0
) -> Hand:
    """Return a hand as it lies.

    Args:
        cards: its cards; ``None`` for one that nobody read.
        split: whether it comes from a split.
        stake: cents of its wager.
        added: cents of a double, which has its card.
    """
    hand = Hand(0, Script())
    hand.recount(list(cards))
    hand.split = split
    hand.aces = split and len(hand.cards) > 0 and points_of(face_of(hand.cards[0])) == 1
    hand.stake = stake
    hand.added = added
    hand.double_card = added > 0
    hand.doubled_seq = int(hand.double_card)
    return hand


def blackjack(hand: Hand, rules: HouseRules) -> bool:
    """Return whether the hand is a blackjack: two cards, unsplit unless the house allows it."""
    if not hand.natural():
        return False
    if not hand.split:
        return True
    return rules.split_ace_21_is_blackjack if hand.aces else rules.split_ten_21_is_blackjack


def lines(hand: Hand, rules: HouseRules) -> list[HandLine | None]:
    """Return every line of the pay table that a hand may make, as :func:`lines_made` does."""
    if not rules.lines or not hand.cards:
        return NO_LINE
    return lines_made(
        rules.lines,
        [face_of(card) for card in hand.cards],
        blackjack=blackjack(hand, rules),
        doubled=doubled_with(hand, rules) > 0,
        split=hand.split,
    )


def wins_outright(hand: Hand, rules: HouseRules) -> bool:
    """Return whether the hand is of a line of the pay table that wins whatever the dealer has."""
    if not hand.known() or not rules.lines:
        return False
    return all(line is not None and line.wins for line in lines(hand, rules))


def double_stands(hand: Hand, rules: HouseRules) -> bool:
    """Return whether a double stands where the house voids an option granted in error.

    Chips for less than the house requires make no double: they go back, and the card is a hit.
    """
    if hand.void_double:
        return False
    less = 0 < hand.added < hand.stake and not rules.double_for_less
    return not (less and rules.voids_illegal_option)


def doubled_with(hand: Hand, rules: HouseRules) -> int:
    """Return the double's chips that count; void ones, and a void excess, go back."""
    if not double_stands(hand, rules):
        return 0
    if hand.stake and rules.voids_illegal_option:
        return min(hand.added, hand.stake)
    return hand.added


def closed_to_cards(hand: Hand, rules: HouseRules, *, asked: bool = False) -> str:
    """Return the violation code of a further card; empty if the hand may take one.

    Args:
        hand: the player's.
        rules: the house's.
        asked: whether its player asks for the card by a hit, even if the hit is not applied yet.
    """
    if hand.called_off:
        return "card_after_stand"
    if hand.double_card:
        return "extra_card_after_double"
    if hand.doubled_seq and len(hand.cards) >= 2 and double_stands(hand, rules):
        return ""
    return _complete(hand, rules, asked=asked or hand.due_seq > hand.doubled_seq)


def _complete(hand: Hand, rules: HouseRules, *, asked: bool) -> str:
    if hand.aces and rules.one_card_to_split_aces and len(hand.cards) >= 2:
        return "extra_card_on_split_ace"
    if not hand.split and hand.natural():
        return "card_to_blackjack"
    if hand.busted():
        return "card_after_breaking"
    if hand.stood or hand.surrendered_seq or hand.even_money:
        return "card_after_stand"
    if _is_21(hand) and not (asked and rules.hits_on_21 and not blackjack(hand, rules)):
        return "card_after_stand"
    return ""


def _is_21(hand: Hand) -> bool:
    return hand.known() and hand.total() == 21


def double_fault(hand: Hand, rules: HouseRules) -> tuple[str, str] | None:
    """Return the code and the correct procedure, where the hand may not be doubled."""
    if not hand.split and hand.natural():
        return "double_on_blackjack", "a blackjack is not doubled"
    if hand.aces and not rules.double_split_aces:
        return "double_split_aces", "split aces may not double"
    if hand.split and not rules.double_after_split:
        return "double_after_split_not_allowed", "split hands may not double"
    if len(hand.cards) < 2 or (len(hand.cards) > 2 and rules.double_on != "any_number"):
        return "double_not_first_two", "only the first two cards may be doubled"
    if hand.known() and not _total_allowed(hand, rules):
        return "double_total_not_allowed", f"this game doubles {_ON[rules.double_on]}"
    return None


_ON: Final = {
    "any_two": "any two cards",
    "9-11": "9, 10 and 11 only",
    "10-11": "10 and 11 only",
    "none": "nothing",
}


def _total_allowed(hand: Hand, rules: HouseRules) -> bool:
    if rules.double_on in ("any_two", "any_number"):
        return True
    if rules.double_on == "none":
        return False
    low = rules.double_soft_as_low_total and hand.soft()
    points = hand.low if low else hand.total()
    return (9 if rules.double_on == "9-11" else 10) <= points <= 11


def split_fault(hand: Hand, rules: HouseRules, hands: int = 1) -> tuple[str, str] | None:
    """Return the code and the correct procedure, where the hand may not be split.

    Args:
        hand: the player's.
        rules: the house's.
        hands: how many hands the spot has.
    """
    if len(hand.cards) != 2:
        return "split_not_pair", "only the first two cards may be split"
    first, second = hand.cards[0], hand.cards[1]
    if matched(first, second, "value") is False:
        return "split_not_pair", "only a pair may be split"
    if matched(first, second, rules.split_match) is False:
        return "split_unequal_rank", "the two must be of the same rank"
    if hand.aces and not rules.resplit_aces:
        return "resplit_aces_not_allowed", "aces are split only once"
    if hands >= rules.max_hands:
        return "too_many_hands", f"a spot may have {rules.max_hands} hands"
    return None


def surrender_fault(hand: Hand, rules: HouseRules) -> tuple[str, str] | None:
    """Return the code and the correct procedure, where the hand may not be surrendered."""
    if rules.rescues and hand.double_card and not hand.busted():
        return None
    if rules.surrender == "none":
        return "surrender_not_offered", "this game has no surrender"
    if hand.split and not rules.surrender_after_split:
        return "surrender_after_split", "split hands may not be surrendered"
    if len(hand.cards) < 2:
        return "surrender_not_offered", "it is offered on the first two cards"
    if len(hand.cards) != 2 or hand.stood or hand.doubled_seq or hand.due_seq:
        return "surrender_after_action", "it is the first decision on the first two cards"
    return None


def insures(up: int, rules: HouseRules) -> bool:
    """Return whether insurance is offered beside an up card of so many points, 0 for any."""
    return rules.insurance != "none" and up <= 1


def takes_even_money(hand: Hand, up: int, rules: HouseRules) -> bool:
    """Return whether even money is offered for the hand beside an up card of so many points."""
    return rules.even_money and blackjack(hand, rules) and up <= 1


def finished(hand: Hand, rules: HouseRules, *, asked: bool = False) -> bool:
    """Return whether the player has no decision left on the hand.

    A hand of 21 is finished, unless its player asks for a card as :func:`closed_to_cards` tells.
    """
    if hand.aces and rules.resplit_aces and not hand.stood and _pair(hand.cards):
        return False
    return closed_to_cards(hand, rules, asked=asked) != ""


def _pair(cards: list[Card | None]) -> bool:
    """Return whether these are two cards known to be of one rank."""
    if len(cards) != 2:
        return False
    first, second = cards[0], cards[1]
    return first is not None and second is not None and first.rank == second.rank


def unfinished(hand: Hand, index: int, rules: HouseRules) -> bool:
    """Return whether the record shows play on the hand after the fact at ``index``."""
    script = hand.script
    return script.last_turn > index and not finished(hand, rules, asked=script.last_hit > index)


def spot_unfinished(spot: Spot, index: int, rules: HouseRules) -> bool:
    """Return whether the record shows play on any hand of the spot after ``index``."""
    if spot.last_turn <= index:
        return False
    return any(unfinished(hand, index, rules) for hand in spot.hands)


def turn_over(round_: Round, spot: Spot, hand: Hand) -> bool:
    """Return whether the record shows that the hand's turn is over: play went on elsewhere."""
    if round_.players_done() or round_.looked_at_blackjack() or round_.turn_of > spot.number:
        return True
    return spot.last_turn > hand.script.last_turn


def live(hand: Hand, rules: HouseRules) -> int:
    """Return whether the dealer's total matters to the hand.

    A hand called off after the dealer drew may have been live at that draw.
    """
    if hand.called_off:
        return UNSURE if hand.rarely().off_after_draw else DEAD
    if hand.surrendered_seq or hand.even_money or hand.busted():
        return DEAD
    if len(hand.cards) < 2 and not hand.split:
        return UNSURE
    if not hand.known():
        return UNSURE
    won = blackjack(hand, rules) or (rules.lines and wins_outright(hand, rules))
    return DEAD if won else LIVE


def rescued(hand: Hand, rules: HouseRules) -> bool:
    """Return whether the hand was given up after it was doubled, in a house that allows it."""
    return rules.rescues and hand.double_card and hand.surrendered_seq > 0


def in_deal(hand: Hand) -> bool:
    """Return whether the hand waits for its cards of the initial deal."""
    return not hand.split and len(hand.cards) < 2


def hand_of(spot: Spot, number: int) -> Hand | None:
    """Return one hand of a spot in play, if it exists."""
    if spot.in_play and number < len(spot.hands):
        return spot.hands[number]
    return None


def up_points(round_: Round) -> int:
    """Return the value of the dealer's up card, ace 1; 0 if it is unknown."""
    for card in round_.dealer[:2]:
        if not card.down:
            return points_of(card.card)
    return 0


def owed_card(hand: Hand) -> int:
    """Return the fact since which a card is due to the hand; 0 where none is due."""
    if len(hand.cards) < 2:
        return hand.due_seq or hand.stake_seq or 1
    if hand.stood and not hand.doubled_seq:
        return 0
    return hand.due_seq
