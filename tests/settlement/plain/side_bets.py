"""Side bets at a random table, paid by their printed pay tables alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from models import events as ev
from models.cards import Card
from models.money import Odds
from models.rulebook import Rulebook
from tests.settlement.plain.game import Game, Played, Style
from tests.settlement.plain.reckoning import best, dealer_draws, hard, live, natural, pays

_ORDER: Final = "23456789TJQKA"
Prize = Callable[[Sequence[Card], Card, Sequence[Card]], int | Odds]
"""What a bet pays for one, for the player's two cards, the up card and the dealer's hand; 0: it
loses."""


def perfect_pairs(perfect: int, coloured: int, mixed: int) -> Prize:
    """Two of a rank: of one suit, of one colour, or of neither."""

    def prize(own: Sequence[Card], _: Card, __: Sequence[Card]) -> int:
        one, other = own
        if one.rank != other.rank:
            return 0
        if one.suit == other.suit:
            return perfect
        return coloured if {one.suit, other.suit} in ({"H", "D"}, {"S", "C"}) else mixed

    return prize


def three_card_poker(
    suited_trips: int, straight_flush: int, trips: int, straight: int, flush: int
) -> Prize:
    """The player's two cards and the up card as a hand of poker."""

    def prize(own: Sequence[Card], up: Card, _: Sequence[Card]) -> int:
        cards = [*own, up]
        of_a_suit = len({card.suit for card in cards}) == 1
        ranks = "".join(sorted((card.rank for card in cards), key=_ORDER.index))
        if ranks[0] == ranks[2]:
            return suited_trips if of_a_suit else trips
        if ranks in _ORDER or ranks == "23A":
            return straight_flush if of_a_suit else straight
        return flush if of_a_suit else 0

    return prize


def lucky_ladies(queens: int, matched: int, suited: int) -> Prize:
    """A first total of 20."""

    def prize(own: Sequence[Card], _: Card, dealer: Sequence[Card]) -> int:
        if best(own) != 20:
            return 0
        if list(own) == [Card.QH, Card.QH]:
            return 1000 if natural(dealer) else queens
        if own[0] is own[1]:
            return matched
        return suited if own[0].suit == own[1].suit else 4

    return prize


def royal_match(royal: int, easy: Odds) -> Prize:
    """Two of a suit; a king and a queen of a suit."""

    def prize(own: Sequence[Card], _: Card, __: Sequence[Card]) -> int | Odds:
        if own[0].suit != own[1].suit:
            return 0
        return royal if {own[0].rank, own[1].rank} == {"K", "Q"} else easy

    return prize


def buster(_: Sequence[Card], __: Card, dealer: Sequence[Card]) -> int:
    """The dealer breaks, the more cards the better."""
    if hard(dealer) <= 21:
        return 0
    return {3: 2, 4: 2, 5: 4, 6: 12, 7: 50}.get(len(dealer), 250)


def in_between(spread_of_one: int) -> Prize:
    """The up card lies between the player's two; or all three are of a rank."""

    def prize(own: Sequence[Card], up: Card, _: Sequence[Card]) -> int:
        low, high = sorted(_ORDER.index(card.rank) for card in own)
        middle = _ORDER.index(up.rank)
        if low == middle == high:
            return 30
        if not low < middle < high:
            return 0
        return {1: spread_of_one, 2: 6, 3: 4}.get(high - low - 1, 1)

    return prize


def over(own: Sequence[Card], _: Card, __: Sequence[Card]) -> int:
    """More than 13, aces as 1."""
    return int(hard(own) > 13)


def under(own: Sequence[Card], _: Card, __: Sequence[Card]) -> int:
    """Less than 13, aces as 1."""
    return int(hard(own) < 13)


PAY_TABLES: Final[dict[str, Prize]] = {
    "perfect-pairs-25-12-6": perfect_pairs(25, 12, 6),
    "perfect-pairs-30-10-5": perfect_pairs(30, 10, 5),
    "21+3-9": three_card_poker(9, 9, 9, 9, 9),
    "21+3-100-35-33-10-5": three_card_poker(100, 35, 33, 10, 5),
    "lucky-ladies-1000-125-19-9-4": lucky_ladies(125, 19, 9),
    "lucky-ladies-1000-200-25-10-4": lucky_ladies(200, 25, 10),
    "royal-match-25-5to2": royal_match(25, Odds(5, 2)),
    "royal-match-10-3": royal_match(10, Odds(3, 1)),
    "buster-250-50-12-4-2": buster,
    "in-between-30-12-6-4-1": in_between(12),
    "in-between-30-10-6-4-1": in_between(10),
    "over-13": over,
    "under-13": under,
}

_WAITS_FOR_DEALER: Final = ("lucky", "buster")
_PLAYED_OUT: Final = "buster"


@dataclass(frozen=True, slots=True)
class WithSides:
    """A round, what its side bets gain by spot and bet, and the wrong ones among them."""

    played: Played
    sides: dict[tuple[int, str], tuple[int, int]]
    """Stake and gain."""
    wrong: tuple[int, str] | None


class SideGame(Game):
    """A table whose players bet on the side.

    Args:
        rules: the house's; its bets have the names of :data:`PAY_TABLES`.
        seed: for the table.
        wrong: how often a side bet is paid a cent wrong.
    """

    def __init__(
        self,
        rules: Rulebook,
        seed: int | str,
        *,
        wrong: float = 0.0,
        style: Style | None = None,
    ) -> None:
        super().__init__(rules, seed, style=style)
        self.often_wrong = wrong

    def play(self) -> Played:
        """Play one round."""
        self.side: dict[tuple[int, str], int] = {}
        self.side_paid: dict[tuple[int, str], int] = {}
        self.first: dict[int, list[Card]] = {}
        self.wrong: tuple[int, str] | None = None
        return super().play()

    def play_with_sides(self) -> WithSides:
        """Play one round."""
        played = self.play()
        return WithSides(played, self.all_sides(), self.wrong)

    def all_sides(self) -> dict[tuple[int, str], tuple[int, int]]:
        """Return the stake and the gain of each side bet."""
        return {place: (stake, self.side_due(*place)) for place, stake in self.side.items()}

    def lay_wager(self, spot: int, amount: int) -> None:
        """Lay the main wager, and side bets."""
        super().lay_wager(spot, amount)
        self.lay_sides(spot)

    def lay_sides(self, spot: int) -> None:
        """Lay side bets."""
        for bet in self.rules.side_bets:
            if self.chance(0.4):
                stake = 1 + self.below(3000)
                self.side[spot, bet] = stake
                for part in self.in_parts(stake):
                    self.tell(ev.WagerPlaced(spot=spot, kind="side", amount=part, bet=bet))

    def before_play(self) -> None:
        """Note the first two cards: a split parts them later."""
        self.first = {spot: list(own[0].cards) for spot, own in self.hands.items()}
        if self.style.payments == "prompt" and self.rules.player_cards == "up" and self.chance(0.5):
            for spot, bet in self.side:
                if not bet.startswith(_WAITS_FOR_DEALER):
                    self.pay_side(spot, bet)
        super().before_play()

    def play_dealer(self) -> None:
        """Show the second card to a bet that waits for it, and play the hand out for one."""
        bets = [bet for spot, bet in self.side if not self.is_off(spot)]
        if not any(bet.startswith(_WAITS_FOR_DEALER) for bet in bets):
            super().play_dealer()
            return
        if self.no_hole_card:
            self.to_dealer()
        else:
            self.turn_hole()
        played_out = any(bet.startswith(_PLAYED_OUT) for bet in bets)
        if played_out or any(live(hand, self.rules) for hand in self.all_hands()):
            while dealer_draws(self.dealer, self.rules):
                self.to_dealer()

    def settle(self) -> None:
        """Settle the side bets that wait, then the rest."""
        if self.style.payments != "none":
            for spot, bet in self.side:
                self.pay_side(spot, bet)
        super().settle()

    def is_off(self, spot: int) -> bool:
        """Tell whether every hand of a spot was called off: here none ever is."""
        return not self.hands[spot]

    def side_due(self, spot: int, bet: str) -> int:
        """Return what a side bet gains."""
        if self.is_off(spot):
            return 0
        stake = self.side[spot, bet]
        found = PAY_TABLES[bet](self.first[spot], self.up, self.dealer)
        if found == 0:
            return -stake
        odds = found if isinstance(found, Odds) else Odds(found, 1)
        return pays(stake, odds, self.rules)

    def pay_side(self, spot: int, bet: str) -> None:
        """Pay or take a side bet once, now and then a cent wrong."""
        if (spot, bet) in self.side_paid:
            return
        amount = self.side_due(spot, bet)
        if self.wrong is None and self.chance(self.often_wrong):
            amount += 1 if self.chance(0.5) else -1
            self.wrong = spot, bet
        self.side_paid[spot, bet] = amount
        for part in self.in_parts(amount):
            self.tell(ev.PaymentMade(spot=spot, kind="side", amount=part, bet=bet))
        self.tray -= amount
