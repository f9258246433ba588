"""The floor's rulings: hands and rounds called off, cards moved, discards shuffled again.

A ruling is never a mistake, and what is ruled is not judged. The mistake that led to it is found
where it was made.
"""

from settlement.dealer import hands_live, play
from settlement.dealing import leave_deal, moved_in_deal
from settlement.facts import CARD_DEALT, DEALER, EVERY_HAND, RACK, place_of
from settlement.hands import FACES, UNKNOWN
from settlement.play import DEAD, hand_of, live
from settlement.shoe import recounted, seen_out
from settlement.state import Hand, Noted, Round, Spot, State


def round_called_off(state: State) -> None:
    """Call the round off: nothing in it is played any more."""
    round_ = state.round
    if not round_.called_off:
        round_.called_off = True
        round_.off_in_settling = round_.phases.settling


def hand_called_off(state: State, noted: Noted) -> None:
    """Rule one hand of a spot dead, or all of them."""
    call_off(state.round, noted.at, noted.hand)


def call_off(round_: Round, spot: Spot, number: int) -> None:
    """Rule a hand dead by its number; a spot without a hand left waits for no more cards."""
    if not spot.in_play:
        return
    for hand in spot.hands:
        if number in (EVERY_HAND, hand.number):
            _rule_dead(round_, hand)
    if spot.all_called_off():
        leave_deal(round_, spot)


def _rule_dead(round_: Round, hand: Hand) -> None:
    if not hand.called_off:
        hand.called_off = True
        hand.rarely().off_after_draw = len(round_.dealer) > round_.dealer_dealt
        hand.due_seq = 0


def card_moved(state: State, noted: Noted) -> None:
    """Move a card: from here on it lies as if it had been dealt to its new place."""
    round_ = state.round
    if not round_.record:
        return
    spot, hand = place_of(noted.fact.origin)
    card = round_.record[round_.moves.get(noted.index, noted.index)]
    if card is noted:
        _lay_anew(state, noted, spot, hand)
    elif spot == DEALER:
        _from_dealer(state, card)
    elif spot != RACK:
        _from_hand(round_, round_.spot(spot), hand, card)
    if noted.spot == DEALER:
        _to_dealer(round_, card, noted)
    elif noted.spot != RACK:
        _to_hand(round_, noted, card)


def _lay_anew(state: State, noted: Noted, spot: int, number: int) -> None:
    """Take note of a card that lay nowhere in the record.

    From the discard rack it may have come in any round. Where it is said to have lain in a hand,
    that hand's cards are not what the record has.
    """
    seen_out(state.table.shoe, noted.read, from_rack=spot == RACK)
    hand = hand_of(state.round.spot(spot), number) if spot > 0 else None
    if hand is not None:
        state.round.disputed = hand.rarely().disputed = True
    elif spot == DEALER:
        state.round.disputed = state.round.dealer_disputed = True


def _from_dealer(state: State, card: Noted) -> None:
    """Take a card from the dealer; where he drew it in error, that mistake is found now."""
    round_ = state.round
    if card not in round_.dealer:
        return
    at = round_.dealer.index(card)
    if at >= round_.dealer_dealt and card.deals(DEALER):
        faces = [other.card for other in round_.dealer[: at + 1]]
        fault = play(faces, hands_live(round_, state.rules), state.rules, round_).fault
        if fault is not None and fault.index == at and round_.early_draw_seq != card.seq:
            state.find(fault.code, card.seq, fault.detail)
    del round_.dealer[at]
    if len(round_.dealer) < round_.dealer_dealt:
        moved_in_deal(round_, DEALER, RACK)


def _from_hand(round_: Round, spot: Spot, number: int, card: Noted) -> None:
    hand = hand_of(spot, number)
    if hand is None:
        return
    face = FACES[card.card]
    if face in hand.burned:
        hand.burned.remove(face)
    elif face in hand.cards:
        _out_of_hand(round_, spot, hand, card)
    if card.index in hand.unread:
        hand.unread.remove(card.index)


def _out_of_hand(round_: Round, spot: Spot, hand: Hand, card: Noted) -> None:
    left = hand.cards.copy()
    left.reverse()
    left.remove(FACES[card.card])
    left.reverse()
    hand.recount(left)
    if hand.double_card:
        hand.double_card = False
        hand.due_seq = hand.doubled_seq
    if len(left) < 2 and not hand.split:
        moved_in_deal(round_, spot.number, RACK)


def _to_dealer(round_: Round, card: Noted, noted: Noted) -> None:
    moved_in_deal(round_, RACK, DEALER)
    round_.dealer.append(card)
    second = len(round_.dealer) == 2
    if second and not (round_.hole_shown_seq or round_.dealer[0].down or card.down):
        round_.hole_shown_seq = noted.seq


def _to_hand(round_: Round, noted: Noted, card: Noted) -> None:
    """Lay a card on a hand, whatever the hand is; one that does not exist gets none."""
    hand = hand_of(noted.at, noted.hand)
    if hand is None:
        return
    if not round_.passes:
        round_.turn_of = max(round_.turn_of, noted.spot)
    if noted.hand == 0:
        moved_in_deal(round_, RACK, noted.spot)
    doubled = len(hand.cards) >= 2 and hand.doubled_seq > 0
    hand.lay(card)
    hand.double_card = hand.double_card or doubled
    hand.due_seq = 0


def discards_reshuffled(state: State, noted: Noted) -> None:
    """Start the count again: only what surely lies on the table cannot come from the shoe.

    That are cards read with certainty, in hands that are still played.
    """
    round_ = state.round
    doubted = {
        other.card
        for other in round_.record[: noted.index]
        if other.kind == CARD_DEALT and (other.between or other.unsure)
    }
    lying = [card.card for card in round_.dealer]
    for spot in round_.spots:
        for hand in spot.hands:
            if live(hand, state.rules) != DEAD:
                lying += [card.index if card is not None else UNKNOWN for card in hand.cards]
    recounted(state.table.shoe, [face for face in lying if face not in doubted])
    state.table.cut_now = state.table.shoe.cut = False
