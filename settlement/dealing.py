"""The initial deal: who gets a card next, which side up, and what passing over someone is."""

from collections.abc import Iterator

from models.events import CardDealt, Dealt
from models.judgements import Violation
from models.rulebook import Rulebook
from settlement.clauses import violation
from settlement.play import on, replace, spot_of, with_hand, with_spot
from settlement.state import Laid, Round, Spot, State, Step


def begins(state: State) -> State:
    """Close the wagers and set out who is to be dealt in, in order, twice."""
    round_ = state.round
    if not round_.wagered:
        spots = sorted(to for to in round_.script.dealt_in if to != "dealer")
        round_ = replace(round_, spots=tuple(Spot(number) for number in spots))
    round_ = replace(round_, spots=tuple(spot for spot in round_.spots if _in_play(spot, round_)))
    order: tuple[Dealt, ...] = (*(spot.number for spot in round_.spots), "dealer")
    return on(state, replace(round_, dealing=True, passes=(order, order)))


def _in_play(spot: Spot, round_: Round) -> bool:
    return bool(spot.hands[0].stake) or not round_.wagered


def expects(round_: Round, fact: CardDealt) -> bool:
    """Tell whether the card belongs to the initial deal, in its order or out of it."""
    if fact.to != "dealer" and fact.hand != 0:
        return False
    return any(fact.to in due for due in round_.passes) or fact.to in round_.owed


def initial_card(state: State, fact: CardDealt, seq: int, rules: Rulebook) -> Step:
    """Apply a card of the initial deal; a card out of order is judged once, then followed."""
    round_, found = _ordered(state.round, fact, seq)
    if fact.to == "dealer":
        return _to_dealer(on(state, round_), seq, found, fact, rules)
    spot = spot_of(round_, fact.to)
    assert spot is not None, "only spots in play are expected"
    if fact.face != rules.player_cards and not spot.face_faulted:
        spot = replace(spot, face_faulted=True)
        detail = f"dealt face {fact.face}; players' cards are dealt face {rules.player_cards}"
        found = (*found, violation("deal_face", seq, detail, fact.to, 0))
    hand = spot.hands[0]
    card = round_.script.cards[state.index]
    hand = replace(hand, cards=(*hand.cards, card))
    return Step(on(state, with_hand(round_, spot, 0, hand)), found)


def _to_dealer(
    state: State, seq: int, found: tuple[Violation, ...], fact: CardDealt, rules: Rulebook
) -> Step:
    laid = Laid(state.round.script.cards[state.index], fact.face, seq)
    dealer = (*state.round.dealer, laid)
    if len(dealer) == 2:
        found = (*found, *_dealer_faces(dealer[0], dealer[1], rules))
    shown = state.round.hole_shown or (len(dealer) == 2 and _both_up(dealer))
    return Step(on(state, replace(state.round, dealer=dealer, hole_shown=shown)), found)


def _both_up(dealer: tuple[Laid, ...]) -> bool:
    return all(laid.face == "up" for laid in dealer[:2])


def _dealer_faces(first: Laid, second: Laid, rules: Rulebook) -> Iterator[Violation]:
    """One mistake for the two cards: exposed, both hidden, or one for the other."""
    up, hole = (first, second) if rules.dealer_first_card == "up" else (second, first)
    if up.face == "up" and hole.face == "up":
        detail = f"the hole card lies face up; the dealer's {_nth(hole, first)} is dealt face down"
        yield violation("hole_card_exposed", hole.seq, detail)
    elif up.face == "down" and hole.face == "down":
        detail = f"both cards lie face down; the dealer's {_nth(up, first)} is dealt face up"
        yield violation("deal_face", up.seq, detail)
    elif up.face == "down":
        detail = (
            f"the first card lies face {first.face}; it is dealt face {rules.dealer_first_card}"
        )
        yield violation("deal_face", first.seq, detail)


def _nth(laid: Laid, first: Laid) -> str:
    return "first card" if laid is first else "second card"


def _ordered(round_: Round, fact: CardDealt, seq: int) -> tuple[Round, tuple[Violation, ...]]:
    """Take the card's receiver off the list of those to come."""
    passes = tuple(due for due in round_.passes if due)
    current, *later = passes or ((),)
    if fact.to in current:
        at = current.index(fact.to)
        after = replace(round_, passes=(current[at + 1 :], *later))
        return _passed_over(after, current[:at], fact, seq)
    if fact.to in round_.owed:
        at = round_.owed.index(fact.to)
        return replace(round_, owed=round_.owed[:at] + round_.owed[at + 1 :]), ()
    rest = tuple(to for to in later[0] if to != fact.to)
    after = replace(round_, passes=(current, rest))
    return _wrong_order(after, fact, seq, f"{_who(current[0])} was to get the next card")


def _passed_over(
    round_: Round, skipped: tuple[Dealt, ...], fact: CardDealt, seq: int
) -> tuple[Round, tuple[Violation, ...]]:
    fresh = [to for to in skipped if to not in round_.owed]
    round_ = replace(round_, owed=(*round_.owed, *skipped))
    found: list[Violation] = []
    for to in fresh:
        if to != "dealer" and round_.script.dealt_in.get(to, 0) < 2:
            detail = f"passed over in the deal; spot {to} was to get the card before this one"
            found.append(violation("spot_skipped", seq, detail, to))
    if len(found) < len(fresh):
        detail = f"{_who(fresh[0])} was to get the next card"
        round_, more = _wrong_order(round_, fact, seq, detail)
        found.extend(more)
    return round_, tuple(found)


def _wrong_order(
    round_: Round, fact: CardDealt, seq: int, should: str
) -> tuple[Round, tuple[Violation, ...]]:
    """Find the order wrong: once in each pass, and only once if the second is as the first."""
    left = len([due for due in round_.passes if due])
    half = len(round_.script.order) // 2
    repeated = round_.script.order[:half] == round_.script.order[half:]
    if round_.order_faulted == left or (round_.order_faulted >= 0 and repeated):
        return round_, ()
    spot = None if fact.to == "dealer" else fact.to
    found = violation("deal_order", seq, f"card to {_who(fact.to)}; {should}", spot)
    return replace(round_, order_faulted=left), (found,)


def _who(to: Dealt) -> str:
    return "the dealer" if to == "dealer" else f"spot {to}"


def cut_short(round_: Round, fact: CardDealt, seq: int) -> tuple[Round, tuple[Violation, ...]]:
    """End the initial deal at a card of play; whoever had still to come was passed over."""
    left = tuple(to for due in round_.passes for to in due)
    if not left:
        return round_, ()
    round_ = replace(round_, passes=())
    return _passed_over(round_, tuple(dict.fromkeys(left)), fact, seq)


def stray_card(state: State, fact: CardDealt, seq: int) -> Step:
    """Apply a card to a spot, or a hand of it, that is not in play: nobody has it."""
    spot = None if fact.to == "dealer" else fact.to
    if fact.to in state.round.strays:
        return Step(state)
    detail = f"card to {_who(fact.to)}, which has no wager; it is burned"
    after = on(state, replace(state.round, strays=state.round.strays | {fact.to}))
    return Step(after, (violation("card_to_empty_spot", seq, detail, spot),))


def deals_in_late(state: State, fact: CardDealt) -> State:
    """Let a spot whose wager came late keep the cards it was dealt."""
    spot = spot_of(state.round, fact.to) if fact.to != "dealer" else None
    assert spot is not None, "only a late spot is dealt in late"
    hand = spot.hands[0]
    card = state.round.script.cards[state.index]
    changed = replace(spot, hands=(replace(hand, cards=(*hand.cards, card)),))
    return on(state, with_spot(state.round, changed))
