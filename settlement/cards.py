"""Cards of play: to players in their turn, to split and doubled hands, and to the dealer."""

from typing import Final

from models.places import hand_name
from settlement.dealing import begins, cut_short, expects, initial_card, stray_card
from settlement.facts import DEALER, FOREIGN, HOLE, card_named
from settlement.hands import named
from settlement.houserules import HouseRules
from settlement.play import closed_to_cards, double_stands, finished, spot_unfinished, unfinished
from settlement.splits import split, split_source
from settlement.state import Hand, Noted, Round, Spot, State
from settlement.tables import deal_begins


def dealt(state: State, noted: Noted) -> None:
    """Apply a card dealt to a spot or to the dealer, due or not."""
    if not state.round.phases.dealt:
        begins(state.round)
        deal_begins(state, noted.seq)
    if expects(state.round, noted):
        initial_card(state, noted)
    elif noted.spot == DEALER:
        _to_dealer(state, noted)
    else:
        _to_spot(state, noted.at, noted)


def _to_spot(state: State, spot: Spot, noted: Noted) -> None:
    if spot.late and noted.hand == 0 and len(spot.hands) == 1 and len(spot.hands[0].cards) < 2:
        spot.hands[0].lay(noted)
        return
    if spot.split_chips and noted.hand == len(spot.hands):
        _split_unsaid(state, spot, noted.seq)
    if not spot.in_play or noted.hand >= len(spot.hands):
        stray_card(state, noted)
        return
    cut_short(state, noted)
    _to_hand(state, spot, spot.hands[noted.hand], noted)


def _split_unsaid(state: State, spot: Spot, seq: int) -> None:
    """Split the hand that a split wager and a card just dealt show to be split."""
    source = split_source(spot, state.rules)
    if source is not None:
        split(state, spot, source, seq)


def _to_hand(state: State, spot: Spot, hand: Hand, noted: Noted) -> None:
    code = closed_to_cards(hand, state.rules)
    if not code:
        in_turn(state, spot, hand, noted)
        _taken(hand, noted)
        state.round.acted = True
    elif hand.doubled_seq and not hand.double_card and not double_stands(hand, state.rules):
        _burned_with_double(hand, noted)
    else:
        _not_due(state, spot, hand, noted, code)


def _taken(hand: Hand, noted: Noted) -> None:
    complete = len(hand.cards) >= 2
    hand.lay(noted)
    hand.double_card = complete and bool(hand.doubled_seq)
    hand.due_seq = 0


def _burned_with_double(hand: Hand, noted: Noted) -> None:
    """Burn the card of a void double; its mistake has been reported."""
    hand.burn(noted)
    hand.double_card = True
    hand.due_seq = 0


_WHY: Final = {
    "extra_card_after_double": "it was doubled and had its one card",
    "extra_card_on_split_ace": "a split ace gets one card",
    "card_to_blackjack": "it is a blackjack",
    "card_after_breaking": "it had broken",
    "card_after_stand": "it stood",
}


def _not_due(state: State, spot: Spot, hand: Hand, noted: Noted, code: str) -> None:
    fate = "kept" if state.rules.keeps_extra_card else "burned"
    detail = f"{card_named(noted.card)} dealt to {named(hand.cards)} ({hand.words()}); "
    detail += f"{_why(hand, code)}, so no card was due; {fate}"
    state.find(code, noted.seq, detail, spot.number, hand.number)
    if state.rules.keeps_extra_card:
        hand.lay(noted)
    else:
        hand.burn(noted)


def _why(hand: Hand, code: str) -> str:
    if hand.called_off:
        return "the floor had called it off"
    over = hand.stood or hand.surrendered_seq or hand.even_money
    return _WHY[code] if over or code != "card_after_stand" else "nobody asked for a card on 21"


def in_turn(state: State, spot: Spot, hand: Hand, noted: Noted) -> None:
    """Judge whether it is this spot's and this hand's turn; report each mistake once."""
    rules = state.rules
    state.round.turn_of = max(state.round.turn_of, spot.number)
    if hand.out_of_turn or spot.out_of_turn or finished(hand, rules):
        return
    before = _spot_before(state.round, spot, noted.index, rules)
    if before:
        spot.out_of_turn = True
        detail = f"spot {spot.number} played on while spot {before} was still to play"
        state.find("player_turn_order", noted.seq, detail, spot.number, hand.number)
    elif spot.hands[0].split:
        _hand_in_turn(state, spot, hand, noted)


def _spot_before(round_: Round, spot: Spot, index: int, rules: HouseRules) -> int:
    """Return the first spot before this one that still has to play; 0 for none."""
    for other in round_.spots:
        if other.number >= spot.number:
            break
        if spot_unfinished(other, index, rules):
            return other.number
    return 0


def _hand_in_turn(state: State, spot: Spot, hand: Hand, noted: Noted) -> None:
    due = _hands_due(spot, hand, noted.index, state.rules)
    if hand.number not in due:
        hand.out_of_turn = True
        detail = f"{hand_name(hand.number)} played on while {hand_name(due[0])} was unfinished"
        state.find("split_hand_order", noted.seq, detail, spot.number, hand.number)


def _hands_due(spot: Spot, hand: Hand, index: int, rules: HouseRules) -> list[int]:
    """Return the hands that may be played now: the one begun, or the first from either side.

    Split aces with one card each may be dealt in any order. Where no hand is unfinished, any hand
    may be played.
    """
    if rules.one_card_to_split_aces and spot.hands[0].aces:
        return [hand.number]
    orders = ([each.number for each in spot.hands], spot.places)
    either = [_first_unfinished(spot, hand, order, index, rules) for order in orders]
    begun = [number for number in either if _begun(spot.hands[number])]
    return begun or either


def _begun(hand: Hand) -> bool:
    """Return whether its turn has begun; a card dealt too soon does not begin it."""
    return len(hand.cards) >= 2 and not hand.out_of_turn


def _first_unfinished(
    spot: Spot, hand: Hand, order: list[int], index: int, rules: HouseRules
) -> int:
    for number in order:
        if unfinished(spot.hands[number], index - 1, rules):
            return number
    return hand.number


def _to_dealer(state: State, noted: Noted) -> None:
    """Apply a card that the dealer draws; the close judges whether the total required it."""
    cut_short(state, noted)
    round_ = state.round
    if not round_.early_draw_seq and _any_unfinished(round_, noted.index, state.rules):
        round_.early_draw_seq = noted.seq
    round_.dealer.append(noted)
    second = not state.rules.deals_hole_card and len(round_.dealer) == 2
    if second and not noted.down:
        round_.hole_shown_seq = noted.seq


def _any_unfinished(round_: Round, index: int, rules: HouseRules) -> bool:
    return any(spot_unfinished(spot, index, rules) for spot in round_.spots)


def exposed(state: State, noted: Noted) -> None:
    """Apply a card that is turned up or becomes known."""
    if noted.spot == DEALER and _turns_hole(state.round, noted):
        if _too_early(state.round, noted.index, state.rules):
            detail = "the hole card was turned while players had still to act"
            state.find("hole_card_exposed", noted.seq, detail)
        state.round.last_play = noted.index
        state.round.hole_shown_seq = state.round.hole_shown_seq or noted.seq


def _turns_hole(round_: Round, noted: Noted) -> bool:
    if noted.turned != FOREIGN:
        return noted.turned == HOLE
    return any(card.down for card in round_.dealer[:2])


def _too_early(round_: Round, index: int, rules: HouseRules) -> bool:
    """Return whether players still act and the house's dealer draws only after them."""
    if round_.hole_shown_seq or round_.saw_blackjack or round_.looks_differ:
        return False
    last = max(
        [
            hand.script.last_turn
            for spot in round_.spots
            for hand in spot.hands
            if unfinished(hand, index, rules)
        ],
        default=0,
    )
    return last > 0 and not 0 < round_.first_draw < last
