"""Mistakes in the deal, in the order of play and with the deck."""

from collections.abc import Iterable
from dataclasses import replace

from msgspec.structs import replace as replace_fact

from models import events as ev
from models.cards import Card, pack
from models.events import AnyFact
from models.rulebook import Rulebook
from tests.settlement.plain.game import Style
from tests.settlement.plain.reckoning import Hand, best, natural
from tests.settlement.plain.slips.clumsy import Clumsy, commits


@commits("deal_order")
class DealsOutOfOrder(Clumsy):
    """Two neighbours change places in one pass of the deal.

    A last spot served after the dealer's second card was skipped, which is another mistake.
    """

    early: ev.Dealt | None = None

    def dealing_order(self, turn: int) -> Iterable[ev.Dealt]:
        order: list[ev.Dealt] = [*self.hands, "dealer"]
        neighbours = len(order) - 1 - turn
        if self.pending and neighbours and self.chance(0.5):
            at = self.below(neighbours)
            order[at], order[at + 1] = order[at + 1], order[at]
            self.early, self.pending = order[at], False
        return order

    def deal_in(self, spot: int) -> None:
        super().deal_in(spot)
        if self.early == spot:
            self.commit(self.dealt_at, spot)
            self.early = None

    def deal_own(self, turn: int) -> None:
        super().deal_own(turn)
        if self.early == "dealer":
            self.commit(self.dealt_at)
            self.early = None


@commits("spot_skipped")
class SkipsASpot(Clumsy):
    """A spot with a wager is dealt nothing."""

    skipped = 0

    def dealing_order(self, turn: int) -> Iterable[ev.Dealt]:
        if self.pending and turn == 0 and len(self.hands) > 1:
            self.skipped = list(self.hands)[self.below(len(self.hands))]
            self.hands[self.skipped][0].done = True
        if self.skipped not in self.hands or not self.hands[self.skipped][0].done:
            return super().dealing_order(turn)
        after = [spot for spot in self.hands if spot > self.skipped]
        self.next = after[0] if after else "dealer"
        return [*(spot for spot in self.hands if spot != self.skipped), "dealer"]

    def deal_in(self, spot: int) -> None:
        super().deal_in(spot)
        self.passed(spot)

    def deal_own(self, turn: int) -> None:
        super().deal_own(turn)
        self.passed("dealer")

    def passed(self, to: ev.Dealt) -> None:
        """The first card to go past the spot is where it is told."""
        if self.pending and self.skipped and to == self.next:
            self.commit(self.dealt_at, self.skipped)

    def insure(self, spot: int, amount: int) -> None:
        if spot != self.skipped:
            super().insure(spot, amount)

    def open_round(self) -> None:
        self.skipped = 0
        super().open_round()


@commits("card_to_empty_spot")
class DealsToNobody(Clumsy):
    """A card comes to a spot on which no wager lies."""

    def deal_in(self, spot: int) -> None:
        if self.pending and self.chance(0.2):
            self.stray()
        super().deal_in(spot)

    def hit(self, hand: Hand) -> None:
        if self.pending and self.chance(0.2):
            self.stray()
        super().hit(hand)

    def stray(self) -> None:
        """Deal a card to a spot that is not played."""
        empty = next(spot for spot in range(1, 9) if spot not in self.hands)
        card = self.draw()
        self.commit(self.tell(ev.CardDealt(to=empty, card=card)), empty)


@commits("deal_face")
class DealsTheWrongFace(Clumsy):
    """A player's card lies the wrong way."""

    def deal_in(self, spot: int) -> None:
        if not (self.pending and self.chance(0.3)):
            super().deal_in(spot)
            return
        self.to_hand(self.hands[spot][0], "down" if self.rules.player_cards == "up" else "up")
        self.commit(self.dealt_at, spot, 0)


@commits("player_turn_order")
class ServesTheSecondFirst(Clumsy):
    """A spot is played before its neighbour, whose turn it is.

    Early surrender is no matter of turns.
    """

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.surrender != "early"

    def styled(self, style: Style) -> Style:
        return replace(super().styled(style), said=1.0)

    def play_players(self) -> None:
        order = list(self.hands)
        for at in range(len(order) - 1):
            one, other = (self.hands[spot][0] for spot in order[at : at + 2])
            if self.pending and self.waits(one) and self.waits(other):
                order[at], order[at + 1] = order[at + 1], order[at]
                self.pending = False
                self.swapped = other.spot
        for spot in order:
            mark = self.now
            self.play_spot(spot)
            if not self.pending and spot == self.swapped:
                self.commit(self.since(mark, ev.PlayerActed, ev.CardDealt)[0], spot, 0)
                self.swapped = 0

    swapped = 0

    def waits(self, hand: Hand) -> bool:
        """Tell whether its player has a decision before him."""
        return not hand.done and best(hand.cards) < 21


@commits("split_hand_order")
class ServesTheNewHandFirst(Clumsy):
    """The second of two split hands gets its card first."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.max_hands > 1

    def part(self, hand: Hand, new: Hand) -> None:
        super().part(hand, new)
        alone = len(self.hands[hand.spot]) == 2 and not self.one_card_only(hand)
        if self.pending and alone:
            self.to_hand(new)
            self.commit(self.dealt_at, new.spot, new.number)


@commits("face_up_card_used")
class UsesABoxedCard(Clumsy):
    """A card found face up in the shoe is dealt all the same."""

    boxes = False

    def draw(self) -> Card:
        card = super().draw()
        if self.boxes:
            self.tell(ev.CardBoxed(card=card))
        return card

    def to_hand(self, hand: Hand, face: ev.Face = "up") -> Card:
        self.boxes = self.pending and self.chance(0.05) and (face == "up" or self.style.reads_down)
        card = super().to_hand(hand, face)
        self.dealt(hand.spot)
        return card

    def to_dealer(self, face: ev.Face = "up") -> Card:
        self.boxes = self.pending and self.chance(0.05) and (face == "up" or self.style.reads_down)
        card = super().to_dealer(face)
        self.dealt(None)
        return card

    def dealt(self, spot: int | None) -> None:
        """The card has come to where it should not be."""
        if self.boxes:
            self.boxes = False
            self.commit(self.dealt_at, spot)


@commits("impossible_card")
class DealsOneTooMany(Clumsy):
    """A face comes once more than the decks hold it."""

    def load(self) -> None:
        deck = pack(self.rules.pack_without)
        self.face = deck[self.below(len(deck))]
        self.left = self.rules.decks
        super().load()
        self.cards.sort(key=lambda card: card is self.face)

    def burn(self, count: int) -> None:
        self.cards.sort(key=lambda card: card is not self.face)
        super().burn(count)
        self.cards.sort(key=lambda card: card is self.face)

    def styled(self, style: Style) -> Style:
        return replace(super().styled(style), reads_down=True)

    def draw(self) -> Card:
        card = super().draw()
        if self.pending and not self.left and self.chance(0.2):
            self.cards.append(card)
            self.surplus, self.pending = True, False
            self.cards = self.cards[-30:]
            return self.face
        self.left -= card is self.face
        return card

    surplus = False

    def to_hand(self, hand: Hand, face: ev.Face = "up") -> Card:
        card = super().to_hand(hand, face)
        self.dealt(hand.spot)
        return card

    def to_dealer(self, face: ev.Face = "up") -> Card:
        card = super().to_dealer(face)
        self.dealt(None)
        return card

    def dealt(self, spot: int | None) -> None:
        """The surplus card lies on the felt."""
        if self.surplus:
            self.surplus = False
            self.commit(self.dealt_at, spot)


@commits("foreign_card")
class TurnsUpAnother(Clumsy):
    """The hole card turned up is not the one that was dealt there; it counts as much."""

    def styled(self, style: Style) -> Style:
        return replace(super().styled(style), reads_down=True)

    def turn_hole(self) -> None:
        if not self.pending or self.hole_shown:
            super().turn_hole()
            return
        lying = 1 if self.rules.dealer_first_card == "up" else 0
        worth = self.hole.points
        deck = pack(self.rules.pack_without)
        others = [card for card in deck if card not in self.dealer and card.points == worth]
        self.dealer[lying] = self.hole = others[self.below(len(others))]
        super().turn_hole()
        self.commit(self.now)


@commits("hole_card_misread")
class MisreadsTheHoleCard(Clumsy):
    """The dealer reports a blackjack that he does not have, or misses the one he has."""

    def styled(self, style: Style) -> Style:
        return replace(super().styled(style), peek=True)

    def deal_own(self, turn: int) -> None:
        if self.pending and self.chance(0.7):
            self.wish(lambda card: card.points == (1 if turn else 10))
        super().deal_own(turn)

    def look(self) -> None:
        if not self.pending:
            super().look()
            return
        self.checked = not natural(self.dealer)
        self.commit(self.tell(ev.HoleCardChecked(blackjack=self.checked)))


@commits("wrong_deck_count")
class ShufflesAnotherDeck(Clumsy):
    """A shoe of more or fewer decks than the house says is told of; the cards are as ever."""

    def tell(self, fact: AnyFact) -> int:
        if self.pending and isinstance(fact, ev.ShoeStarted):
            seq = super().tell(replace_fact(fact, decks=8 if fact.decks < 8 else 7))
            self.commit(seq)
            return seq
        return super().tell(fact)


@commits("burn_missing")
class ForgetsToBurn(Clumsy):
    """No card goes to the rack after the shuffle."""

    first = False

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.burn_after_shuffle > 0 and rules.shoe == "dealt_out"

    def burn(self, count: int) -> None:
        if self.pending:
            self.pending, self.first = False, True
            super().burn(self.below(self.rules.burn_after_shuffle))
        else:
            super().burn(count)

    def deal(self) -> None:
        super().deal()
        if self.first:
            self.first = False
            self.commit(self.since(self.told, ev.CardDealt)[0])


@commits("dealt_past_cut_card")
class IgnoresTheCutCard(Clumsy):
    """One more round is dealt from a shoe that is through."""

    first = False

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.shoe == "dealt_out"

    def before_round(self) -> None:
        if self.pending and self.cut_out and self.round and len(self.cards) > 60:
            self.pending, self.first = False, True
        else:
            super().before_round()

    def shuffle(self) -> None:
        super().shuffle()
        self.cut_at = len(self.cards) - 20

    def deal(self) -> None:
        super().deal()
        if self.first:
            self.first = False
            self.commit(self.since(self.told, ev.CardDealt)[0])
