"""The phases of a round, and which fact leads from one into the next: the one definition.

The engine follows the facts of a round twice: as it records them, and as it judges them. The
reconciler follows the facts that it states. A live table, its restart and the read model follow
the events of a journal.
"""

from typing import Any, Final, Literal, TypeAlias

from models.events import RulesStated
from settlement.facts import (
    CARD_DEALT,
    CARD_EXPOSED,
    DEALER,
    KINDS,
    PAYMENT_MADE,
    PLAYER_ACTED,
    ROUND_CALLED_OFF,
    ROUND_CLOSED,
    ROUND_OPENED,
    WAGER_PLACED,
)

Phase: TypeAlias = Literal["waiting", "wagers", "deal", "players", "dealer", "settling", "taken_up"]
"""``waiting``: no wager and no card. ``wagers``: wagers are open. ``deal``: the initial cards.
``players``: they decide. ``dealer``: the hole card was turned up, or the dealer drew a second card
where there is no hole card. ``settling``: a payment was made after that. ``taken_up``: the round is
closed, until the next one opens. A round that the floor called off is ``settling`` as well: its
wagers go back."""

WITH_HOLE_CARD: Final = 2
WITHOUT_HOLE_CARD: Final = 1
_EACH: Final = 2
"""Cards of the initial deal to a spot."""


class RoundPhases:
    """How far a round has come, by the facts so far.

    Args:
        dealer_dealt: how many cards of the initial deal are the dealer's.
    """

    def __init__(self, dealer_dealt: int = WITH_HOLE_CARD) -> None:
        self.dealer_dealt = dealer_dealt
        self._in_deal: dict[int, int] = {}
        """Cards that each spot got in the initial deal."""
        self.begin()

    def begin(self) -> None:
        """Start a round: nothing has happened in it."""
        self.opened = False
        """Whether its opening was observed."""
        self.dealt = False
        """Whether its first card has been dealt."""
        self.closed = False
        self.settling = False
        """Whether a payment was made after the dealer played, or the round was called off."""
        self._wagered = False
        self._dealer_plays = False
        self._deal_over = False
        self._dealer_cards = 0
        self._short = 0
        """Spots that have one card so far."""
        self._in_deal.clear()

    def follow(self, kind: int, spot: int) -> None:
        """Go on with one more fact; ``spot`` is where a card was dealt or turned up."""
        if kind == CARD_DEALT:
            self._card(spot)
        elif kind == PAYMENT_MADE:
            self.settling = self._dealer_plays
        elif kind == PLAYER_ACTED:
            self._deal_over = self.dealt
        elif kind == CARD_EXPOSED:
            self._dealer_plays = self._dealer_plays or spot == DEALER
        elif kind == WAGER_PLACED:
            self._wagered = True
        elif kind == ROUND_OPENED:
            if self.opened or self.dealt or self.closed:
                self.begin()
            self.opened = True
        elif kind == ROUND_CLOSED:
            self.closed = True
        elif kind == ROUND_CALLED_OFF:
            self.settling = self._dealer_plays = True

    def follow_event(self, event: Any) -> None:
        """Go on with the next event of a journal: a fact, or the rules that it is played by."""
        kind = KINDS.get(type(event), 0)
        if kind in (CARD_DEALT, CARD_EXPOSED):
            self.follow(kind, DEALER if event.to == "dealer" else event.to)
        elif kind:
            self.follow(kind, DEALER)
        elif isinstance(event, RulesStated):
            second = event.rules.get("dealer_second_card", "with_deal")
            self.dealer_dealt = WITH_HOLE_CARD if second == "with_deal" else WITHOUT_HOLE_CARD

    def kept(self) -> tuple[int, ...]:
        """Return all that is known of the round, to go on from at another time."""
        flags = (self.opened, self.dealt, self.closed, self.settling)
        more = (self._wagered, self._dealer_plays, self._deal_over)
        numbers = [self.dealer_dealt, *map(int, flags + more), self._dealer_cards, self._short]
        for spot, cards in self._in_deal.items():
            numbers += [spot, cards]
        return tuple(numbers)

    def go_on(self, kept: tuple[int, ...]) -> None:
        """Go on from what :meth:`kept` returned."""
        self.dealer_dealt = kept[0]
        self.opened, self.dealt, self.closed = kept[1] > 0, kept[2] > 0, kept[3] > 0
        self.settling, self._wagered = kept[4] > 0, kept[5] > 0
        self._dealer_plays, self._deal_over = kept[6] > 0, kept[7] > 0
        self._dealer_cards, self._short = kept[8], kept[9]
        self._in_deal = dict(zip(kept[10::2], kept[11::2], strict=True))

    @property
    def in_play(self) -> bool:
        """Whether the round was opened, and is not closed yet."""
        return self.opened and not self.closed

    @property
    def phase(self) -> Phase:
        """Where the round stands."""
        if self.closed:
            return "taken_up"
        if self.settling:
            return "settling"
        if self._dealer_plays:
            return "dealer"
        if self.dealt:
            return "players" if self._deal_over else "deal"
        return "wagers" if self.opened or self._wagered else "waiting"

    def _card(self, spot: int) -> None:
        self.dealt = True
        if spot == DEALER:
            self._dealer_cards += 1
            if self.dealer_dealt == WITHOUT_HOLE_CARD and self._dealer_cards > WITHOUT_HOLE_CARD:
                self._dealer_plays = True
        elif not self._deal_over:
            self._to_player(spot)
        if not self._short and self._dealer_cards >= self.dealer_dealt:
            self._deal_over = True

    def _to_player(self, spot: int) -> None:
        cards = self._in_deal[spot] = self._in_deal.get(spot, 0) + 1
        if cards == 1:
            self._short += 1
        elif cards == _EACH:
            self._short -= 1
        else:
            self._deal_over = True
