"""Splits, doubles, insurance and surrenders that the house does not have."""

from dataclasses import replace

from models import events as ev
from models.cards import Card
from models.rulebook import Rulebook
from tests.settlement.plain.game import Style
from tests.settlement.plain.reckoning import Hand, best, hard, natural
from tests.settlement.plain.slips.clumsy import Clumsy, commits


class SplitsWrongly(Clumsy):
    """A hand is split that may not be."""

    wrong: Hand | None = None

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.max_hands > 1

    def may_wrongly(self, hand: Hand) -> bool:
        """Tell whether a split would be the mistake asked for."""
        raise NotImplementedError

    def decide(self, hand: Hand) -> None:
        if self.pending and len(hand.cards) == 2 and self.may_wrongly(hand):
            self.split_wrongly(hand)
        else:
            super().decide(hand)

    def play_ace(self, hand: Hand) -> None:
        if self.pending and self.may_wrongly(hand):
            self.split_wrongly(hand)
        else:
            super().play_ace(hand)

    def split_wrongly(self, hand: Hand) -> None:
        """Part the hand; the new one's wager may not count."""
        mark, self.pending = self.now, False
        new = self.split(hand)
        self.commit(self.since(mark, ev.PlayerActed)[0], hand.spot, hand.number)
        if self.voids:
            new.void = new.stake


@commits("split_not_pair")
class SplitsNoPair(SplitsWrongly):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return True

    def may_wrongly(self, hand: Hand) -> bool:
        unlike = hand.cards[0].points != hand.cards[1].points
        return unlike and best(hand.cards) < 21


@commits("split_unequal_rank")
class SplitsUnlikeRanks(SplitsWrongly):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.split_match == "rank"

    def may_wrongly(self, hand: Hand) -> bool:
        one, other = hand.cards
        return one.points == other.points and one.rank != other.rank


@commits("too_many_hands")
class SplitsTooOften(SplitsWrongly):
    """Like cards come to one spot until it has a hand too many."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.max_hands <= 4 * rules.decks - 2

    def to_hand(self, hand: Hand, face: ev.Face = "up") -> Card:
        if self.pending and hand.spot == min(self.hands) and len(hand.cards) < 2:
            like = hand.cards[0].rank if hand.cards else "8"
            self.wish(lambda card: card.rank == like)
        return super().to_hand(hand, face)

    def may_split(self, hand: Hand) -> bool:
        return super().may_split(hand) and (self.pending or len(self.hands[hand.spot]) == 1)

    def may_wrongly(self, hand: Hand) -> bool:
        alike = hand.cards[0].rank == hand.cards[1].rank and hand.cards[0].points != 1
        return alike and len(self.hands[hand.spot]) == self.rules.max_hands


@commits("resplit_aces_not_allowed")
class SplitsAcesAgain(SplitsWrongly):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.max_hands > 1 and not rules.resplit_aces

    def to_hand(self, hand: Hand, face: ev.Face = "up") -> Card:
        if self.pending and hand.spot == min(self.hands) and len(hand.cards) < 2:
            self.wish(lambda card: card.rank == "A")
        return super().to_hand(hand, face)

    def may_wrongly(self, hand: Hand) -> bool:
        return hand.of_aces and hand.cards[1].points == 1


@commits("split_wager_mismatch")
class LaysAnotherWager(Clumsy):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.max_hands > 1

    def lay_split(self, new: Hand) -> None:
        if not self.pending or new.stake < 2:
            super().lay_split(new)
            return
        other = 1 + self.below(new.stake - 1)
        new.stake = other if self.chance(0.5) else new.stake + other
        super().lay_split(new)
        self.commit(self.now, new.spot, new.number)


class DoublesWrongly(Clumsy):
    """A hand is doubled that may not be."""

    def may_wrongly(self, hand: Hand) -> bool:
        """Tell whether a double would be the mistake asked for."""
        raise NotImplementedError

    def decide(self, hand: Hand) -> None:
        if self.pending and len(self.cards) > 20 and self.may_wrongly(hand) and self.chance(0.5):
            self.double_wrongly(hand)
        else:
            super().decide(hand)

    def play_ace(self, hand: Hand) -> None:
        if self.pending and self.may_wrongly(hand):
            self.double_wrongly(hand)
        else:
            super().play_ace(hand)

    def double_wrongly(self, hand: Hand) -> None:
        """Double; where that is void the chips go back, and the card of a complete hand."""
        mark, self.pending = self.now, False
        complete = best(hand.cards) == 21 or self.one_card_only(hand)
        self.lay_double(hand, hand.stake)
        first = self.since(mark, ev.WagerPlaced, ev.PlayerActed)[0]
        self.commit(first, hand.spot, hand.number)
        self.to_hand(hand)
        hand.done = True
        if self.voids:
            hand.void += hand.added
            if complete:
                hand.cards.pop()
        self.after_card(hand)

    def splits_double(self, hand: Hand) -> bool:
        """Tell whether the hand's being split forbids no double."""
        if hand.of_aces and not self.rules.double_split_aces:
            return False
        return not hand.split or self.rules.double_after_split


@commits("double_total_not_allowed")
class DoublesTheWrongTotal(DoublesWrongly):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.double_on not in ("any_number", "any_two")

    def may_wrongly(self, hand: Hand) -> bool:
        two = len(hand.cards) == 2 and not (natural(hand.cards) and not hand.split)
        return two and self.splits_double(hand) and not self.doubles_on(hand.cards)


@commits("double_not_first_two")
class DoublesTooLate(DoublesWrongly):
    """A hand is doubled on three cards or more, or a split hand on its one card."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.double_on != "any_number"

    def play_hand(self, hand: Hand) -> None:
        one = hand.split and len(hand.cards) == 1 and not hand.of_aces
        if self.pending and one and self.splits_double(hand) and self.chance(0.5):
            self.double_wrongly(hand)
            if not self.voids and hard(hand.cards) < 21 and self.chance(0.5):
                self.to_hand(hand)
                self.after_card(hand)
        else:
            super().play_hand(hand)

    def may_wrongly(self, hand: Hand) -> bool:
        return len(hand.cards) > 2 and best(hand.cards) < 21 and self.splits_double(hand)


@commits("double_after_split_not_allowed")
class DoublesASplitHand(DoublesWrongly):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.max_hands > 1 and not rules.double_after_split

    def may_wrongly(self, hand: Hand) -> bool:
        two = len(hand.cards) == 2 and best(hand.cards) < 21
        return two and hand.split and not hand.of_aces


@commits("double_split_aces")
class DoublesASplitAce(DoublesWrongly):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.max_hands > 1 and not rules.double_split_aces

    def deal_in(self, spot: int) -> None:
        if self.pending and spot == min(self.hands):
            self.wish(lambda card: card.rank == "A")
        super().deal_in(spot)

    def may_wrongly(self, hand: Hand) -> bool:
        return hand.of_aces and len(hand.cards) == 2 and best(hand.cards) < 21


@commits("double_on_blackjack")
class DoublesABlackjack(DoublesWrongly):
    def may_wrongly(self, hand: Hand) -> bool:
        return natural(hand.cards) and not hand.split and not hand.settled


@commits("double_over_original", "double_for_less_not_allowed")
class DoublesForAnotherAmount(Clumsy):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        less = code == "double_for_less_not_allowed"
        return rules.double_on != "none" and not (less and rules.double_for_less)

    def lay_double(self, hand: Hand, amount: int) -> None:
        if not self.pending or hand.stake < 2:
            super().lay_double(hand, amount)
            return
        more, mark = 1 + self.below(hand.stake - 1), self.now
        over = self.code == "double_over_original"
        super().lay_double(hand, hand.stake + more if over else hand.stake - more)
        if self.voids:
            hand.void += more if over else hand.added
        last = self.since(mark, ev.WagerPlaced)[-1]
        self.commit(last, hand.spot, hand.number)


# --- insurance ----------------------------------------------------------------------------


@commits("insurance_not_offered")
class InsuresAgainstNothing(Clumsy):
    """Insurance is taken where there is none."""

    def before_play(self) -> None:
        spot, (hand,) = next(iter(self.hands.items()))
        if (
            self.pending
            and hand.stake > 1
            and (self.up.points != 1 or self.rules.insurance == "none")
        ):
            mark = self.now
            self.insure(spot, hand.stake // 2)
            self.commit(mark + 1, spot)
            if self.voids:
                self.insured.pop(spot, None)
        super().before_play()


class AceUp(Clumsy):
    """The dealer shows an ace until the mistake is made."""

    def deal_own(self, turn: int) -> None:
        if self.pending and (turn == 0) == (self.rules.dealer_first_card == "up"):
            self.wish(lambda card: card.points == 1)
        super().deal_own(turn)


@commits("insurance_over_half", "insurance_not_half")
class InsuresForAnotherAmount(AceUp):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.insurance == "exactly_half" or (
            code == "insurance_over_half" and rules.insurance == "up_to_half"
        )

    def insure(self, spot: int, amount: int) -> None:
        stake = self.hands[spot][0].stake
        if not self.pending or stake < 4:
            super().insure(spot, amount)
            return
        more = 1 + self.below(stake // 2 - 1)
        over = self.code == "insurance_over_half"
        self.insured[spot] = stake // 2 + more if over else stake // 2 - more
        for part in self.in_parts(self.insured[spot]):
            self.tell(ev.WagerPlaced(spot=spot, kind="insurance", amount=part))
        self.commit(self.now, spot)


@commits("insurance_late")
class InsuresTooLate(AceUp):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.insurance != "none"

    def hit(self, hand: Hand) -> None:
        super().hit(hand)
        stake = self.hands[hand.spot][0].stake
        free = hand.spot not in self.insured and stake > 1
        if self.pending and free and self.up.points == 1 and not self.hole_shown:
            for part in self.in_parts(stake // 2):
                self.tell(ev.WagerPlaced(spot=hand.spot, kind="insurance", amount=part))
                if self.pending:
                    self.commit(self.now, hand.spot)
            if not self.voids:
                self.insured[hand.spot] = stake // 2


# --- surrender and even money -------------------------------------------------------------


class SurrendersWrongly(Clumsy):
    """A hand is given up that may not be."""

    def may_wrongly(self, hand: Hand) -> bool:
        """Tell whether a surrender would be the mistake asked for."""
        raise NotImplementedError

    def decide(self, hand: Hand) -> None:
        if self.pending and best(hand.cards) < 21 and self.may_wrongly(hand):
            self.say(hand, "surrender")
            self.commit(self.now, hand.spot, hand.number)
            hand.done, hand.surrendered = True, not self.voids
        else:
            super().decide(hand)


@commits("surrender_not_offered")
class SurrendersForNothing(SurrendersWrongly):
    """A hand is given up where the house has no surrender, or before its second card."""

    def deal_in(self, spot: int) -> None:
        (hand,) = self.hands[spot]
        if self.pending and hand.cards and self.chance(0.1):
            self.say(hand, "surrender")
            self.commit(self.now, spot, 0)
            hand.done, hand.surrendered = True, not self.voids
            if hand.surrendered and self.chance(0.5):
                return
        super().deal_in(spot)

    def may_wrongly(self, hand: Hand) -> bool:
        return self.rules.surrender == "none" and self.chance(0.5)


@commits("surrender_after_action")
class SurrendersTooLate(SurrendersWrongly):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.surrender != "none"

    def may_wrongly(self, hand: Hand) -> bool:
        unsplit = not hand.split or self.rules.surrender_after_split
        return unsplit and len(hand.cards) > 2


@commits("surrender_after_split")
class SurrendersASplitHand(SurrendersWrongly):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        offered = rules.surrender != "none" and rules.max_hands > 1
        return offered and not rules.surrender_after_split

    def may_wrongly(self, hand: Hand) -> bool:
        return hand.split


@commits("surrender_vs_dealer_blackjack")
class SurrendersToABlackjack(SurrendersWrongly):
    """Nobody has looked under the ace or the ten."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.surrender == "late"

    def styled(self, style: Style) -> Style:
        return replace(super().styled(style), peek=False)

    def deal_own(self, turn: int) -> None:
        if self.pending and self.chance(0.7):
            self.wish(lambda card: card.points == (1 if turn else 10))
        super().deal_own(turn)

    def may_wrongly(self, hand: Hand) -> bool:
        first = len(hand.cards) == 2 and not hand.split
        return first and natural(self.dealer)


@commits("even_money_not_offered")
class TakesEvenMoney(Clumsy):
    """A blackjack is paid even where the house does not offer it."""

    def before_play(self) -> None:
        for (hand,) in self.hands.values():
            wrong = not self.rules.even_money or self.up.points != 1
            if self.pending and wrong and natural(hand.cards):
                self.tell(ev.PlayerActed(spot=hand.spot, action="even_money"))
                self.commit(self.now, hand.spot, 0)
                hand.done, hand.even_money = True, not self.voids
        super().before_play()
