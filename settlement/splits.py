"""Splits and doubles: whether each is legal, and its effect on the hands."""

from models.cards import Card
from settlement.hands import matched, named
from settlement.houserules import HouseRules
from settlement.play import double_fault, split_fault
from settlement.sentences import Sentence
from settlement.state import MOST_HANDS, Hand, Noted, SplitChips, Spot, State


def split(state: State, spot: Spot, hand: Hand, seq: int) -> None:
    """Split a hand's two cards; the second goes into a new last hand."""
    fault = split_fault(hand, state.rules, len(spot.hands))
    if fault is not None:
        code, should = fault
        detail = f"{named(hand.cards)} split; {should}"
        state.find(code, seq, detail, spot.number, hand.number)
    if len(hand.cards) >= 2 and len(spot.hands) < MOST_HANDS:
        _part(spot, hand, seq, void=fault is not None and state.rules.voids_illegal_option)


def _part(spot: Spot, hand: Hand, seq: int, *, void: bool) -> None:
    first, second = hand.cards[0], hand.cards[1]
    new = _new_hand(spot, hand, seq)
    hand.part(new)
    hand.split, hand.aces = True, _ace(first or second)
    hand.due_seq = 0 if len(hand.cards) > 1 else seq
    hand.stood = False
    new.aces = _ace(second or first)
    new.void_split = void
    spot.places.insert(spot.places.index(hand.number) + 1, new.number)
    spot.hands.append(new)


def _new_hand(spot: Spot, hand: Hand, seq: int) -> Hand:
    number = len(spot.hands)
    new = Hand(number, spot.script(number))
    new.split = True
    new.owed_stake = hand.stake
    new.due_seq = new.stake_seq = seq
    chips = [laid for laid in spot.split_chips if laid.hand == number]
    if chips:
        new.stake = sum([laid.amount for laid in chips])
        new.stake_seq = chips[-1].seq
        spot.split_chips = [laid for laid in spot.split_chips if laid.hand != number]
    return new


def _ace(card: Card | None) -> bool:
    return card is not None and card.points == 1


def split_chips(state: State, spot: Spot, noted: Noted) -> None:
    """Apply a split wager: to the new hand, or held until the cards are split."""
    if not spot.in_play or not spot.hands[0].cards:
        detail = Sentence.STRAY_SPLIT.write(noted.amount)
        state.find("wager_after_deal", noted.seq, detail, spot.number)
        return
    state.round.acted = True
    if noted.hand >= len(spot.hands):
        spot.split_chips.append(SplitChips(noted.hand, noted.amount, noted.seq))
        return
    hand = spot.hands[noted.hand]
    if not noted.hand or len(hand.cards) >= 2:
        detail = Sentence.ADDED_TO_SPLIT.write(noted.amount)
        state.find("stake_increased_after_deal", noted.seq, detail, spot.number, noted.hand)
        return
    hand.stake += noted.amount
    hand.stake_seq = noted.seq


def split_source(spot: Spot, rules: HouseRules) -> Hand | None:
    """Return the hand of a split wager laid early: the first that is a pair."""
    for number in spot.places:
        hand = spot.hands[number]
        if len(hand.cards) == 2:
            first, second = hand.cards[0], hand.cards[1]
            if matched(first, second, rules.split_match) is not False:
                return hand
    return None


def double_begins(state: State, spot: Spot, hand: Hand, seq: int) -> None:
    """Mark a hand as doubled, once, in either order of signal and chips."""
    if hand.doubled_seq:
        return
    fault = double_fault(hand, state.rules)
    hand.doubled_seq = hand.due_seq = seq
    if fault is not None:
        code, should = fault
        hand.void_double = state.rules.voids_illegal_option
        detail = f"{named(hand.cards)} ({hand.words()}) doubled; {should}"
        state.find(code, seq, detail, spot.number, hand.number)


def amount_faults(state: State, spot: Spot, hand: Hand, *, only_over: bool) -> None:
    """Find wrong amounts of one hand's split and double, once all chips are laid.

    Args:
        state: the table.
        spot: the hand's.
        hand: whose chips are judged, unless the floor took some off.
        only_over: whether chips may be missing because the hand was called off before.
    """
    if (hand.rare is not None and hand.rare.chips) or (only_over and not _lies_over(hand)):
        return
    if hand.owed_stake and hand.stake != hand.owed_stake:
        detail = Sentence.SPLIT_UNEQUAL.write(hand.stake, hand.owed_stake)
        state.find("split_wager_mismatch", hand.stake_seq, detail, spot.number, hand.number)
    if hand.doubled_seq and hand.stake and hand.added != hand.stake:
        _double_amount(state, spot, hand)


def _lies_over(hand: Hand) -> bool:
    return hand.stake > hand.owed_stake > 0 or hand.added > hand.stake > 0


def _double_amount(state: State, spot: Spot, hand: Hand) -> None:
    seq = hand.added_seq or hand.doubled_seq
    if hand.added > hand.stake:
        detail = Sentence.DOUBLED_OVER.write(hand.added, hand.stake)
        state.find("double_over_original", seq, detail, spot.number, hand.number)
    elif not state.rules.double_for_less:
        detail = Sentence.DOUBLED_FOR_LESS.write(hand.added, hand.stake)
        state.find("double_for_less_not_allowed", seq, detail, spot.number, hand.number)
