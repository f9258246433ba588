"""A table at which one mistake is made, at a moment that chance chooses, and no other."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Final, TypeVar

from models.cards import Card
from models.events import AnyFact
from models.rulebook import Rulebook
from tests.settlement.plain.game import Game, Played, Style, style_of
from tests.settlement.plain.reckoning import Hand

Fits = Callable[[Card], bool]


class Clumsy(Game):
    """A game in which a mistake is yet to be made; a class for each way to make it."""

    code = ""
    least_spots = 1

    def __init__(self, rules: Rulebook, seed: int | str, code: str) -> None:
        style = self.styled(style_of(Random(f"{seed}:style")))
        super().__init__(rules, seed, spots=5, style=style)
        self.code = code
        self.pending = True
        """Whether the mistake is still to be made."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        """Tell whether this house makes it a mistake, and lets it come about."""
        return True

    def styled(self, style: Style) -> Style:
        """Choose what is told of the table: enough to see the mistake."""
        return replace(style, marked=True, shoe_seen=True, late=False)

    def rounds_until_made(self, most: int = 60) -> Iterator[Played]:
        """Play until the mistake is made, and two rounds on."""
        for _ in range(most):
            yield self.play()
            if not self.pending:
                break
        yield from self.rounds(2)

    def commit(self, seq: int, spot: int | None = None, hand: int | None = None) -> None:
        """Note the mistake that was just made."""
        self.found.append((self.code, seq, spot, hand))
        self.pending = False

    @property
    def voids(self) -> bool:
        """Whether the house takes back an option granted against its rules."""
        return self.rules.policy.illegal_option == "void"

    def since(self, mark: int, *kinds: type[AnyFact]) -> list[int]:
        """Return the numbers of the facts of these kinds told after number ``mark``."""
        told = enumerate(self.facts, self.told + 1)
        return [seq for seq, fact in told if seq > mark and isinstance(fact, kinds)]

    def wish(self, fits: Fits) -> None:
        """Have the next card be one that fits, where the shoe still holds one."""
        for at in range(len(self.cards) - 1, -1, -1):
            if fits(self.cards[at]):
                self.cards[at], self.cards[-1] = self.cards[-1], self.cards[at]
                return

    def extra_card(self, hand: Hand) -> None:
        """Deal a hand a card that it may not take."""
        self.to_hand(hand)
        self.commit(self.dealt_at, hand.spot, hand.number)
        if self.rules.policy.extra_player_card == "burn":
            hand.cards.pop()


Way = TypeVar("Way", bound=type[Clumsy])

WAYS: Final[dict[str, type[Clumsy]]] = {}
"""For every violation code, the way in which it is committed."""


def commits(*codes: str) -> Callable[[Way], Way]:
    """Enter a class as the way to commit these codes."""

    def enter(way: Way) -> Way:
        WAYS.update(dict.fromkeys(codes, way))
        return way

    return enter
