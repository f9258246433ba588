"""Mistakes with limits, seats, wagers after the deal, and conduct."""

from dataclasses import replace
from typing import Final, Literal

from models import events as ev
from models.rulebook import Rulebook
from tests.settlement.plain.game import Style
from tests.settlement.plain.reckoning import Hand
from tests.settlement.plain.slips.clumsy import Clumsy, commits


@commits("below_table_min", "above_table_max", "multi_spot_minimum")
class LaysAnUnfitWager(Clumsy):
    """A wager outside the limits; of a player on several spots, one below theirs, or several."""

    unfit_spots: tuple[int, ...] = ()
    """The spots of one player below what his spots must carry."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        if code == "above_table_max":
            return rules.table_max is not None
        several = any(multiple > 1 for multiple in rules.multi_spot_min_multiple.values())
        most = rules.max_spots_per_player or 3
        return rules.table_min > 1 and (code == "below_table_min" or (several and most > 1))

    def styled(self, style: Style) -> Style:
        return replace(super().styled(style), seats_told=True)

    def lay_wager(self, spot: int, amount: int) -> None:
        held = self.found and self.unfit_spots and self.who(spot) == self.who(self.unfit_spots[0])
        unfit = self.unfit() if self.pending or (held and self.chance(0.5)) else 0
        super().lay_wager(spot, unfit or amount)
        if unfit and self.code == "multi_spot_minimum":
            self.unfit_spots = (*self.unfit_spots, spot)
        if unfit and (self.pending or spot == min(self.unfit_spots)):
            self.found = []
            laid = [
                seq
                for seq in self.since(self.told, ev.WagerPlaced)
                if self.fact(seq).spot == spot and self.fact(seq).kind == "main"
            ]
            self.commit(laid[-1], spot)

    def wager(self, least: int) -> int:
        self.needed = least
        return super().wager(least)

    def fact(self, seq: int) -> ev.WagerPlaced:
        """Return a wager by its number."""
        fact = self.facts[seq - self.told - 1]
        assert isinstance(fact, ev.WagerPlaced)
        return fact

    def unfit(self) -> int:
        """Return a wager that is the mistake asked for here; 0 where none is."""
        if self.code == "above_table_max":
            return (self.rules.table_max or 0) + 1 + self.below(1000)
        several = self.needed > self.rules.table_min
        if several != (self.code == "multi_spot_minimum"):
            return 0
        return self.needed - 1 - self.below(self.needed // 4)


@commits("too_many_spots")
class PlaysTooManySpots(Clumsy):
    """One player wagers on a spot more than he may hold."""

    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        most = rules.max_spots_per_player
        room = rules.table_max is None or rules.table_max >= 5 * rules.table_min
        return most is not None and most < 2 + 2 * rules.decks and room

    def styled(self, style: Style) -> Style:
        return replace(super().styled(style), seats_told=True)

    def seat_players(self) -> None:
        if not self.pending:
            super().seat_players()
            return
        most = self.rules.max_spots_per_player or 0
        held = self.places[: most + 1]
        self.tell(ev.PlayerSeated(player="P1", spots=held))
        self.seats = dict.fromkeys(held, "P1")

    def before_round(self) -> None:
        super().before_round()
        most = self.rules.max_spots_per_player or 0
        if not self.pending and list(self.seats.values()).count("P1") > most:
            self.seat_players()

    def spots_played(self) -> list[int]:
        return list(self.places) if self.pending else super().spots_played()

    def least(self, count: int) -> int:
        multiples = self.rules.multi_spot_min_multiple
        return max([1, *multiples.values()]) * self.rules.table_min

    def lay_wagers(self) -> None:
        super().lay_wagers()
        most = self.rules.max_spots_per_player or 0
        held = [s for s in self.hands if self.seats.get(s) == "P1"]
        if self.pending and len(held) == most + 1:
            last = {
                fact.spot: seq
                for seq, fact in enumerate(self.facts, self.told + 1)
                if isinstance(fact, ev.WagerPlaced) and fact.kind == "main" and fact.spot in held
            }
            spot = max(last, key=lambda s: last[s])
            self.commit(last[spot], spot)
            self.cut_out = True


@commits("mid_shoe_entry")
class EntersInTheMiddle(Clumsy):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return not rules.mid_shoe_entry and rules.shoe == "dealt_out"

    def spots_played(self) -> list[int]:
        played = super().spots_played()
        late = [spot for spot in self.places if self.who(spot) not in self.players]
        self.late = late[0] if self.pending and self.rounds_in_shoe and late else 0
        return [*played, self.late] if self.late else played

    def lay_wagers(self) -> None:
        super().lay_wagers()
        if self.pending and self.late and self.late in self.hands:
            laid = [
                seq
                for seq, fact in enumerate(self.facts, self.told + 1)
                if isinstance(fact, ev.WagerPlaced)
                and (fact.spot, fact.kind) == (self.late, "main")
            ]
            self.commit(laid[-1], self.late)


@commits("wager_on_no_hand")
class LaysAWagerOnNoHand(Clumsy):
    """Chips for a hand that the spot does not have; they are nobody's wager."""

    def lay_wager(self, spot: int, amount: int) -> None:
        super().lay_wager(spot, amount)
        if self.pending and self.chance(0.3):
            number = 1 + self.below(3)
            laid = ev.WagerPlaced(spot=spot, hand=number, kind="main", amount=amount)
            self.commit(self.tell(laid), spot, number)


@commits("side_wager_prohibited")
class LaysASideWager(Clumsy):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return not rules.side_wagers

    def lay_wager(self, spot: int, amount: int) -> None:
        super().lay_wager(spot, amount)
        if self.pending:
            self.commit(self.tell(ev.WagerPlaced(spot=spot, kind="side", amount=100)), spot)


@commits("stake_increased_after_deal", "stake_reduced_after_deal", "wager_after_deal")
class ChangesAWagerInPlay(Clumsy):
    def hit(self, hand: Hand) -> None:
        if self.pending and self.chance(0.3):
            self.change(hand.spot)
        super().hit(hand)

    def change(self, spot: int) -> None:
        """Add to a wager, take from it, or lay one where none was."""
        if self.code == "stake_reduced_after_deal":
            less = ev.WagerRemoved(spot=spot, kind="main", amount=1)
            self.commit(self.tell(less), spot, 0)
            return
        added = self.code == "stake_increased_after_deal"
        on = spot if added else next(free for free in range(1, 9) if free not in self.hands)
        self.tell(ev.WagerPlaced(spot=on, kind="main", amount=500))
        self.commit(self.now, on, 0 if added else None)


_MANNERS: Final[tuple[ev.Manner, ...]] = ("hand", "verbal", "tuck")


@commits("signal_not_accepted")
class ShowsItOtherwise(Clumsy):
    def styled(self, style: Style) -> Style:
        return replace(super().styled(style), said=1.0)

    def say(self, hand: Hand, action: ev.Action) -> None:
        accepted = getattr(self.rules.signals, action)
        others = [manner for manner in _MANNERS if manner not in accepted]
        if not (self.pending and accepted and others and self.chance(0.3)):
            super().say(hand, action)
            return
        manner = others[self.below(len(others))]
        said = ev.PlayerActed(spot=hand.spot, hand=hand.number, action=action, manner=manner)
        self.commit(self.tell(said), hand.spot, hand.number)


@commits("player_touched_cards")
class TouchesCards(Clumsy):
    @classmethod
    def possible(cls, rules: Rulebook, code: str) -> bool:
        return rules.player_touch != "free"

    def decide(self, hand: Hand) -> None:
        if self.pending and self.chance(0.3):
            one = self.rules.player_touch == "never" and self.chance(0.5)
            manner: Literal["one_hand", "two_hands"] = "one_hand" if one else "two_hands"
            self.commit(self.tell(ev.CardsTouched(spot=hand.spot, manner=manner)), hand.spot)
        super().decide(hand)
