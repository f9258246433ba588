"""Chips laid and taken back: main, side, split and double wagers, insurance, even money."""

from models.events import PlayerActed, WagerPlaced, WagerRemoved
from models.judgements import Violation
from models.money import Cents, dollars
from models.rulebook import Rulebook
from settlement.clauses import violation
from settlement.play import (
    blackjack,
    hand_of,
    on,
    replace,
    spot_of,
    unchanged,
    with_hand,
    with_spot,
)
from settlement.splits import double_begins, split_chips
from settlement.state import Hand, Round, Spot, State, Step


def placed(state: State, fact: WagerPlaced, seq: int, rules: Rulebook) -> Step:
    """Apply chips laid on the felt."""
    if fact.kind == "main":
        return _main(state, fact, seq)
    if fact.kind == "side":
        return _side(state, fact, seq, rules)
    if fact.kind == "insurance":
        return _insurance(state, fact, seq, rules)
    if fact.kind == "split":
        return split_chips(state, fact, seq)
    return _double(state, fact, seq, rules)


def _main(state: State, fact: WagerPlaced, seq: int) -> Step:
    round_ = replace(state.round, wagered=True)
    if round_.dealing:
        return _main_after_deal(on(state, round_), fact, seq)
    spot = spot_of(round_, fact.spot) or Spot(fact.spot)
    first = spot.hands[0]
    hand = replace(first, stake=first.stake + fact.amount, stake_seq=seq)
    return Step(on(state, with_hand(round_, spot, 0, hand)))


def _main_after_deal(state: State, fact: WagerPlaced, seq: int) -> Step:
    """A wager that comes after the first card does not count for a spot already in play."""
    spot = spot_of(state.round, fact.spot)
    if spot is not None and not spot.late:
        return Step(state, (_increased(fact, seq),))
    before = Cents(0) if spot is None else spot.hands[0].stake
    hand = Hand(stake=before + fact.amount, stake_seq=seq)
    late = Spot(fact.spot, hands=(hand,), late=True)
    detail = f"wager of {dollars(fact.amount)} after the first card was dealt; it had to wait"
    found = violation("wager_after_deal", seq, detail, fact.spot)
    if spot is not None and spot.hands[0].cards:
        return Step(state, (_increased(fact, seq),))
    return Step(on(state, with_spot(state.round, late)), (found,))


def _increased(fact: WagerPlaced, seq: int) -> Violation:
    detail = f"{dollars(fact.amount)} added to a wager in play; it counts as it was at the deal"
    return violation("stake_increased_after_deal", seq, detail, fact.spot, fact.hand)


def _side(state: State, fact: WagerPlaced, seq: int, rules: Rulebook) -> Step:
    if not rules.side_wagers:
        detail = f"side wager of {dollars(fact.amount)}; this game takes none"
        return Step(state, (violation("side_wager_prohibited", seq, detail, fact.spot),))
    if state.round.dealing:
        detail = f"side wager of {dollars(fact.amount)} after the first card was dealt"
        return Step(state, (violation("wager_after_deal", seq, detail, fact.spot),))
    return unchanged(state)


def _double(state: State, fact: WagerPlaced, seq: int, rules: Rulebook) -> Step:
    spot = spot_of(state.round, fact.spot)
    if spot is None or fact.hand >= len(spot.hands) or not spot.hands[fact.hand].cards:
        detail = f"double of {dollars(fact.amount)} on no hand"
        return Step(state, (violation("wager_after_deal", seq, detail, fact.spot),))
    hand = spot.hands[fact.hand]
    if hand.double_card:
        return Step(state, (_increased(fact, seq),))
    begun, found = double_begins(spot.number, fact.hand, hand, seq, rules)
    begun = replace(begun, added=begun.added + fact.amount, added_seq=seq)
    round_ = replace(with_hand(state.round, spot, fact.hand, begun), acted=True)
    return Step(on(state, round_), found)


def _insurance(state: State, fact: WagerPlaced, seq: int, rules: Rulebook) -> Step:
    spot = spot_of(state.round, fact.spot)
    if spot is None:
        detail = f"insurance of {dollars(fact.amount)} where no wager is"
        return Step(state, (violation("wager_after_deal", seq, detail, fact.spot),))
    found = () if spot.insurance_faulted else _insurance_fault(state.round, fact, seq, rules)
    void = bool(found) and rules.policy.illegal_option == "void"
    after = replace(
        spot,
        insurance=spot.insurance + (0 if void else fact.amount),
        insurance_seq=seq,
        insurance_faulted=spot.insurance_faulted or bool(found),
    )
    return Step(on(state, with_spot(state.round, after)), found)


def _insurance_fault(
    round_: Round, fact: WagerPlaced, seq: int, rules: Rulebook
) -> tuple[Violation, ...]:
    up = up_points(round_)
    if rules.insurance == "none" or up not in (None, 1):
        why = "this game has none" if rules.insurance == "none" else "the dealer shows no ace"
        detail = f"insurance of {dollars(fact.amount)} taken; {why}"
        return (violation("insurance_not_offered", seq, detail, fact.spot),)
    if round_.acted or round_.checked is not None or round_.hole_shown:
        detail = "insurance taken after play began; it is offered before any hand acts"
        return (violation("insurance_late", seq, detail, fact.spot),)
    return ()


def up_points(round_: Round) -> int | None:
    """Return the value of the dealer's up card, ace 1; ``None`` if it is not known."""
    for laid in round_.dealer[:2]:
        if laid.face == "up":
            return None if laid.card is None else laid.card.points
    return None


def removed(state: State, fact: WagerRemoved, seq: int) -> Step:
    """Apply chips that a player took back."""
    round_ = state.round
    spot = spot_of(round_, fact.spot)
    hand = hand_of(round_, fact.spot, fact.hand)
    if spot is None or hand is None or fact.kind == "side":
        return unchanged(state)
    if fact.kind == "main" and not round_.dealing:
        return Step(on(state, _without(round_, spot, hand, fact.amount)))
    if fact.kind == "insurance" and not (round_.acted or round_.checked is not None):
        left = max(0, spot.insurance - fact.amount)
        return Step(on(state, with_spot(round_, replace(spot, insurance=left))))
    if fact.kind == "double" and hand.doubled_seq and not hand.double_card:
        changed = _less_doubled(hand, fact.amount, seq)
        return Step(on(state, with_hand(round_, spot, fact.hand, changed)))
    if fact.kind == "split" and hand.split and len(hand.cards) < 2:
        changed = replace(hand, stake=max(0, hand.stake - fact.amount), stake_seq=seq)
        return Step(on(state, with_hand(round_, spot, fact.hand, changed)))
    detail = f"{dollars(fact.amount)} taken back from a wager in play; it counts as it was"
    return Step(state, (violation("stake_reduced_after_deal", seq, detail, fact.spot, fact.hand),))


def _less_doubled(hand: Hand, amount: Cents, seq: int) -> Hand:
    """Take chips off a double; when none is left, the hand is not doubled after all."""
    left = max(0, hand.added - amount)
    if left:
        return replace(hand, added=left, added_seq=seq)
    return replace(hand, added=0, added_seq=0, doubled_seq=0, due_seq=0, void_double=False)


def _without(round_: Round, spot: Spot, hand: Hand, amount: Cents) -> Round:
    left = max(0, hand.stake - amount)
    if left == 0:
        return replace(round_, spots=tuple(s for s in round_.spots if s is not spot))
    return with_hand(round_, spot, 0, replace(hand, stake=left))


def even_money(state: State, fact: PlayerActed, seq: int, rules: Rulebook) -> Step:
    """Apply a blackjack settled at even money before the hole card is known."""
    spot = spot_of(state.round, fact.spot)
    hand = hand_of(state.round, fact.spot, fact.hand)
    if spot is None or hand is None:
        return unchanged(state)
    due = blackjack(hand, rules) and up_points(state.round) in (None, 1)
    offered = rules.even_money and due and state.round.checked is None
    found = () if offered else (_even_money_fault(fact, seq, rules),)
    stands = offered or (blackjack(hand, rules) and rules.policy.illegal_option == "as_played")
    after = with_hand(state.round, spot, fact.hand, replace(hand, even_money=stands))
    return Step(on(state, after), found)


def _even_money_fault(fact: PlayerActed, seq: int, rules: Rulebook) -> Violation:
    why = "it is for a blackjack against an ace" if rules.even_money else "this game has none"
    detail = f"even money taken; {why}"
    return violation("even_money_not_offered", seq, detail, fact.spot, fact.hand)
