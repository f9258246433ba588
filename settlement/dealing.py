"""The initial deal: who gets the next card, which side up, and what counts as skipping."""

from settlement.facts import DEALER, RACK
from settlement.houserules import HouseRules
from settlement.phases import WITH_HOLE_CARD
from settlement.state import NEVER, Noted, Round, Spot, State


def begins(round_: Round) -> None:
    """Close the wagers and list who receives cards, in order, twice."""
    if not round_.wagered:
        for spot in round_.named():
            if spot.dealt_in:
                round_.enter(spot)
    else:
        for spot in [spot for spot in round_.spots if not (spot.hands[0].stake or spot.backed())]:
            round_.leave(spot)
    order = [spot.number for spot in round_.spots]
    order.append(DEALER)
    second = order.copy() if round_.dealer_dealt == WITH_HOLE_CARD else order[:-1]
    round_.passes = [order, second]


def expects(round_: Round, noted: Noted) -> bool:
    """Return whether the card belongs to the initial deal, in order or not."""
    if noted.hand != 0:
        return False
    for due in round_.passes:
        if noted.spot in due:
            return True
    return noted.spot in round_.owed


def initial_card(state: State, noted: Noted) -> None:
    """Apply a card of the initial deal; judge a wrong order once, then follow it."""
    _ordered(state, noted)
    if noted.spot == DEALER:
        _to_dealer(state, noted)
        return
    spot = noted.at
    _player_face(state, spot, noted)
    hand = spot.hands[0]
    hand.lay(noted)
    if hand.due_seq == hand.doubled_seq:
        hand.due_seq = 0


def _player_face(state: State, spot: Spot, noted: Noted) -> None:
    if spot.face_faulted or noted.down == (state.rules.player_cards == "down"):
        return
    spot.face_faulted = True
    detail = f"dealt face {_face(noted)}; players' cards are dealt face {state.rules.player_cards}"
    state.find("deal_face", noted.seq, detail, spot.number, 0)


def _face(card: Noted) -> str:
    return "down" if card.down else "up"


def _to_dealer(state: State, noted: Noted) -> None:
    dealer = state.round.dealer
    dealer.append(noted)
    if not state.rules.deals_hole_card:
        _only_card(state, noted)
    elif len(dealer) == 2:
        _dealer_faces(state, dealer[0], noted)
        if not dealer[0].down and not noted.down:
            state.round.hole_shown_seq = noted.seq


def _only_card(state: State, noted: Noted) -> None:
    if noted.down:
        detail = "the dealer's card lies face down; where he takes no hole card it is dealt face up"
        state.find("deal_face", noted.seq, detail)


def _dealer_faces(state: State, first: Noted, second: Noted) -> None:
    """Find one mistake for both dealer cards: exposed, both hidden, or swapped."""
    up, hole, nth = _roles(first, second, state.rules)
    if not up.down and not hole.down:
        detail = f"the hole card lies face up; the dealer's {nth[1]} card is dealt face down"
        state.find("hole_card_exposed", hole.seq, detail)
    elif up.down and hole.down:
        detail = f"both cards lie face down; the dealer's {nth[0]} card is dealt face up"
        state.find("deal_face", up.seq, detail)
    elif up.down:
        due = state.rules.dealer_first_card
        detail = f"the first card lies face {_face(first)}; it is dealt face {due}"
        state.find("deal_face", first.seq, detail)


def _roles(first: Noted, second: Noted, rules: HouseRules) -> tuple[Noted, Noted, tuple[str, str]]:
    """Return the up card, the hole card, and the role of each of the two cards."""
    if rules.dealer_first_card == "up":
        return first, second, ("first", "second")
    return second, first, ("second", "first")


def _ordered(state: State, noted: Noted) -> None:
    """Remove the card's receiver from the list of those due."""
    round_, to = state.round, noted.spot
    if round_.passes and not round_.passes[0]:
        round_.passes.pop(0)
    if round_.passes and to in round_.passes[0]:
        _next_of(state, round_.passes[0], noted)
    elif to in round_.owed:
        round_.owed.remove(to)
    else:
        round_.passes[1].remove(to)
        _wrong_order(state, noted, round_.passes[0][0])


def _next_of(state: State, current: list[int], noted: Noted) -> None:
    """Remove the receiver from this pass; those before it were skipped."""
    skipped: list[int] = []
    while current[0] != noted.spot:
        skipped.append(current.pop(0))
    current.pop(0)
    if skipped:
        _passed_over(state, skipped, noted, _cards_due(state.round))


def _cards_due(round_: Round) -> int:
    """Return how many cards a spot must have by the end of the deal, or it was skipped.

    A deal that the floor called off may have ended before the second pass.
    """
    if round_.off_at == NEVER or round_.to_dealer == WITH_HOLE_CARD:
        return 2
    return max(1, *[spot.dealt_in for spot in round_.spots])


def _passed_over(state: State, skipped: list[int], noted: Noted, cards_due: int) -> None:
    round_ = state.round
    fresh = [to for to in skipped if to not in round_.owed]
    round_.owed.extend(skipped)
    reported = 0
    for to in fresh:
        if to != DEALER and round_.spot(to).dealt_in < cards_due:
            reported += 1
            detail = f"passed over in the deal; spot {to} was to get the card before this one"
            state.find("spot_skipped", noted.seq, detail, to)
    if reported < len(fresh):
        _wrong_order(state, noted, fresh[0])


def _wrong_order(state: State, noted: Noted, due: int) -> None:
    """Find the order wrong: once per pass, and only once if both passes have the same order."""
    round_ = state.round
    left = len([due for due in round_.passes if due])
    repeated = _passes_alike(round_)
    if round_.order_faulted == left or (round_.order_faulted >= 0 and repeated):
        return
    round_.order_faulted = left
    detail = f"card to {_who(noted.spot)}; {_who(due)} was to get the next card"
    state.find("deal_order", noted.seq, detail, noted.spot or None)


def _passes_alike(round_: Round) -> bool:
    """Return whether both passes had the same order."""
    order = round_.order
    if round_.dealer_dealt != WITH_HOLE_CARD:
        players = [to for to in order if to != DEALER]
        first = len(round_.spots)
        return order[:first] == players[:first] == players[first : 2 * first]
    half = len(order) // 2
    return order[:half] == order[half:]


def _who(to: int) -> str:
    return "the dealer" if to == DEALER else f"spot {to}"


def cut_short(state: State, noted: Noted) -> None:
    """End the initial deal at a card of play; those still due were skipped."""
    round_ = state.round
    if not round_.passes:
        return
    left: list[int] = []
    for due in round_.passes:
        left.extend([to for to in due if to not in left])
    round_.passes.clear()
    _passed_over(state, left, noted, 2)


def leave_deal(round_: Round, spot: Spot) -> None:
    """Have a spot that gave its hand up wait for no more cards; it may still get them."""
    for due in round_.passes:
        if spot.number in due:
            due.remove(spot.number)
            round_.owed.append(spot.number)


def moved_in_deal(round_: Round, source: int, target: int) -> None:
    """Follow a card moved by the floor during the deal: its new place is due one card less.

    The place that it left, where it now lacks a card, may still get one.
    """
    if target in round_.owed:
        round_.owed.remove(target)
    else:
        for due in round_.passes:
            if target in due:
                due.remove(target)
                break
    if source != RACK:
        round_.owed.append(source)


def deal_unfinished(state: State) -> None:
    """Report who was due for the next card when the initial deal stopped."""
    round_ = state.round
    for due in round_.passes:
        if due:
            detail = f"the initial deal broke off; {_who(due[0])} was to get the next card"
            state.find("missing_card", round_.last_seq, detail, due[0] or None)
            return


def stray_card(state: State, noted: Noted) -> None:
    """Apply a card to a spot, or a hand of it, that is not in play: no hand receives it."""
    if noted.at.stray:
        return
    noted.at.stray = True
    detail = f"card to {_who(noted.spot)}, which has no wager; it is burned"
    state.find("card_to_empty_spot", noted.seq, detail, noted.spot)
