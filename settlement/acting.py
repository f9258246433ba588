"""Players' decisions: whether each was shown in an accepted way, in turn, and allowed."""

from typing import Final

from models.events import CardsTouched, HoleCardChecked
from settlement.cards import in_turn
from settlement.dealing import leave_deal
from settlement.hands import named
from settlement.play import finished, hand_of, in_deal, surrender_fault, up_points
from settlement.splits import double_begins, split
from settlement.state import Hand, Noted, Spot, State
from settlement.wagering import even_money


def acted(state: State, noted: Noted) -> None:
    """Apply a decision of a player's."""
    if noted.what == "even_money":
        even_money(state, noted)
        return
    state.round.last_play = noted.index
    _signal(state, noted)
    hand = hand_of(noted.at, noted.hand)
    if hand is None or not state.round.phases.dealt:
        return
    if noted.what == "hit" and hand.cards and not finished(hand, state.rules, asked=True):
        hand.due_seq = noted.seq
    too_soon = noted.what in ("surrender", "double") and in_deal(hand)
    if not (too_soon or (noted.what == "surrender" and _before_the_look(state))):
        in_turn(state, noted.at, hand, noted)
        state.round.acted = True
    _decided(state, noted.at, hand, noted)


def _before_the_look(state: State) -> bool:
    """Return whether it is the moment for an early surrender, which all spots share."""
    round_ = state.round
    if state.rules.surrender != "early" or round_.looked or round_.hole_shown_seq:
        return False
    return up_points(round_) in (0, 1, 10)


def _decided(state: State, spot: Spot, hand: Hand, noted: Noted) -> None:
    action = noted.what
    if action == "stand":
        hand.stood = True
    elif action == "split":
        split(state, spot, hand, noted.seq)
    elif action == "surrender":
        _surrender(state, spot, hand, noted.seq)
    elif action == "double":
        double_begins(state, spot, hand, noted.seq)


def _signal(state: State, noted: Noted) -> None:
    if noted.manner is None:
        return
    accepted = state.rules.signals[noted.what]
    if accepted and noted.manner not in accepted:
        detail = f"{noted.what} shown by {noted.manner}; accepted: {', '.join(accepted)}"
        state.find("signal_not_accepted", noted.seq, detail, noted.spot, noted.hand)


def _surrender(state: State, spot: Spot, hand: Hand, seq: int) -> None:
    fault = surrender_fault(hand, state.rules)
    hand.surrendered_seq = seq
    if in_deal(hand):
        leave_deal(state.round, spot)
    if fault is not None:
        code, should = fault
        detail = f"{named(hand.cards)} surrendered; {should}"
        state.find(code, seq, detail, spot.number, hand.number)
        hand.rarely().surrender_faulted = True
        if state.rules.voids_illegal_option:
            hand.surrendered_seq = 0


_MANNERS: Final = {"one_hand": "one hand", "two_hands": "both hands"}


def touched(state: State, noted: Noted) -> None:
    """Apply a player's touching of the cards."""
    touch: CardsTouched = noted.fact
    allowed = state.rules.player_touch
    if allowed in ("free", touch.manner):
        return
    should = "only the dealer touches them" if allowed == "never" else "one hand is allowed"
    detail = f"player touched the cards with {_MANNERS[touch.manner]}; {should}"
    state.find("player_touched_cards", noted.seq, detail, noted.spot)


def checked(state: State, noted: Noted) -> None:
    """Apply the dealer's check of the hole card."""
    look: HoleCardChecked = noted.fact
    round_ = state.round
    if round_.looked and round_.saw_blackjack != look.blackjack:
        round_.looks_differ = True
    round_.looked = True
    round_.look_seq = noted.seq
    round_.saw_blackjack = look.blackjack
