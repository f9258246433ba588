"""The dealer's hand: which draws were due, which card is burned, how the hand ends."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from models.cards import Card
from models.judgements import DealerOutcome, Violation
from models.rulebook import Rulebook
from settlement.clauses import violation
from settlement.hands import count, known, named, natural, total
from settlement.play import live
from settlement.state import Cards, Laid, Round


class Played(msgspec.Struct, frozen=True):
    """The dealer's hand played out.

    Attributes:
        cards: those that count.
        burned: those drawn in error.
        faults: ``(index among the draws, code)`` of each draw that was not due.
        outcome: how the hand ended.
    """

    cards: Cards
    burned: Cards
    faults: tuple[tuple[int, str], ...]
    outcome: DealerOutcome

    @property
    def blackjack(self) -> bool:
        """Whether it is a blackjack."""
        return self.outcome == "blackjack"


def must_draw(cards: Sequence[Card | None], rules: Rulebook) -> bool:
    """Tell whether ``dealer.draw`` has the dealer take another card."""
    points, soft = total(cards)
    return points < 17 or (points == 17 and soft and rules.dealer_soft17 == "hit")


def hands_live(round_: Round, rules: Rulebook) -> tuple[bool, bool]:
    """Return whether any hand is surely live, and whether any may be."""
    each = [live(hand, rules) for spot in round_.spots for hand in spot.hands]
    return any(each), any(alive is not False for alive in each)


def play(
    cards: Sequence[Card | None],
    alive: tuple[bool, bool],
    rules: Rulebook,
    checked: bool | None = None,
) -> Played:
    """Play the dealer's cards out: the first two, then each draw as it came.

    Args:
        cards: in the order dealt.
        alive: whether a hand is surely live, and whether one may be.
        rules: the house's.
        checked: what the dealer's look at the hole card said, if he looked.
    """
    counted, draws = list(cards[:2]), cards[2:]
    lying, burned, faults = list(counted), [], []
    stopped = ""
    for index, card in enumerate(draws):
        due = (not stopped or _keeps(rules)) and _is_due(counted, alive, rules)
        if not due and not _follows(stopped, lying, rules):
            stopped = _fault(lying, rules)
            faults.append((index, stopped))
        if due or _keeps(rules):
            counted.append(card)
        else:
            burned.append(card)
        lying.append(card)
    outcome = _outcome(counted, alive, rules, checked)
    return Played(tuple(counted), tuple(burned), tuple(faults), outcome)


def _keeps(rules: Rulebook) -> bool:
    return rules.policy.dealer_overdraw == "keep"


def _is_due(counted: Sequence[Card | None], alive: tuple[bool, bool], rules: Rulebook) -> bool:
    if not known(counted) or len(counted) < 2:
        return True
    return alive[1] and must_draw(counted, rules)


def _fault(lying: Sequence[Card | None], rules: Rulebook) -> str:
    points, soft = total(lying)
    if natural(lying):
        return "dealer_drew_on_blackjack"
    if points > 21:
        return "dealer_drew_after_breaking"
    if points >= 18:
        return "dealer_hit_18_plus"
    if must_draw(lying, rules):
        return "dealer_drew_no_live_hands"
    return "dealer_hit_soft_17" if soft else "dealer_hit_hard_17"


def _follows(stopped: str, lying: Sequence[Card | None], rules: Rulebook) -> bool:
    """Tell whether a draw only follows from a mistake already told, and is no new one."""
    if not stopped:
        return False
    if stopped in _HAND_IS_OVER:
        return True
    return must_draw(lying, rules)


_HAND_IS_OVER: Final = (
    "dealer_drew_on_blackjack",
    "dealer_drew_no_live_hands",
    "dealer_drew_after_breaking",
)


def _outcome(
    counted: Sequence[Card | None],
    alive: tuple[bool, bool],
    rules: Rulebook,
    checked: bool | None,
) -> DealerOutcome:
    if len(counted) < 2:
        return "short" if alive[1] else "no_draw"
    if natural(counted) or (checked and not known(counted[:2])):
        return "blackjack"
    if not known(counted):
        return "unknown" if alive[1] else "no_draw"
    if total(counted)[0] > 21:
        return "bust"
    if not must_draw(counted, rules):
        return "stand"
    return "short" if alive[0] else "no_draw"


_SHOULD = {
    "dealer_drew_on_blackjack": "a blackjack takes no card",
    "dealer_drew_after_breaking": "the hand was over",
    "dealer_hit_18_plus": "he stands on 17 and more",
    "dealer_hit_hard_17": "he stands on hard 17",
    "dealer_hit_soft_17": "this game stands on soft 17",
    "dealer_drew_no_live_hands": "no hand was live, so none was due",
}


def draw_faults(dealer: Sequence[Laid], played: Played, early_seq: int) -> Iterator[Violation]:
    """Yield each draw that was not due, and the draw that came before the players were done."""
    for index, code in played.faults:
        before, laid = dealer[: 2 + index], dealer[2 + index]
        cards = [other.card for other in before]
        detail = f"drew {named((laid.card,))} on {named(cards)} ({count(cards)}); {_SHOULD[code]}"
        yield violation(code, laid.seq, detail)
    judged = {dealer[2 + index].seq for index, _ in played.faults}
    if early_seq and early_seq not in judged:
        detail = "the dealer drew while players had still to act; he plays last"
        yield violation("dealer_acted_before_players", early_seq, detail)


def stood_short(played: Played, seq: int) -> Iterator[Violation]:
    """Yield that the dealer stopped with a card still due."""
    if played.outcome != "short" or len(played.cards) < 2:
        return
    soft17 = total(played.cards) == (17, True)
    code = "dealer_stood_soft_17" if soft17 else "dealer_stood_below_17"
    detail = f"stood on {named(played.cards)} ({count(played.cards)}); a card was due"
    yield violation(code, seq, detail)
