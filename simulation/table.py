"""The table between rounds: its shoe, its seats, and the script written so far."""

from collections.abc import Sequence
from random import Random
from typing import Final

from models.cards import Card
from models.events import (
    AnyFact,
    CardBurned,
    CutCardReached,
    PlayerLeft,
    PlayerSeated,
    RoundOpened,
    ShoeStarted,
    WagerPlaced,
)
from models.money import Cents
from models.rulebook import Rulebook
from models.side_bet import SideBet
from settlement.houserules import HouseRules
from simulation.shoe import Shoe
from simulation.steps import Step

_UNITS: Final = (1, 2, 2, 3, 4, 5, 6, 10)
"""Wagers come in these multiples of the table's minimum."""
_SIDE_UNIT: Final = 500
"""Cents: the least side bet of a player where the house sets none."""
_LAYS_A_SIDE_BET: Final = 0.5
"""The share of hands with a side bet; not measured."""


class Table:
    """One table under one rulebook, dealt from a seed."""

    def __init__(
        self,
        rules: Rulebook,
        spots: Sequence[int],
        seed: int,
        *,
        empty: Sequence[int] = (),
        peek: bool = True,
    ) -> None:
        self.rules, self.house = rules, HouseRules(rules)
        self.spots = tuple(sorted(spots))
        self.empty = tuple(empty)
        """Spots of the felt without a player."""
        self.peek = peek
        """Whether the dealer checks under an ace or a ten before the players act."""
        self.steps: list[Step] = []
        self.round = 0
        self.chance = Random(f"{seed}:play")
        self._cards = Random(f"{seed}:cards")
        self.seats = _seats(self.spots, rules, self.chance)
        self.habits = {spot: self._habit(spot) for spot in self.spots}
        self.shoe = self._fresh_shoe()

    def write(
        self,
        fact: AnyFact,
        card: Card | None = None,
        *,
        console: bool = False,
        at_hand: bool = False,
    ) -> None:
        """Add one step to the script."""
        self.steps.append(Step(fact, card, console, at_hand))

    def reseat(self, seats: dict[str, tuple[int, ...]]) -> None:
        """Change the players' seats between two rounds."""
        for player, spots in self.seats.items():
            if seats.get(player) != spots:
                self.write(PlayerLeft(player=player, spots=spots), console=True)
        for player, spots in seats.items():
            if self.seats.get(player) != spots:
                self.write(PlayerSeated(player=player, spots=spots), console=True)
        self.seats = seats
        self.habits = {spot: self._habit(spot) for spot in self.spots}

    def sit_down(self) -> None:
        """Seat the players and start the first shoe."""
        self.start_shoe(fresh=False)
        for player, spots in self.seats.items():
            self.write(PlayerSeated(player=player, spots=spots), console=True)

    def start_shoe(
        self, *, fresh: bool = True, burns: int | None = None, decks: int | None = None
    ) -> None:
        """Shuffle the rulebook's decks (or ``decks``), and burn its cards (or ``burns``)."""
        if fresh:
            self.shoe = self._fresh_shoe(decks)
        self.write(ShoeStarted(decks=self.shoe.decks), console=True)
        for _ in range(self.rules.burn_after_shuffle if burns is None else burns):
            self.burn()

    def start_afresh(self) -> None:
        """Shuffle, unless no card has left the shoe yet."""
        if self.shoe.out:
            self.start_shoe()

    def take_up(self) -> None:
        """Clear the felt of a round that is over: a continuous shuffler gets its cards back."""
        if not self.deals_out:
            self.shoe = self._fresh_shoe(self.shoe.decks)

    def rested(self) -> bool:
        """Return whether a spot sat out the last round."""
        opened = max(n for n, step in enumerate(self.steps) if isinstance(step.fact, RoundOpened))
        played = {
            step.fact.spot
            for step in self.steps[opened:]
            if isinstance(step.fact, WagerPlaced) and step.fact.kind == "main"
        }
        return not played >= set(self.spots)

    def burn(self) -> None:
        """Burn one card to the discard rack."""
        card = self.draw()
        self.write(CardBurned(card=card), card, console=True)

    def draw(self, wish: str = "*") -> Card:
        """Take a card from the shoe, reporting the cut card when it comes out before it."""
        if self.shoe.cut_card_due():
            self.write(CutCardReached(), console=not self.has_shoe)
        return self.shoe.draw(wish)

    @property
    def has_shoe(self) -> bool:
        """Whether cards come from a reading shoe; nothing reads hand-held decks."""
        return self.rules.player_cards == "up"

    @property
    def deals_out(self) -> bool:
        """Whether cards stay out until the shuffle, which a cut card announces."""
        return self.rules.shoe == "dealt_out"

    def minimum(self, spot: int) -> Cents:
        """Return the least wager on ``spot``, by the number of its player's spots."""
        held = next(len(spots) for spots in self.seats.values() if spot in spots)
        multiples = self.rules.multi_spot_min_multiple
        reached = [multiple for count, multiple in multiples.items() if count <= held]
        return self.rules.table_min * max(reached, default=1)

    def _habit(self, spot: int) -> Cents:
        wager = self.minimum(spot) * self.chance.choice(_UNITS)
        return wager if self.rules.table_max is None else min(wager, self.rules.table_max)

    def wager(self, spot: int) -> Cents:
        """Return the present wager of a spot's player: usually the same amount."""
        if self.chance.random() < 0.3:
            self.habits[spot] = self._habit(spot)
        return self.habits[spot]

    @property
    def side_bet(self) -> SideBet | None:
        """The side bet that players may lay; of several a bet plate does not tell which one."""
        bets = tuple(self.rules.side_bets.values())
        return bets[0] if len(bets) == 1 else None

    def side_wager(self, main: Cents, *, always: bool = False) -> Cents:
        """Return what a player lays on the side bet beside a main wager; 0 where nothing."""
        bet = self.side_bet
        if bet is None or not (always or self.chance.random() < _LAYS_A_SIDE_BET):
            return 0
        least = bet.min or _SIDE_UNIT
        wager = least * self.chance.choice(_UNITS)
        share = bet.most_of_main
        limits = (bet.max, None if share is None else main * share.pays // share.per)
        wager = min([wager, *(limit for limit in limits if limit is not None)])
        return wager if wager >= least else 0

    def _fresh_shoe(self, decks: int | None = None) -> Shoe:
        penetration = 0.75 if self.rules.decks > 2 else 0.55
        if not self.deals_out:
            penetration = 1.0  # Without a cut card.
        decks = decks or self.rules.decks
        return Shoe(decks, self._cards, deck=self.house.deck, penetration=penetration)


def _seats(spots: tuple[int, ...], rules: Rulebook, chance: Random) -> dict[str, tuple[int, ...]]:
    """Give every spot a player; occasionally one player holds two neighbouring spots."""
    several = rules.max_spots_per_player is None or rules.max_spots_per_player > 1
    shared = chance.randrange(len(spots) - 1) if len(spots) > 2 and chance.random() < 0.3 else -1
    held: list[tuple[int, ...]] = []
    for at, spot in enumerate(spots):
        if several and shared >= 0 and at == shared + 1:
            held[-1] = (*held[-1], spot)
        else:
            held.append((spot,))
    return {f"P{number}": own for number, own in enumerate(held, start=1)}
