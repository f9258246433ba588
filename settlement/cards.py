"""Cards of play: to players in their turn, to split and doubled hands, and to the dealer."""

from models.events import CardDealt, CardExposed
from models.judgements import Violation
from models.rulebook import Rulebook
from settlement.clauses import violation
from settlement.dealing import (
    begins,
    cut_short,
    deals_in_late,
    expects,
    initial_card,
    stray_card,
)
from settlement.hands import count, named
from settlement.play import (
    closed_to_cards,
    finished,
    on,
    replace,
    spot_of,
    spot_unfinished,
    unfinished,
    with_hand,
)
from settlement.splits import split, split_source
from settlement.state import Laid, Spot, State, Step
from settlement.tables import deal_begins


def dealt(state: State, fact: CardDealt, seq: int, rules: Rulebook) -> Step:
    """Apply a card dealt to a spot or to the dealer: it is on the felt, due or not."""
    opening: tuple[Violation, ...] = ()
    if not state.round.dealing:
        state, opening = deal_begins(begins(state), seq, rules)
    step = _placed(state, fact, seq, rules)
    return Step(step.after, (*opening, *step.findings))


def _placed(state: State, fact: CardDealt, seq: int, rules: Rulebook) -> Step:
    if expects(state.round, fact):
        return initial_card(state, fact, seq, rules)
    if fact.to == "dealer":
        return _to_dealer(state, fact, seq, rules)
    spot = spot_of(state.round, fact.to)
    if spot is not None and spot.late and fact.hand == 0 and len(spot.hands[0].cards) < 2:
        return Step(deals_in_late(state, fact))
    if spot is not None and fact.hand >= len(spot.hands):
        state, spot = _split_unsaid(state, spot, fact, seq, rules)
    if spot is None or fact.hand >= len(spot.hands):
        return stray_card(state, fact, seq)
    round_, passed = cut_short(state.round, fact, seq)
    step = _to_player(on(state, round_), spot, fact, seq, rules)
    return Step(step.after, (*passed, *step.findings))


def _split_unsaid(
    state: State, spot: Spot, fact: CardDealt, seq: int, rules: Rulebook
) -> tuple[State, Spot | None]:
    """Part the hand that split chips already laid, and a card now dealt, show to be split."""
    source = split_source(spot, rules) if spot.split_chips else None
    if source is None or fact.hand != len(spot.hands):
        return state, spot
    after = split(state, spot, source, seq, rules).after
    return after, spot_of(after.round, spot.number)


def _to_player(state: State, spot: Spot, fact: CardDealt, seq: int, rules: Rulebook) -> Step:
    hand = spot.hands[fact.hand]
    code = closed_to_cards(hand, rules)
    card = state.round.script.cards[state.index]
    if code is not None and hand.void_double and not hand.double_card:
        return Step(_burned_with_double(state, spot, fact))
    if code is not None:
        return _not_due(state, spot, fact, seq, rules, code=code)
    state, found = in_turn(state, spot, fact.hand, seq, rules)
    taken = replace(
        hand,
        cards=(*hand.cards, card),
        due_seq=0,
        double_card=bool(hand.doubled_seq) and len(hand.cards) >= 2,
    )
    if hand.split and len(hand.cards) < 2 and hand.doubled_seq:
        taken = replace(taken, due_seq=hand.doubled_seq)
    round_ = replace(with_hand(state.round, spot, fact.hand, taken), acted=True)
    return Step(on(state, round_), found)


def _burned_with_double(state: State, spot: Spot, fact: CardDealt) -> State:
    """Burn the card of a double that does not stand; its mistake has been told."""
    hand, card = spot.hands[fact.hand], state.round.script.cards[state.index]
    changed = replace(hand, burned=(*hand.burned, card), double_card=True, due_seq=0)
    return on(state, with_hand(state.round, spot, fact.hand, changed))


_WHY = {
    "extra_card_after_double": "it was doubled and had its one card",
    "extra_card_on_split_ace": "a split ace gets one card",
    "card_to_blackjack": "it is a blackjack",
    "card_after_breaking": "it had broken",
    "card_after_stand": "it stood",
}


def _not_due(
    state: State, spot: Spot, fact: CardDealt, seq: int, rules: Rulebook, *, code: str
) -> Step:
    hand, card = spot.hands[fact.hand], state.round.script.cards[state.index]
    burn = rules.policy.extra_player_card == "burn"
    fate = "burned" if burn else "kept"
    detail = f"{named((card,))} dealt to {named(hand.cards)} ({count(hand.cards)}); "
    detail += f"{_WHY[code]}, so no card was due; {fate}"
    changed = (
        replace(hand, burned=(*hand.burned, card))
        if burn
        else replace(hand, cards=(*hand.cards, card))
    )
    after = on(state, with_hand(state.round, spot, fact.hand, changed))
    return Step(after, (violation(code, seq, detail, spot.number, fact.hand),))


def in_turn(
    state: State, spot: Spot, number: int, seq: int, rules: Rulebook
) -> tuple[State, tuple[Violation, ...]]:
    """Judge whether it is this spot's, and this hand's, turn; each is told once."""
    key = (spot.number, number)
    if finished(spot.hands[number], rules) or key in state.round.out_of_turn:
        return state, ()
    if (spot.number, -1) in state.round.out_of_turn:
        return state, ()
    before = _spot_before(state, spot, rules)
    if before is not None:
        detail = f"spot {spot.number} played on while spot {before} was still to play"
        found = violation("player_turn_order", seq, detail, spot.number, number)
        return _told(state, (spot.number, -1)), (found,)
    due = _hands_due(state, spot, rules)
    if due and number not in due:
        detail = f"hand {number} played on while hand {due[0]} was unfinished"
        found = violation("split_hand_order", seq, detail, spot.number, number)
        return _told(state, key), (found,)
    return state, ()


def _told(state: State, key: tuple[int, int]) -> State:
    return on(state, replace(state.round, out_of_turn=state.round.out_of_turn | {key}))


def _spot_before(state: State, spot: Spot, rules: Rulebook) -> int | None:
    for other in state.round.spots:
        if other.number < spot.number and spot_unfinished(state, other, rules):
            return other.number
    return None


def _hands_due(state: State, spot: Spot, rules: Rulebook) -> tuple[int, ...]:
    """Return the hands that may be played now: the one begun, or the first in either order."""
    if len(spot.hands) == 1 or _aces_await_cards(spot, rules):
        return ()
    created = _first_unfinished(state, spot, tuple(range(len(spot.hands))), rules)
    placed = _first_unfinished(state, spot, spot.places, rules)
    first = tuple(dict.fromkeys(number for number in (created, placed) if number is not None))
    begun = tuple(number for number in first if len(spot.hands[number].cards) >= 2)
    return begun or first


def _aces_await_cards(spot: Spot, rules: Rulebook) -> bool:
    return rules.split_aces_cards == 1 and spot.hands[0].aces


def _first_unfinished(
    state: State, spot: Spot, order: tuple[int, ...], rules: Rulebook
) -> int | None:
    for number in order:
        hand = spot.hands[number]
        last = state.round.script.last_turn.get((spot.number, number), -1)
        if last >= state.index and not finished(hand, rules):
            return number
    return None


def _to_dealer(state: State, fact: CardDealt, seq: int, rules: Rulebook) -> Step:
    """Apply a card the dealer draws; whether his total asked for it is judged at the close."""
    round_, passed = cut_short(state.round, fact, seq)
    state = on(state, round_)
    early = any(spot_unfinished(state, spot, rules) for spot in round_.spots)
    laid = Laid(round_.script.cards[state.index], fact.face, seq)
    if early and not round_.early_draw_seq:
        round_ = replace(round_, early_draw_seq=seq)
    return Step(on(state, replace(round_, dealer=(*round_.dealer, laid))), passed)


def exposed(state: State, fact: CardExposed, seq: int, rules: Rulebook) -> Step:
    """Apply a card turned up or become known."""
    turned = state.round.script.turned.get(state.index, "open")
    found: tuple[Violation, ...] = ()
    if turned == "foreign":
        spot = None if fact.to == "dealer" else fact.to
        detail = f"{named((fact.card,))} turned up; that is not the card that was dealt there"
        found = (violation("foreign_card", seq, detail, spot),)
    if fact.to != "dealer" or not _turns_hole(state, turned):
        return Step(state, found)
    if _too_early(state, rules):
        detail = "the hole card was turned while players had still to act"
        found = (*found, violation("hole_card_exposed", seq, detail))
    return Step(on(state, replace(state.round, hole_shown=True)), found)


def _turns_hole(state: State, turned: str) -> bool:
    dealer = state.round.dealer[:2]
    return turned == "hole" or (turned == "foreign" and any(laid.face == "down" for laid in dealer))


def _too_early(state: State, rules: Rulebook) -> bool:
    """Tell whether players still act, and the dealer does not draw before they do."""
    round_ = state.round
    if round_.hole_shown or round_.checked:
        return False
    waiting = [
        round_.script.last_turn[spot.number, number]
        for spot in round_.spots
        for number in range(len(spot.hands))
        if unfinished(state, spot, number, rules)
    ]
    return bool(waiting) and not any(draw < max(waiting) for draw in round_.script.draws)
