"""What a hand is at a moment of play: finished, a blackjack, live, due a card."""

from typing import Final

import msgspec

from models.rulebook import Rulebook
from settlement.hands import busted, known, natural, total
from settlement.state import Hand, Round, Spot, State, Step

replace: Final = msgspec.structs.replace


def blackjack(hand: Hand, rules: Rulebook) -> bool:
    """Tell whether the hand is a blackjack: its first two cards, unsplit unless the house says."""
    if not natural(hand.cards):
        return False
    if not hand.split:
        return True
    return rules.split_ace_21_is_blackjack if hand.aces else rules.split_ten_21_is_blackjack


def closed_to_cards(hand: Hand, rules: Rulebook) -> str | None:
    """Return the violation that a further card would be; ``None`` if the hand may take one."""
    if hand.double_card:
        return "extra_card_after_double"
    awaits_double = bool(hand.doubled_seq) and not hand.void_double and len(hand.cards) >= 2
    return None if awaits_double else _complete(hand, rules)


def _complete(hand: Hand, rules: Rulebook) -> str | None:
    if hand.aces and rules.split_aces_cards == 1 and len(hand.cards) >= 2:
        return "extra_card_on_split_ace"
    if not hand.split and natural(hand.cards):
        return "card_to_blackjack"
    if busted(hand.cards):
        return "card_after_breaking"
    if hand.stood or hand.surrendered_seq or hand.even_money or _is_21(hand):
        return "card_after_stand"
    return None


def _is_21(hand: Hand) -> bool:
    return known(hand.cards) and total(hand.cards)[0] == 21


def finished(hand: Hand, rules: Rulebook) -> bool:
    """Tell whether no decision on the hand is left to its player."""
    if hand.aces and len(hand.cards) == 2 and rules.resplit_aces and not hand.stood:
        first, second = hand.cards
        if first is not None and second is not None and first.rank == second.rank:
            return False
    return closed_to_cards(hand, rules) is not None


def unfinished(state: State, spot: Spot, number: int, rules: Rulebook) -> bool:
    """Tell whether the record shows that the hand is still to be played on."""
    last = state.round.script.last_turn.get((spot.number, number), -1)
    return last > state.index and not finished(spot.hands[number], rules)


def spot_unfinished(state: State, spot: Spot, rules: Rulebook) -> bool:
    """Tell whether any hand of the spot is still to be played on."""
    return any(unfinished(state, spot, number, rules) for number in range(len(spot.hands)))


def live(hand: Hand, rules: Rulebook) -> bool | None:
    """Tell whether the dealer's total matters to the hand; ``None`` where it is not known."""
    if hand.surrendered_seq or hand.even_money or busted(hand.cards):
        return False
    if len(hand.cards) < 2 and not hand.split:
        return None
    if not known(hand.cards):
        return None
    return not blackjack(hand, rules)


def spot_of(round_: Round, number: int) -> Spot | None:
    """Return the spot in play with that number, if it is."""
    for spot in round_.spots:
        if spot.number == number:
            return spot
    return None


def hand_of(round_: Round, spot_number: int, number: int) -> Hand | None:
    """Return one hand of a spot, if there is one."""
    spot = spot_of(round_, spot_number)
    if spot is None or number >= len(spot.hands):
        return None
    return spot.hands[number]


def with_spot(round_: Round, changed: Spot) -> Round:
    """Return the round with one spot put in its place by number."""
    others = [spot for spot in round_.spots if spot.number != changed.number]
    spots = sorted((*others, changed), key=_number)
    return replace(round_, spots=tuple(spots))


def _number(spot: Spot) -> int:
    return spot.number


def with_hand(round_: Round, spot: Spot, number: int, hand: Hand) -> Round:
    """Return the round with one hand of ``spot`` replaced."""
    hands = (*spot.hands[:number], hand, *spot.hands[number + 1 :])
    return with_spot(round_, replace(spot, hands=hands))


def unchanged(state: State) -> Step:
    """Return the step that changes nothing and finds nothing."""
    return Step(state)


def on(state: State, round_: Round) -> State:
    """Return the state with its round replaced."""
    return replace(state, round=round_)


def owed_card(hand: Hand) -> int:
    """Return the fact since which the hand is owed a card; 0 where it is owed none."""
    if len(hand.cards) < 2:
        return hand.due_seq or hand.stake_seq or 1
    if hand.stood and not hand.doubled_seq:
        return 0
    return hand.due_seq
