"""What the house's rules allow with a hand as it lies, asked of the code that judges it."""

from typing import TypeAlias

from models.cards import Card
from models.rulebook import Rulebook
from settlement import play
from settlement.dealer import must_draw
from settlement.hands import Counted, natural
from settlement.houserules import HouseRules
from settlement.state import Hand

Faces: TypeAlias = tuple[Card | None, ...]

_Lies: TypeAlias = tuple[Faces, bool, bool]


class Allowed:
    """What may be done with a hand; a face that nobody knows allows what some face would.

    Attributes:
        draws: whether it may take a card that its player did not ask for by an entry.
        draws_asked: the same of one that he asked for.
        doubles: whether it may be doubled, whatever the chips.
        surrenders: whether it may be given up.
        settles: whether it is settled before the dealer's hand is known.
        is_blackjack: whether its first two cards are paid as a blackjack.
    """

    def __init__(self, hand: Hand, house: HouseRules) -> None:
        self.draws = not play.closed_to_cards(hand, house)
        self.draws_asked = not play.closed_to_cards(hand, house, asked=True)
        self.doubles = play.double_fault(hand, house) is None
        self.surrenders = play.surrender_fault(hand, house) is None
        dealt = play.hand_with(hand.cards[:2], split=hand.split)
        self.is_blackjack = play.blackjack(dealt, house)
        won = self.is_blackjack or play.wins_outright(hand, house)
        self.settles = hand.busted() or won


class Moves:
    """The house's rules about moves. Each is asked once for all hands alike.

    Args:
        rules: the rulebook in force.
    """

    def __init__(self, rules: Rulebook) -> None:
        self._house = HouseRules(rules)
        self._known: dict[_Lies, Allowed] = {}

    def of(self, faces: Faces, *, split: bool = False, doubled: bool = False) -> Allowed:
        """Return what may be done with a hand.

        Args:
            faces: its cards.
            split: whether it comes from a split.
            doubled: whether it doubled, and has the card of that.
        """
        key = (faces, split, doubled)
        known = self._known.get(key)
        if known is None:
            hand = play.hand_with(faces, split=split, added=int(doubled))
            self._known[key] = known = Allowed(hand, self._house)
        return known

    def splits(self, faces: Faces, hands: int, *, split: bool) -> bool:
        """Return whether a hand may be split by a player who has so many hands on the spot."""
        return play.split_fault(play.hand_with(faces, split=split), self._house, hands) is None

    def insures(self, up: int) -> bool:
        """Return whether insurance is offered beside an up card of so many points, 0 for any."""
        return play.insures(up, self._house)

    def takes_even_money(self, faces: Faces, up: int) -> bool:
        """Return whether even money is offered for a hand beside an up card, as for insurance."""
        return play.takes_even_money(play.hand_with(faces), up, self._house)

    def dealer_draws(self, faces: Faces) -> bool | None:
        """Return whether the dealer takes another card; ``None`` where a card is not known."""
        if None in faces:
            return None
        counted = Counted()
        counted.recount(list(faces))
        return not natural(faces[:2]) and must_draw(counted, self._house)
