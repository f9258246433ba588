"""Players' decisions as they were seen: shown in an accepted way, in turn, and allowed."""

from typing import Final

from models.events import CardsTouched, HoleCardChecked, PlayerActed
from models.judgements import Violation
from models.rulebook import Rulebook
from settlement.cards import in_turn
from settlement.clauses import violation
from settlement.hands import named
from settlement.play import finished, on, replace, spot_of, with_hand
from settlement.splits import double_begins, split
from settlement.state import Hand, Spot, State, Step
from settlement.wagering import even_money


def acted(state: State, fact: PlayerActed, seq: int, rules: Rulebook) -> Step:
    """Apply a decision of a player's."""
    found = _signal(fact, seq, rules)
    if fact.action == "even_money":
        step = even_money(state, fact, seq, rules)
        return Step(step.after, (*found, *step.findings))
    spot = spot_of(state.round, fact.spot)
    if spot is None or fact.hand >= len(spot.hands) or not state.round.dealing:
        return Step(state, found)
    state, turn = in_turn(state, spot, fact.hand, seq, rules)
    state = on(state, replace(state.round, acted=True))
    step = _decided(state, spot, fact, seq, rules)
    return Step(step.after, (*found, *turn, *step.findings))


def _decided(state: State, spot: Spot, fact: PlayerActed, seq: int, rules: Rulebook) -> Step:
    hand = spot.hands[fact.hand]
    if fact.action == "split":
        return split(state, spot, fact.hand, seq, rules)
    if fact.action == "surrender":
        return _surrender(state, spot, fact.hand, seq, rules)
    found: tuple[Violation, ...] = ()
    if fact.action == "double":
        hand, found = double_begins(spot.number, fact.hand, hand, seq, rules)
    elif fact.action == "stand":
        hand = replace(hand, stood=True)
    elif not finished(hand, rules):
        hand = replace(hand, due_seq=seq)
    return Step(on(state, with_hand(state.round, spot, fact.hand, hand)), found)


def _signal(fact: PlayerActed, seq: int, rules: Rulebook) -> tuple[Violation, ...]:
    if fact.manner is None or fact.action == "even_money":
        return ()
    accepted = getattr(rules.signals, fact.action)
    if not accepted or fact.manner in accepted:
        return ()
    detail = f"{fact.action} shown by {fact.manner}; accepted: {', '.join(accepted)}"
    return (violation("signal_not_accepted", seq, detail, fact.spot, fact.hand),)


def _surrender(state: State, spot: Spot, number: int, seq: int, rules: Rulebook) -> Step:
    hand = spot.hands[number]
    fault = _surrender_fault(hand, rules)
    found: tuple[Violation, ...] = ()
    if fault is not None:
        code, should = fault
        detail = f"{named(hand.cards)} surrendered; {should}"
        found = (violation(code, seq, detail, spot.number, number),)
    stands = fault is None or rules.policy.illegal_option == "as_played"
    given_up = replace(
        hand, surrendered_seq=seq if stands else 0, surrender_faulted=fault is not None
    )
    return Step(on(state, with_hand(state.round, spot, number, given_up)), found)


def _surrender_fault(hand: Hand, rules: Rulebook) -> tuple[str, str] | None:
    if rules.surrender == "none":
        return "surrender_not_offered", "this game has no surrender"
    if hand.split and not rules.surrender_after_split:
        return "surrender_after_split", "split hands may not be surrendered"
    if len(hand.cards) != 2 or hand.stood or hand.doubled_seq or hand.due_seq:
        return "surrender_after_action", "it is the first decision on the first two cards"
    return None


_MANNERS: Final = {"one_hand": "one hand", "two_hands": "both hands"}


def touched(state: State, fact: CardsTouched, seq: int, rules: Rulebook) -> Step:
    """Apply a player's hand on the cards."""
    allowed = rules.player_touch
    if allowed == "free" or (allowed == "one_hand" and fact.manner == "one_hand"):
        return Step(state)
    should = "only the dealer touches them" if allowed == "never" else "one hand is allowed"
    detail = f"player touched the cards with {_MANNERS[fact.manner]}; {should}"
    return Step(state, (violation("player_touched_cards", seq, detail, fact.spot),))


def checked(state: State, fact: HoleCardChecked) -> Step:
    """Apply the dealer's look at his hole card."""
    return Step(on(state, replace(state.round, checked=fact.blackjack)))
