"""Chips laid and taken back: main, side, split and double wagers, insurance, even money."""

from settlement import beside
from settlement.play import (
    blackjack,
    hand_of,
    in_deal,
    insures,
    rescued,
    takes_even_money,
    up_points,
)
from settlement.rulings import call_off
from settlement.sentences import Sentence
from settlement.splits import amount_faults, double_begins, split_chips
from settlement.state import Hand, Noted, Spot, State


def placed(state: State, noted: Noted) -> None:
    """Apply chips laid on the felt."""
    if noted.bettor is not None and beside.is_beside(state, noted):
        _beside(state, noted)
    elif noted.what == "main":
        _main(state, noted.at, noted)
    elif noted.what == "double":
        _double(state, noted.at, noted)
    elif noted.what == "split":
        split_chips(state, noted.at, noted)
    elif noted.what == "insurance":
        _insurance(state, noted.at, noted)
    else:
        beside.placed(state, noted)


def _beside(state: State, noted: Noted) -> None:
    if noted.what != "insurance":
        beside.placed(state, noted)
    elif not beside.has_wager(state, noted):
        _stray_insurance(state, noted)
    else:
        one = beside.made(state, noted)
        one.insurance_seq = noted.seq
        one.faulted = one.faulted or _insurance_fault(state, noted)
        if not (one.faulted and state.rules.voids_illegal_option):
            one.insurance += noted.amount


def _stray_insurance(state: State, noted: Noted) -> None:
    detail = Sentence.STRAY_INSURANCE.write(noted.amount)
    state.find("wager_after_deal", noted.seq, detail, noted.spot)


def _main(state: State, spot: Spot, noted: Noted) -> None:
    state.round.wagered = True
    if noted.hand and noted.hand >= len(spot.hands):
        detail = Sentence.STRAY_WAGER.write(noted.amount, noted.hand + 1)
        state.find("wager_on_no_hand", noted.seq, detail, spot.number, noted.hand)
        spot.stray = True
        return
    if state.round.phases.dealt:
        _main_after_deal(state, spot, noted)
        return
    if not spot.in_play:
        state.round.enter(spot)
    _laid(spot.hands[0], noted)


def _laid(hand: Hand, noted: Noted) -> None:
    hand.stake += noted.amount
    hand.stake_seq = noted.seq


def _main_after_deal(state: State, spot: Spot, noted: Noted) -> None:
    """Report a wager after the first card; it does not count for a spot already in play."""
    if spot.in_play and (not spot.late or spot.hands[0].cards):
        _increased(state, noted, spot.hands[noted.hand])
        return
    if not spot.in_play:
        state.round.enter(spot)
        spot.late = True
    _laid(spot.hands[0], noted)
    detail = Sentence.LATE_WAGER.write(noted.amount)
    state.find("wager_after_deal", noted.seq, detail, spot.number)


def _increased(state: State, noted: Noted, hand: Hand) -> None:
    hand.rarely().uncounted += noted.amount
    detail = Sentence.ADDED_AFTER_DEAL.write(noted.amount)
    state.find("stake_increased_after_deal", noted.seq, detail, noted.spot, noted.hand)


def _double(state: State, spot: Spot, noted: Noted) -> None:
    hand = hand_of(spot, noted.hand)
    if hand is None or not hand.cards:
        detail = Sentence.STRAY_DOUBLE.write(noted.amount)
        state.find("wager_after_deal", noted.seq, detail, spot.number)
        return
    if hand.double_card:
        _increased(state, noted, hand)
        return
    double_begins(state, spot, hand, noted.seq)
    hand.added += noted.amount
    hand.added_seq = noted.seq
    if not in_deal(hand):
        state.round.acted = True


def _insurance(state: State, spot: Spot, noted: Noted) -> None:
    if not spot.in_play:
        _stray_insurance(state, noted)
        return
    spot.insurance_seq = noted.seq
    if not spot.insurance_faulted:
        spot.insurance_faulted = _insurance_fault(state, noted)
    if not (spot.insurance_faulted and state.rules.voids_illegal_option):
        spot.insurance += noted.amount


def _insurance_fault(state: State, noted: Noted) -> bool:
    """Find that insurance was not, or no longer, available; return whether it was so."""
    round_, rules = state.round, state.rules
    if not insures(up_points(round_), rules):
        has_none = rules.insurance == "none"
        fault = Sentence.NO_INSURANCE if has_none else Sentence.INSURANCE_WITHOUT_ACE
        state.find("insurance_not_offered", noted.seq, fault.write(noted.amount), noted.spot)
        return True
    if round_.acted or round_.looked or round_.hole_shown_seq:
        detail = "insurance taken after play began; it is offered before any hand acts"
        state.find("insurance_late", noted.seq, detail, noted.spot)
        return True
    return False


def insurance_faults(state: State, spot: Spot, *, only_over: bool) -> None:
    """Find a wrong amount of insurance; ``only_over``: chips may have been missing."""
    main = spot.hands[0].stake
    if not spot.insurance or spot.insurance_faulted or not main:
        return
    laid, half = spot.insurance, main // 2
    if 2 * spot.insurance > main:
        detail = Sentence.INSURANCE_OVER_HALF.write(laid, main, half)
        state.find("insurance_over_half", spot.insurance_seq, detail, spot.number)
    elif state.rules.insurance == "exactly_half" and laid != half and not only_over:
        detail = Sentence.INSURANCE_NOT_HALF.write(laid, main, half)
        state.find("insurance_not_half", spot.insurance_seq, detail, spot.number)


def removed(state: State, noted: Noted) -> None:
    """Apply chips that a player took back, or the floor took off."""
    spot = noted.at
    hand = hand_of(spot, noted.hand)
    if beside.is_beside(state, noted):
        beside.removed(state, noted)
        return
    if hand is None or hand.called_off:
        return
    if noted.fact.by == "floor":
        _taken_off(state, spot, hand, noted)
    elif not _may_take_back(state, spot, hand, noted):
        detail = Sentence.TAKEN_BACK.write(noted.amount)
        state.find("stake_reduced_after_deal", noted.seq, detail, spot.number, noted.hand)


def _taken_off(state: State, spot: Spot, hand: Hand, noted: Noted) -> None:
    """Take chips off by the floor's ruling: first those that do not count.

    A hand whose wager is gone is called off. What lay there too much before is a mistake still.
    """
    if noted.what == "insurance":
        insurance_faults(state, spot, only_over=True)
        spot.insurance_faulted = True
        spot.insurance = max(0, spot.insurance - noted.amount)
        return
    beside = min(hand.rarely().uncounted, noted.amount)
    hand.rarely().uncounted -= beside
    left = noted.amount - beside
    if noted.what == "main" and not state.round.phases.dealt:
        _less_wagered(state, spot, left)
    elif left:
        _less_by_ruling(state, spot, hand, noted, left)


def _less_by_ruling(state: State, spot: Spot, hand: Hand, noted: Noted, amount: int) -> None:
    amount_faults(state, spot, hand, only_over=True)
    hand.rarely().chips = True
    if noted.what == "double":
        hand.added = max(0, hand.added - amount)
        if not (hand.added or hand.double_card):
            hand.added_seq = hand.doubled_seq = hand.due_seq = 0
        return
    hand.stake = max(0, hand.stake - amount)
    if not spot.wagered_on(hand):
        call_off(state.round, spot, hand.number)


def _may_take_back(state: State, spot: Spot, hand: Hand, noted: Noted) -> bool:
    """Take the chips back where that is still allowed; return whether it is."""
    round_, kind = state.round, noted.what
    if kind == "main" and not round_.phases.dealt:
        _less_wagered(state, spot, noted.amount)
    elif kind == "insurance" and not (round_.acted or round_.looked):
        spot.insurance = max(0, spot.insurance - noted.amount)
    elif kind == "double" and hand.doubled_seq and not hand.double_card:
        _less_doubled(hand, noted)
    elif kind == "split" and hand.split and len(hand.cards) < 2:
        hand.stake = max(0, hand.stake - noted.amount)
        hand.stake_seq = noted.seq
    elif kind != "double" or not rescued(hand, state.rules):
        return False
    return True


def _less_wagered(state: State, spot: Spot, amount: int) -> None:
    """Remove chips from a main wager; with none left, the spot leaves play."""
    hand = spot.hands[0]
    hand.stake = max(0, hand.stake - amount)
    if not (hand.stake or spot.backed()):
        state.round.leave(spot)


def _less_doubled(hand: Hand, noted: Noted) -> None:
    """Remove chips from a double; with none left, the hand is not doubled."""
    hand.added = max(0, hand.added - noted.amount)
    if hand.added:
        hand.added_seq = noted.seq
        return
    hand.added_seq = hand.doubled_seq = hand.due_seq = 0
    hand.void_double = False


def even_money(state: State, noted: Noted) -> None:
    """Apply a blackjack settled at even money before the hole card is known."""
    hand = hand_of(noted.at, noted.hand)
    if hand is None:
        return
    rules = state.rules
    offered = takes_even_money(hand, up_points(state.round), rules) and not state.round.looked
    if not offered:
        why = "it is for a blackjack against an ace" if rules.even_money else "this game has none"
        detail = f"even money taken; {why}"
        state.find("even_money_not_offered", noted.seq, detail, noted.spot, noted.hand)
    hand.even_money = offered or (blackjack(hand, rules) and not rules.voids_illegal_option)
