"""Splitting and doubling: what makes either legal, and what it leaves on the felt."""

from collections.abc import Iterator

from models.cards import Card
from models.events import WagerPlaced
from models.judgements import Violation
from models.money import dollars
from models.rulebook import Rulebook
from settlement.clauses import violation
from settlement.hands import count, known, matched, named, natural, total
from settlement.play import on, replace, spot_of, with_hand, with_spot
from settlement.state import Hand, Spot, State, Step


def split(state: State, spot: Spot, number: int, seq: int, rules: Rulebook) -> Step:
    """Part a hand's two cards; the second goes into a new last hand."""
    hand = spot.hands[number]
    found = tuple(_split_faults(spot, number, seq, rules))
    if len(hand.cards) < 2:
        return Step(state, found)
    void = bool(found) and rules.policy.illegal_option == "void"
    return Step(on(state, with_spot(state.round, _parted(spot, number, seq, void=void))), found)


def _parted(spot: Spot, number: int, seq: int, *, void: bool) -> Spot:
    hand, new = spot.hands[number], len(spot.hands)
    first, second, *rest = hand.cards
    aces = _ace(first)
    due = 0 if rest else seq
    stays = replace(hand, cards=(first, *rest), split=True, aces=aces, due_seq=due, stood=False)
    chips = [laid for laid in spot.split_chips if laid[0] == new]
    parted = Hand(
        cards=(second,),
        stake=sum(amount for _, amount, _ in chips),
        stake_seq=max((laid[2] for laid in chips), default=seq),
        owed_stake=hand.stake,
        split=True,
        aces=aces,
        due_seq=seq,
        void_split=void,
    )
    at = spot.places.index(number) + 1
    return replace(
        spot,
        hands=(*spot.hands[:number], stays, *spot.hands[number + 1 :], parted),
        places=(*spot.places[:at], new, *spot.places[at:]),
        split_chips=tuple(laid for laid in spot.split_chips if laid[0] != new),
    )


def _ace(card: Card | None) -> bool:
    return card is not None and card.points == 1


def _split_faults(spot: Spot, number: int, seq: int, rules: Rulebook) -> Iterator[Violation]:
    fault = _split_fault(spot, spot.hands[number], rules)
    if fault is not None:
        code, should = fault
        detail = f"{named(spot.hands[number].cards)} split; {should}"
        yield violation(code, seq, detail, spot.number, number)


def _split_fault(spot: Spot, hand: Hand, rules: Rulebook) -> tuple[str, str] | None:
    if len(hand.cards) != 2:
        return "split_not_pair", "only the first two cards may be split"
    first, second = hand.cards
    if matched(first, second, "value") is False:
        return "split_not_pair", "only a pair may be split"
    if matched(first, second, rules.split_match) is False:
        return "split_unequal_rank", "the two must be of the same rank"
    if hand.aces and not rules.resplit_aces:
        return "resplit_aces_not_allowed", "aces are split only once"
    if len(spot.hands) >= rules.max_hands:
        return "too_many_hands", f"a spot may have {rules.max_hands} hands"
    return None


def split_chips(state: State, fact: WagerPlaced, seq: int) -> Step:
    """Apply chips laid for a split: on the new hand, or waiting for it."""
    spot = spot_of(state.round, fact.spot)
    if spot is None or not spot.hands[0].cards:
        detail = f"split wager of {dollars(fact.amount)} on no hand"
        return Step(state, (violation("wager_after_deal", seq, detail, fact.spot),))
    round_ = replace(state.round, acted=True)
    if fact.hand >= len(spot.hands):
        laid = (*spot.split_chips, (fact.hand, fact.amount, seq))
        return Step(on(state, with_spot(round_, replace(spot, split_chips=laid))))
    hand = spot.hands[fact.hand]
    if not fact.hand or len(hand.cards) >= 2:
        detail = f"{dollars(fact.amount)} added to a wager in play; it counts as it was"
        found = violation("stake_increased_after_deal", seq, detail, fact.spot, fact.hand)
        return Step(on(state, round_), (found,))
    changed = replace(hand, stake=hand.stake + fact.amount, stake_seq=seq)
    return Step(on(state, with_hand(round_, spot, fact.hand, changed)))


def split_source(spot: Spot, rules: Rulebook) -> int | None:
    """Return the hand that chips already laid must be for: the first that is a pair."""
    for number in spot.places:
        cards = spot.hands[number].cards
        if len(cards) == 2 and matched(cards[0], cards[1], rules.split_match) is not False:
            return number
    return None


def double_begins(
    spot: int, number: int, hand: Hand, seq: int, rules: Rulebook
) -> tuple[Hand, tuple[Violation, ...]]:
    """Mark a hand as doubled, once, whether the player said it or laid the chips first."""
    if hand.doubled_seq:
        return hand, ()
    fault = double_fault(hand, rules)
    void = fault is not None and rules.policy.illegal_option == "void"
    begun = replace(hand, doubled_seq=seq, due_seq=seq, void_double=void)
    if fault is None:
        return begun, ()
    code, should = fault
    detail = f"{named(hand.cards)} ({count(hand.cards)}) doubled; {should}"
    return begun, (violation(code, seq, detail, spot, number),)


def double_fault(hand: Hand, rules: Rulebook) -> tuple[str, str] | None:
    """Return the code and what should have been where the hand may not be doubled."""
    if not hand.split and natural(hand.cards):
        return "double_on_blackjack", "a blackjack is not doubled"
    if hand.aces and not rules.double_split_aces:
        return "double_split_aces", "split aces may not double"
    if hand.split and not rules.double_after_split:
        return "double_after_split_not_allowed", "split hands may not double"
    if len(hand.cards) != 2:
        return "double_not_first_two", "only the first two cards may be doubled"
    if known(hand.cards) and not _total_allowed(hand, rules):
        return "double_total_not_allowed", f"this game doubles {_ON[rules.double_on]}"
    return None


_ON = {
    "any_two": "any two cards",
    "9-11": "9, 10 and 11 only",
    "10-11": "10 and 11 only",
    "none": "nothing",
}


def _total_allowed(hand: Hand, rules: Rulebook) -> bool:
    if rules.double_on in ("any_two", "none"):
        return rules.double_on == "any_two"
    points, soft = total(hand.cards)
    if soft and rules.double_soft_as_low_total:
        points -= 10
    return (9 if rules.double_on == "9-11" else 10) <= points <= 11


def amount_faults(spot: Spot, number: int, rules: Rulebook) -> Iterator[Violation]:
    """Yield what is wrong with the chips of one hand's split and double, once all are laid."""
    hand = spot.hands[number]
    if hand.owed_stake and hand.stake != hand.owed_stake:
        detail = f"split wager {dollars(hand.stake)}; it must be {dollars(hand.owed_stake)}"
        yield violation("split_wager_mismatch", hand.stake_seq, detail, spot.number, number)
    if hand.doubled_seq and hand.stake:
        yield from _double_amount(spot.number, number, hand, rules)


def _double_amount(spot: int, number: int, hand: Hand, rules: Rulebook) -> Iterator[Violation]:
    added, most, seq = dollars(hand.added), dollars(hand.stake), hand.added_seq or hand.doubled_seq
    if hand.added > hand.stake:
        detail = f"doubled with {added}; at most {most} may be added"
        yield violation("double_over_original", seq, detail, spot, number)
    elif hand.added < hand.stake and not rules.double_for_less:
        detail = f"doubled with {added}; it must be {most}"
        yield violation("double_for_less_not_allowed", seq, detail, spot, number)
