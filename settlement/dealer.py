"""The dealer's hand: which draws were due, which cards are burned, and how it ends."""

from typing import Final

from models.cards import Card
from models.judgements import DealerOutcome
from settlement.facts import DEALER, card_named
from settlement.hands import FACES, Counted, named
from settlement.houserules import HouseRules
from settlement.play import DEAD, LIVE, live
from settlement.side_wagers import dealer_plays
from settlement.state import Round, State


class Alive:
    """Whether any hand is certainly live, and whether any may be."""

    def __init__(self, *, surely: bool, maybe: bool) -> None:
        self.surely = surely
        self.maybe = maybe


class Fault:
    """The first draw that was not due: its index among the dealer's cards, the code, the detail."""

    def __init__(self, index: int, code: str, detail: str) -> None:
        self.index = index
        self.code = code
        self.detail = detail


class Played:
    """The dealer's hand, played out.

    Attributes:
        counted: the cards that count.
        burned: cards drawn in error.
        fault: the draw that was not due, if any; what he draws after it is the same mistake.
        outcome: how the hand ended.
    """

    outcome: DealerOutcome

    def __init__(self) -> None:
        self.counted = Counted()
        self.burned: list[Card | None] = []
        self.fault: Fault | None = None

    def blackjack(self) -> bool:
        """Whether the hand is a blackjack."""
        return self.outcome == "blackjack"

    def may_make_blackjack(self) -> bool:
        """Whether the hand is a single ace or ten."""
        cards = self.counted.cards
        return len(cards) == 1 and cards[0] is not None and cards[0].points in (1, 10)


def must_draw(cards: Counted, rules: HouseRules) -> bool:
    """Return whether ``dealer.draw`` requires another card."""
    points = cards.total()
    return points < 17 or (points == 17 and rules.hits_soft_17 and cards.soft())


def hands_live(round_: Round, rules: HouseRules) -> Alive:
    """Return whether the dealer still has a hand to beat."""
    most = DEAD
    for spot in round_.spots:
        for hand in spot.hands:
            most = max(most, live(hand, rules))
    if most != LIVE and any(dealer_plays(spot, rules) for spot in round_.spots):
        most = LIVE
    return Alive(surely=most == LIVE, maybe=most != DEAD)


def play(dealt: list[int], alive: Alive, rules: HouseRules, round_: Round) -> Played:
    """Play the dealer's cards out: the first two, then each draw as it came.

    Args:
        dealt: the dealer's cards by index, in the order dealt.
        alive: whether there is a hand to beat.
        rules: the house's rules.
        round_: holds the result of the hole card check.
    """
    played = Played()
    counted = played.counted
    for index, face in enumerate(dealt):
        stopped = played.fault is not None
        due = (not stopped or rules.keeps_overdraw) and _is_due(counted, alive, rules)
        if not due and not stopped:
            code = _fault(counted, rules)
            played.fault = Fault(index, code, _drew(face, counted, code))
        if due or (rules.keeps_overdraw and not counted.natural()):
            counted.add(face)
        else:
            played.burned.append(FACES[face])
    played.outcome = _outcome(counted, alive, rules, round_)
    return played


def _is_due(counted: Counted, alive: Alive, rules: HouseRules) -> bool:
    if len(counted.cards) < 2 or not counted.known():
        return True
    return alive.maybe and must_draw(counted, rules)


def _fault(counted: Counted, rules: HouseRules) -> str:
    if counted.natural():
        return "dealer_drew_on_blackjack"
    if counted.busted():
        return "dealer_drew_after_breaking"
    if counted.total() >= 18:
        return "dealer_hit_18_plus"
    if must_draw(counted, rules):
        return "dealer_drew_no_live_hands"
    return "dealer_hit_soft_17" if counted.soft() else "dealer_hit_hard_17"


def _outcome(counted: Counted, alive: Alive, rules: HouseRules, round_: Round) -> DealerOutcome:
    if len(counted.cards) < 2:
        return "short" if alive.maybe else "no_draw"
    if counted.natural() or (round_.looked_at_blackjack() and not two_known(counted)):
        return "blackjack"
    if not counted.known():
        return "unknown" if alive.maybe else "no_draw"
    if counted.busted():
        return "bust"
    if not must_draw(counted, rules):
        return "stand"
    return "short" if alive.surely else "no_draw"


def two_known(counted: Counted) -> bool:
    """Return whether the dealer's first two cards are both known."""
    cards = counted.cards
    return len(cards) >= 2 and cards[0] is not None and cards[1] is not None


_SHOULD: Final = {
    "dealer_drew_on_blackjack": "a blackjack takes no card",
    "dealer_drew_after_breaking": "the hand was over",
    "dealer_hit_18_plus": "he stands on 17 and more",
    "dealer_hit_hard_17": "he stands on hard 17",
    "dealer_hit_soft_17": "this game stands on soft 17",
    "dealer_drew_no_live_hands": "no hand was live, so none was due",
}


def _drew(face: int, counted: Counted, code: str) -> str:
    cards = f"{named(counted.cards)} ({counted.words()})"
    return f"drew {card_named(face)} on {cards}; {_SHOULD[code]}"


def draw_faults(state: State, played: Played) -> None:
    """Find a draw that was not due, and a draw before the players were done."""
    round_, fault = state.round, played.fault
    early, undue = round_.early_draw_seq, 0
    if fault is not None:
        undue = round_.dealer[fault.index].seq
        if round_.dealer[fault.index].deals(DEALER):
            state.find(fault.code, undue, fault.detail)
    if early and early != undue:
        detail = "the dealer drew while players had still to act; he plays last"
        state.find("dealer_acted_before_players", early, detail)


def stood_short(state: State, played: Played, seq: int) -> None:
    """Find that the dealer stopped although a card was due."""
    counted = played.counted
    least = 2 if state.rules.deals_hole_card else 1
    if played.outcome != "short" or len(counted.cards) < least:
        return
    soft17 = counted.soft() and counted.total() == 17
    code = "dealer_stood_soft_17" if soft17 else "dealer_stood_below_17"
    detail = f"stood on {named(counted.cards)} ({counted.words()}); a card was due"
    state.find(code, seq, detail)
