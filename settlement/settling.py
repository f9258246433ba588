"""Each hand's result against the dealer's, to the cent, with the deciding clauses."""

from typing import Final

from msgspec import UNSET, UnsetType

from models.cards import Card
from models.judgements import HandOutcome, OddCents
from models.money import Cents
from settlement.dealer import Played, two_known
from settlement.houserules import HouseRules
from settlement.play import blackjack, doubled_with, finished, in_deal, owed_card, rescued
from settlement.prices import Price
from settlement.side_cards import HandLine
from settlement.state import Hand

_EXACT: Final = UNSET
"""Marks that nothing was rounded."""


class Due:
    """A hand's result.

    Attributes:
        outcome: how it ended.
        net: the player's gain; ``None`` while it is not settled.
        clauses: the deciding clauses.
        odd_cents: the exact winnings, where chips could not pay them.
    """

    def __init__(
        self,
        outcome: HandOutcome,
        net: Cents | None,
        clauses: tuple[str, ...],
        odd_cents: OddCents | UnsetType = _EXACT,
    ) -> None:
        self.outcome = outcome
        self.net = net
        self.clauses = clauses
        self.odd_cents = odd_cents


_TO_PLAY: Final = Due("pending", None, ("play.turn",))
_CARD_DUE: Final = Due("pending", None, ("play.card_due",))
_DRAW_DUE: Final = Due("pending", None, ("dealer.draw",))
_PUSH: Final = Due("push", 0, ("push.returns",))
_COLLECTED: Final = Due("push", 0, ("dealer.blackjack",))
"""The result of a split hand where a dealer's blackjack collects only the original wager."""

_BREAKS: Final = ("player.breaks",)
_DEALER_BREAKS: Final = ("dealer.breaks", "win.pays")
_WINS: Final = ("win.pays",)
_LOSES: Final = ("lose.takes",)
_BLACKJACK_PAYS: Final = ("blackjack.pays",)
_LINE_PAYS: Final = ("win.pay_table",)
_PUSHES_22: Final = Due("push", 0, ("dealer.22",))
_BLACKJACK_TAKES: Final = ("dealer.blackjack",)
_SURRENDER_FALLS: Final = ("surrender.dealer_blackjack", "dealer.blackjack")


def staked(hand: Hand, rules: HouseRules) -> Cents:
    """Return all chips at stake on a hand."""
    stake = 0 if hand.void_split else hand.stake
    return stake + doubled_with(hand, rules) if hand.added else stake


def due(
    hand: Hand,
    dealer: Played,
    rules: HouseRules,
    *,
    line: HandLine | None,
    insured: bool,
    done: bool,
) -> Due:
    """Settle one hand; its cards and the dealer's are known.

    Args:
        hand: the player's.
        dealer: the dealer's.
        rules: the house's.
        line: what it makes of the pay table.
        insured: whether an insurance wager counts.
        done: whether the record shows that its player has finished.
    """
    over = _over_before(hand, dealer, rules)
    if over is not None:
        return over
    if hand.surrendered_seq and _second_card_decides(dealer, rules):
        return _DRAW_DUE
    if in_deal(hand) and not hand.surrendered_seq:
        return _CARD_DUE
    if not (done or finished(hand, rules)):
        return _TO_PLAY
    if dealer.blackjack():
        return _against_blackjack(hand, rules, line, insured=insured)
    return _against_no_blackjack(hand, dealer, rules, line)


def _over_before(hand: Hand, dealer: Played, rules: HouseRules) -> Due | None:
    """Settle a hand that ended before the dealer's total mattered."""
    if _gives_up(hand, dealer, rules):
        if rescued(hand, rules):
            return Due("surrender", -hand.stake, ("surrender.rescue",))
        stake = staked(hand, rules)
        return _paid(stake, rules.half, stake, "surrender", ("surrender.offered",))
    if hand.even_money:
        return _paid(staked(hand, rules), rules.even, 0, "win", ("even_money.offered",))
    if hand.busted():
        return Due("bust", -staked(hand, rules), _BREAKS)
    return None


def _gives_up(hand: Hand, dealer: Played, rules: HouseRules) -> bool:
    """Return whether its surrender stands: a late one fails against a dealer's blackjack.

    The home sheet: "You cannot surrender if the dealer has Blackjack." No policy revives it. The
    wager of a double that is rescued is taken at once.
    """
    if not hand.surrendered_seq or rules.surrender != "late" or rescued(hand, rules):
        return hand.surrendered_seq > 0
    return not dealer.blackjack() and not _second_card_decides(dealer, rules)


def _second_card_decides(dealer: Played, rules: HouseRules) -> bool:
    """Return whether an undealt second card might have made the dealer's blackjack."""
    return dealer.may_make_blackjack() and rules.waits_for_underdraw


def _against_no_blackjack(
    hand: Hand, dealer: Played, rules: HouseRules, line: HandLine | None
) -> Due:
    if owed_card(hand):
        return _CARD_DUE
    natural = blackjack(hand, rules)
    if natural or (line is not None and line.wins):
        if _second_card_decides(dealer, rules):
            return _DRAW_DUE
        if natural:
            return _blackjack_paid(hand, rules, line)
        return _won(hand, dealer, rules, line, _WINS)
    if rules.waits_for_underdraw and dealer.outcome in ("short", "no_draw"):
        return _DRAW_DUE
    return _against_total(hand, dealer, rules, line)


def _blackjack_paid(hand: Hand, rules: HouseRules, line: HandLine | None) -> Due:
    if line is not None:
        return _paid(staked(hand, rules), line.price, 0, "blackjack", _LINE_PAYS)
    return _paid(staked(hand, rules), rules.blackjack, 0, "blackjack", _BLACKJACK_PAYS)


def _won(
    hand: Hand, dealer: Played, rules: HouseRules, line: HandLine | None, clauses: tuple[str, ...]
) -> Due:
    if line is not None:
        paid_beside = rules.has_bonus and not (hand.split or doubled_with(hand, rules))
        bonus = line.bonus(hand.stake, _up(dealer, rules)) if paid_beside else 0
        return _paid(staked(hand, rules), line.price, -bonus, "win", _LINE_PAYS)
    return _paid(staked(hand, rules), rules.win, 0, "win", clauses)


def _up(dealer: Played, rules: HouseRules) -> Card | None:
    at, cards = 0 if rules.dealer_first_card == "up" else 1, dealer.counted.cards
    return cards[at] if at < len(cards) else None


def _paid(
    stake: Cents, price: Price, taken: Cents, outcome: HandOutcome, clauses: tuple[str, ...]
) -> Due:
    """Pay a stake at a price, minus an earlier deduction."""
    won = price.won(stake)
    if price.is_exact(stake, won):
        return Due(outcome, won - taken, clauses)
    rounded = (*clauses, "payout.rounding")
    return Due(outcome, won - taken, rounded, odd_cents(price, stake, won))


def odd_cents(price: Price, stake: Cents, won: Cents) -> OddCents:
    """Return the exact winnings of a stake, with the amount paid."""
    return OddCents(exact=price.exactly(stake), paid=won)


def _against_blackjack(
    hand: Hand, rules: HouseRules, line: HandLine | None, *, insured: bool
) -> Due:
    lost = _SURRENDER_FALLS if hand.surrendered_seq else _BLACKJACK_TAKES
    if blackjack(hand, rules):
        if line is not None and line.wins:
            return _blackjack_paid(hand, rules, line)
        if insured and rules.insured_blackjack_loses:
            return Due("lose", -staked(hand, rules), ("insurance.both_blackjacks",))
        return _PUSH
    if rules.dealer_blackjack_collects_all:
        return Due("lose", -staked(hand, rules), lost)
    if hand.number:
        return _COLLECTED
    return Due("lose", -hand.stake, lost)


def _against_total(hand: Hand, dealer: Played, rules: HouseRules, line: HandLine | None) -> Due:
    player, house = hand.total(), dealer.counted.total()
    if dealer.outcome == "bust":
        if rules.pushes_22 and house == 22:
            return _PUSHES_22
        return _won(hand, dealer, rules, line, _DEALER_BREAKS)
    if player > house:
        return _won(hand, dealer, rules, line, _WINS)
    if player == house:
        return _PUSH
    return Due("lose", -staked(hand, rules), _LOSES)


def insurance_stake(placed: Cents, main: Cents, rules: HouseRules) -> Cents:
    """Return the insurance that counts: above the limit, the house's rule may cap it."""
    return min(placed, main // 2) if rules.caps_insurance else placed


def insurance_net(stake: Cents, dealer: Played, rules: HouseRules) -> Cents | None:
    """Return the gain of an insurance wager; ``None`` while the hole card is unknown."""
    if dealer.blackjack():
        return rules.insured.won(stake)
    return -stake if two_known(dealer.counted) else None
