"""A table dealt and played at random, always by the sheet, and what it must settle to.

Players decide by chance alone, so that every option is taken in every situation. What sensors
and people tell of a round varies from table to table too: decisions said or only seen, face-down
cards read or not, payments observed or not, a tray that is counted.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal, TypeAlias

from models import events as ev
from models.cards import Card, pack
from models.events import AnyFact
from models.rulebook import Rulebook
from tests.settlement.plain.reckoning import (
    Hand,
    Settled,
    best,
    blackjack,
    dealer_draws,
    hard,
    live,
    natural,
    owed,
    pays,
)

Found: TypeAlias = tuple[str, int, int | None, int | None]
"""A violation to be found: code, number of the fact, spot, hand."""

_ENOUGH: Final = 17
"""With fewer cards than this in the shoe nobody asks for more."""


@dataclass(frozen=True, slots=True)
class Style:
    """What of a table is told, and how its dealer goes about it."""

    marked: bool
    """Whether rounds are opened and closed by a fact of their own."""
    shoe_seen: bool
    """Whether the start of the shoe is told."""
    seats_told: bool
    peek: bool
    """Whether the dealer looks under an ace or a ten before the players act."""
    reads_down: bool
    """Whether a card dealt face down is known at once."""
    said: float
    """How often a decision that shows by itself is said too."""
    payments: Literal["none", "end", "prompt"]
    tray: bool
    late: bool
    """Whether payments may be told after the cards were taken up."""


@dataclass(frozen=True, slots=True)
class Played:
    """One round's facts, and what must come of it."""

    facts: tuple[AnyFact, ...]
    first: int
    """The number of the first of the facts, counted over the whole table."""
    hands: dict[tuple[int, int], Settled]
    stakes: dict[tuple[int, int], int]
    cards: dict[tuple[int, int], tuple[Card, ...]]
    insurance: dict[int, tuple[int, int]]
    """By spot: the stake that counts and what it gains."""
    dealer: tuple[Card, ...]
    found: tuple[Found, ...]
    bettors: dict[int, dict[str | None, int | None]] = field(default_factory=dict)
    """By spot with several bettors: what each gains, its own player without a name."""
    tokes: dict[int, tuple[int, int]] = field(default_factory=dict)
    coupons: dict[int, int] = field(default_factory=dict)
    sides: dict[tuple[int, str], tuple[int, int]] = field(default_factory=dict)
    """By spot and declared side bet: the stake and what it gains."""


def style_of(random: Random) -> Style:
    """Choose how much of a table is told."""
    marked = random.random() < 0.85
    payments: tuple[Literal["none", "end", "prompt"], ...] = ("none", "end", "prompt")
    paid = random.choice(payments) if marked else "end"
    return Style(
        marked=marked,
        shoe_seen=random.random() < 0.85,
        seats_told=random.random() < 0.7,
        peek=random.random() < 0.6,
        reads_down=random.random() < 0.6,
        said=random.choice((0.0, 0.5, 1.0)),
        payments=paid,
        tray=paid != "none" and random.random() < 0.4,
        late=marked and paid != "none" and random.random() < 0.3,
    )


class Game:
    """One table under one rulebook, round after round."""

    def __init__(
        self, rules: Rulebook, seed: int | str, *, spots: int = 5, style: Style | None = None
    ) -> None:
        self.rules = rules
        self.random = Random(seed)
        self.style = style or style_of(self.random)
        self.places = tuple(range(1, min(spots, 2 + 2 * rules.decks) + 1))
        self.facts: list[AnyFact] = []
        self.told = 0
        self.seats: dict[int, str] = {}
        self.players: set[str] = set()
        """Who played the last round of this shoe."""
        self.cards: list[Card] = []
        self.cut_at = 0
        self.cut_out = True
        self.rounds_in_shoe = 0
        self.round = 0
        self.tray = 10_000_000
        self.found: list[Found] = []

    # --- the whole round --------------------------------------------------------------------

    def rounds(self, count: int) -> Iterator[Played]:
        """Play so many rounds."""
        for _ in range(count):
            yield self.play()

    def play(self) -> Played:
        """Play one round."""
        self.told += len(self.facts)
        self.facts, self.found = [], []
        self.hands: dict[int, list[Hand]] = {}
        self.felt: dict[int, list[int]] = {}
        self.insured: dict[int, int] = {}
        self.dealer: list[Card] = []
        self.hole_told = True
        self.hole_shown = False
        self.checked: bool | None = None
        self.before_round()
        self.open_round()
        self.lay_wagers()
        self.deal()
        self.before_play()
        if not self.checked:
            self.play_players()
        self.play_dealer()
        if self.style.late and self.chance(0.3):
            self.settle_late()
        else:
            self.settle()
            self.close_round()
        return self.summed_up()

    def summed_up(self) -> Played:
        """Reckon what the round must settle to."""
        hands, stakes, cards = {}, {}, {}
        for spot, own in self.hands.items():
            for hand in own:
                key = spot, hand.number
                hands[key] = owed(hand, self.dealer, self.rules, insured=self.counts(spot) > 0)
                stakes[key] = hand.riding
                cards[key] = tuple(hand.cards)
        return Played(
            facts=tuple(self.facts),
            first=self.told + 1,
            hands=hands,
            stakes=stakes,
            cards=cards,
            insurance={
                spot: (self.counts(spot), self.insurance_due(spot)) for spot in self.insured
            },
            dealer=tuple(self.dealer),
            found=tuple(self.found),
        )

    # --- small things -----------------------------------------------------------------------

    def chance(self, often: float) -> bool:
        """Tell, this often, yes."""
        return self.random.random() < often

    def below(self, count: int) -> int:
        """Choose a number from 0 to ``count`` - 1."""
        return int(self.random.random() * count)

    def tell(self, fact: AnyFact) -> int:
        """Put one fact into the record and return its number."""
        self.facts.append(fact)
        return self.told + len(self.facts)

    @property
    def now(self) -> int:
        """The number of the fact told last."""
        return self.told + len(self.facts)

    def in_parts(self, amount: int) -> Iterable[int]:
        """Part an amount of chips in two, now and then."""
        if amount > 1 and self.chance(0.1):
            first = 1 + self.below(amount - 1)
            return first, amount - first
        return (amount,)

    # --- between rounds ---------------------------------------------------------------------

    def before_round(self) -> None:
        """Shuffle where the shoe is through, and let players come and go."""
        if self.round == 0 and self.style.tray:
            self.count_tray()
        if self.round and self.continuous:
            self.return_cards()
        elif self.cut_out or len(self.cards) < _ENOUGH + 6 * len(self.places):
            self.shuffle()
        if self.rounds_in_shoe and self.may_enter and self.chance(0.03):
            self.seat_players()

    def shuffle(self) -> None:
        """Start a fresh shoe, burn what the house burns, seat players anew now and then."""
        self.load()
        self.rounds_in_shoe = 0
        self.players = set()
        if self.style.shoe_seen:
            self.tell(ev.ShoeStarted(decks=self.rules.decks))
        self.burn(self.rules.burn_after_shuffle + (self.chance(0.1)))
        if self.style.seats_told and (not self.seats or self.chance(0.3)):
            self.seat_players()

    def return_cards(self) -> None:
        """Put the cards of the last round back, one burned since among them, or change them all."""
        if self.chance(0.05):
            self.shuffle()
        else:
            self.burn(self.chance(0.05))
            self.load()

    def load(self) -> None:
        """Put every card into the shoe; to a continuous shuffler the cut card means nothing."""
        self.cards = [*pack(self.rules.pack_without)] * self.rules.decks
        self.random.shuffle(self.cards)
        self.cut_at = int(len(self.cards) * (0.2 + 0.3 * self.random.random()))
        self.cut_out = False

    @property
    def continuous(self) -> bool:
        """Whether the cards of a round that is over are dealt again."""
        return self.rules.shoe == "continuous"

    @property
    def may_enter(self) -> bool:
        """Whether players may come in between any two rounds."""
        return self.rules.mid_shoe_entry or self.continuous

    def burn(self, count: int) -> None:
        """Put cards to the discard rack."""
        for _ in range(count):
            card = self.cards.pop()
            told = self.style.marked or self.style.shoe_seen
            self.tell(ev.CardBurned(card=card if told and self.chance(0.5) else None))

    def seat_players(self) -> None:
        """Give the spots to players, some of them to one who holds several."""
        if not self.style.seats_told or not self.style.shoe_seen:
            return
        for player in dict.fromkeys(self.seats.values()):
            held = tuple(spot for spot, who in self.seats.items() if who == player)
            self.tell(ev.PlayerLeft(player=player, spots=held))
        self.seats = {}
        most = self.rules.max_spots_per_player or 3
        free = list(self.places)
        while free:
            count = min(len(free), most, 1 + self.below(3) * self.chance(0.4))
            held = tuple(free.pop(self.below(len(free))) for _ in range(count))
            player = f"P{held[0]}"
            self.tell(ev.PlayerSeated(player=player, spots=tuple(sorted(held))))
            self.seats.update(dict.fromkeys(held, player))

    def who(self, spot: int) -> str:
        """Return who plays a spot."""
        return self.seats.get(spot, f"spot {spot}")

    def count_tray(self) -> None:
        """Count the chips of the tray."""
        self.tell(ev.TrayCounted(amount=self.tray))

    # --- wagers -----------------------------------------------------------------------------

    def open_round(self) -> None:
        """Open the round."""
        self.round += 1
        if self.style.marked:
            self.tell(ev.RoundOpened(round=self.round))

    def spots_played(self) -> list[int]:
        """Choose the spots that are played: whoever may come in, or stay."""
        free = self.may_enter or self.rounds_in_shoe == 0
        allowed = [spot for spot in self.places if free or self.who(spot) in self.players]
        return [spot for spot in allowed if self.chance(0.8)] or allowed[:1]

    def least(self, count: int) -> int:
        """Return the least wager a spot of a player on so many spots may carry."""
        multiple = self.rules.multi_spot_min_multiple.get(count, 1) if count > 1 else 1
        return multiple * self.rules.table_min

    def lay_wagers(self) -> None:
        """Lay the main wagers, with a change of mind here and there."""
        played = self.spots_played()
        most = self.rules.table_max
        while True:
            counts = {spot: sum(self.who(s) == self.who(spot) for s in played) for spot in played}
            dear = [s for s in played if most is not None and self.least(counts[s]) > most]
            if not dear:
                break
            played.remove(dear[0])
        for spot in sorted(played, key=lambda _: self.random.random()):
            self.lay_wager(spot, self.wager(self.least(counts[spot] if self.seats else 1)))
        self.players = {self.who(spot) for spot in played}
        self.hands = {spot: self.hands[spot] for spot in sorted(self.hands)}
        self.rounds_in_shoe += 1

    def wager(self, least: int) -> int:
        """Return an amount within the limits, odd cents and all."""
        amount = max(1, least) * (1 + self.below(4)) + self.below(3) * self.below(1000)
        most = self.rules.table_max
        return amount if most is None else min(amount, most)

    def lay_wager(self, spot: int, amount: int) -> None:
        """Lay one main wager."""
        for part in self.in_parts(amount):
            self.tell(ev.WagerPlaced(spot=spot, kind="main", amount=part))
        if self.chance(0.03):
            self.tell(ev.WagerPlaced(spot=spot, kind="main", amount=250))
            self.tell(ev.WagerRemoved(spot=spot, kind="main", amount=250))
        if self.rules.side_wagers and self.chance(0.05):
            self.tell(ev.WagerPlaced(spot=spot, kind="side", amount=100))
            if self.style.payments != "none":
                self.tell(ev.PaymentMade(spot=spot, kind="side", amount=-100))
                self.tray += 100
        self.hands[spot] = [Hand(spot, 0, amount)]
        self.felt[spot] = [0]

    # --- cards ------------------------------------------------------------------------------

    def draw(self) -> Card:
        """Take the next card out of the shoe; one that lay face up in it goes aside."""
        if not self.cut_out and len(self.cards) <= self.cut_at:
            self.cut_out = True
            if self.style.shoe_seen:
                self.tell(ev.CutCardReached())
        if self.chance(0.001) and len(self.cards) > _ENOUGH:
            card = self.cards.pop()
            self.tell(ev.CardBoxed(card=card))
            if card is self.cards[-1] or self.chance(0.5):
                self.tell(ev.CardBurned(card=card))
        return self.cards.pop()

    def to_hand(self, hand: Hand, face: ev.Face = "up") -> Card:
        """Deal one card to a hand."""
        card = self.draw()
        seen = card if face == "up" or self.style.reads_down else None
        fact = ev.CardDealt(to=hand.spot, hand=hand.number, card=seen, face=face)
        self.dealt_at = self.tell(fact)
        hand.cards.append(card)
        if face == "down":
            hand.down.append(len(hand.cards) - 1)
        return card

    def to_dealer(self, face: ev.Face = "up") -> Card:
        """Deal one card to the dealer."""
        card = self.draw()
        seen = card if face == "up" or self.style.reads_down else None
        self.dealt_at = self.tell(ev.CardDealt(to="dealer", card=seen, face=face))
        self.dealer.append(card)
        return card

    def turn_up(self, hand: Hand) -> None:
        """Turn up what of a hand lies face down."""
        for at in hand.down:
            self.tell(ev.CardExposed(to=hand.spot, hand=hand.number, card=hand.cards[at]))
        hand.down = []

    def turn_hole(self) -> None:
        """Turn up the hole card."""
        if not self.hole_shown:
            self.hole_shown = True
            self.tell(ev.CardExposed(to="dealer", card=self.hole))

    def deal(self) -> None:
        """Deal two cards each, the dealer last."""
        for turn in (0, 1):
            for spot in self.dealing_order(turn):
                if spot == "dealer":
                    self.deal_own(turn)
                else:
                    self.deal_in(spot)

    def dealing_order(self, turn: int) -> Iterable[ev.Dealt]:
        """Return who gets a card in the first or second pass of the deal."""
        return tuple(self.hands) if turn and self.no_hole_card else (*self.hands, "dealer")

    @property
    def no_hole_card(self) -> bool:
        """Whether the dealer takes his second card only when the players are done."""
        return self.rules.dealer_second_card == "after_players"

    def deal_in(self, spot: int) -> None:
        """Deal a spot its first or second card."""
        self.to_hand(self.hands[spot][0], self.rules.player_cards)

    def deal_own(self, turn: int) -> None:
        """Deal the dealer's own first or second card."""
        up = (turn == 0) == (self.rules.dealer_first_card == "up")
        card = self.to_dealer("up" if up else "down")
        if up:
            self.up = card
        else:
            self.hole = card

    # --- before the players act ---------------------------------------------------------------

    def before_play(self) -> None:
        """Insurance, even money, early surrender, and the dealer's look at the hole card."""
        if self.up.points == 1:
            self.offer_insurance()
        if self.style.payments == "prompt" and 2 <= self.up.points <= 9:
            self.pay_blackjacks()
        if self.style.peek and self.up.points in (1, 10) and not self.no_hole_card:
            self.give_up_early()
            self.look()

    def offer_insurance(self) -> None:
        """Let each spot insure, or take even money for a blackjack."""
        for spot, (hand,) in list(self.hands.items()):
            if self.rules.even_money and blackjack(hand) and not hand.done and self.chance(0.5):
                self.take_even_money(hand)
            elif self.rules.insurance != "none" and hand.stake > 1 and self.chance(0.35):
                self.insure(spot, self.insurance_laid(hand.stake))

    def take_even_money(self, hand: Hand) -> None:
        """Take the wager's worth for a blackjack now."""
        self.tell(ev.PlayerActed(spot=hand.spot, action="even_money"))
        hand.even_money = hand.done = True

    def insurance_laid(self, stake: int) -> int:
        """Return what a player insures for."""
        half = stake // 2
        return half if self.rules.insurance == "exactly_half" else 1 + self.below(half)

    def insure(self, spot: int, amount: int) -> None:
        """Lay an insurance wager."""
        for part in self.in_parts(amount):
            self.tell(ev.WagerPlaced(spot=spot, kind="insurance", amount=part))
        self.insured[spot] = amount
        if self.chance(0.05):
            self.tell(ev.WagerRemoved(spot=spot, kind="insurance", amount=amount))
            del self.insured[spot]

    def pay_blackjacks(self) -> None:
        """With nothing to fear from the hole card, pay blackjacks from the right to the left."""
        for spot in sorted(self.hands, reverse=True):
            hand = self.hands[spot][0]
            if blackjack(hand):
                self.pay_hand(hand)

    def give_up_early(self) -> None:
        """Let each spot surrender before the dealer looks, where the house has that."""
        for (hand,) in self.hands.values():
            early = self.rules.surrender == "early" and not hand.done
            if early and best(hand.cards) < 21 and self.chance(0.1):
                self.surrender(hand)

    def look(self) -> None:
        """Look at the hole card; a blackjack ends the players' part."""
        self.checked = natural(self.dealer)
        self.tell(ev.HoleCardChecked(blackjack=self.checked))
        if self.checked and self.chance(0.7):
            self.turn_hole()

    # --- the players ------------------------------------------------------------------------

    def play_players(self) -> None:
        """Every spot in its turn."""
        for spot in self.hands:
            self.play_spot(spot)

    def play_spot(self, spot: int) -> None:
        """Play a spot's hands as they were made, or as they lie on the felt."""
        by_felt = self.chance(0.5)
        while True:
            order: Sequence[int] = self.felt[spot] if by_felt else range(len(self.hands[spot]))
            hand = next((h for n in order if not (h := self.hands[spot][n]).done), None)
            if hand is None:
                return
            self.play_hand(hand)

    def play_hand(self, hand: Hand) -> None:
        """Play one hand to its end, or to a split."""
        hands = len(self.hands[hand.spot])
        while not hand.done and len(self.hands[hand.spot]) == hands:
            if len(hand.cards) < 2:
                self.to_hand(hand)
            elif self.one_card_only(hand):
                self.play_ace(hand)
            else:
                self.decide(hand)

    def one_card_only(self, hand: Hand) -> bool:
        """Tell whether the hand is a split ace with its one card."""
        return hand.of_aces and self.rules.split_aces_cards == 1

    def play_ace(self, hand: Hand) -> None:
        """A split ace has its card; another ace may be split again."""
        if self.may_split(hand) and self.chance(0.7):
            self.split(hand)
        else:
            hand.done = True

    def decide(self, hand: Hand) -> None:
        """Let the player do anything the house allows."""
        points = best(hand.cards)
        if len(self.cards) < _ENOUGH or (points == 21 and not self.dares(hand)):
            self.stand(hand)
            return
        if points == 21:
            self.hit(hand)
            return
        if self.may_split(hand) and self.chance(0.6):
            self.split(hand)
        elif self.may_double(hand) and self.chance(0.25):
            self.double(hand)
        elif self.may_surrender(hand) and self.chance(0.12):
            self.surrender(hand)
        elif self.chance(0.9 if points < 12 else 0.4 if points < 17 else 0.15):
            self.hit(hand)
        else:
            self.stand(hand)

    def dares(self, hand: Hand) -> bool:
        """Tell whether a player asks for a card on 21: the sheets let him draw until he breaks."""
        return self.rules.hit_on_21 and not blackjack(hand) and self.chance(0.15)

    def may_split(self, hand: Hand) -> bool:
        """Tell whether the house lets the hand be split."""
        one, other = hand.cards[0], hand.cards[1]
        by_rank = self.rules.split_match == "rank"
        alike = one.rank == other.rank if by_rank else one.points == other.points
        return (
            alike
            and len(hand.cards) == 2
            and len(self.hands[hand.spot]) < self.rules.max_hands
            and (self.rules.resplit_aces or not hand.of_aces)
            and len(self.cards) >= _ENOUGH
        )

    def may_double(self, hand: Hand) -> bool:
        """Tell whether the house lets the hand be doubled."""
        if len(hand.cards) != 2 and self.rules.double_on != "any_number":
            return False
        if natural(hand.cards) and not hand.split:
            return False
        if hand.split and not self.rules.double_after_split:
            return False
        if hand.of_aces and not self.rules.double_split_aces:
            return False
        return self.doubles_on(hand.cards)

    def doubles_on(self, cards: Sequence[Card]) -> bool:
        """Tell whether the house doubles this total."""
        points = hard(cards) if self.rules.double_soft_as_low_total else best(cards)
        least = {"any_number": 0, "any_two": 0, "9-11": 9, "10-11": 10, "none": 99}[
            self.rules.double_on
        ]
        return points >= least and (points <= 11 or least == 0)

    def may_surrender(self, hand: Hand) -> bool:
        """Tell whether the house lets the hand be given up."""
        if self.rules.surrender == "none" or len(hand.cards) != 2:
            return False
        if hand.split and not self.rules.surrender_after_split:
            return False
        settled = self.checked is not None or 2 <= self.up.points <= 9
        return settled if self.rules.surrender == "late" else self.checked is None

    def say(self, hand: Hand, action: ev.Action) -> None:
        """Say a decision, in a manner that the house accepts or in none that was seen."""
        manners = {
            "hit": self.rules.signals.hit,
            "stand": self.rules.signals.stand,
            "double": self.rules.signals.double,
            "split": self.rules.signals.split,
            "surrender": self.rules.signals.surrender,
        }[action]
        manner = manners[self.below(len(manners))] if manners and self.chance(0.5) else None
        if self.rules.player_touch != "never" and self.chance(0.05):
            self.tell(ev.CardsTouched(spot=hand.spot, manner="one_hand"))
        self.tell(ev.PlayerActed(spot=hand.spot, hand=hand.number, action=action, manner=manner))

    def stand(self, hand: Hand) -> None:
        """Take no more cards."""
        if self.chance(self.style.said):
            self.say(hand, "stand")
        hand.done = True

    def hit(self, hand: Hand) -> None:
        """Take a card; on 21 nobody gets one unasked."""
        if best(hand.cards) == 21 or self.chance(self.style.said):
            self.say(hand, "hit")
        self.to_hand(hand)
        self.after_card(hand)

    def double(self, hand: Hand) -> None:
        """Add chips and take the last card."""
        less = self.rules.double_for_less and self.chance(0.3)
        self.lay_double(hand, 1 + self.below(hand.stake) if less else hand.stake)
        self.to_hand(hand, "down" if self.chance(0.2) else "up")
        hand.done = True
        self.after_card(hand)
        if self.rules.double_rescue and hard(hand.cards) <= 21 and self.chance(0.3):
            hand.rescued = True
            self.surrender(hand)

    def lay_double(self, hand: Hand, amount: int) -> None:
        """Lay the chips of a double, before or after saying so."""
        said = self.chance(self.style.said)
        before = said and self.chance(0.5)
        if before:
            self.say(hand, "double")
        for part in self.in_parts(amount):
            self.tell(ev.WagerPlaced(spot=hand.spot, hand=hand.number, kind="double", amount=part))
        if said and not before:
            self.say(hand, "double")
        hand.added = amount

    def split(self, hand: Hand) -> Hand:
        """Part a pair."""
        if self.chance(0.5):
            self.turn_up(hand)
        own = self.hands[hand.spot]
        new = Hand(hand.spot, len(own), hand.stake)
        chips_first = self.chance(0.5)
        if chips_first:
            self.lay_split(new)
        self.say(hand, "split")
        if not chips_first:
            self.lay_split(new)
        self.part(hand, new)
        return new

    def lay_split(self, new: Hand) -> None:
        """Lay the wager of a new hand."""
        for part in self.in_parts(new.stake):
            self.tell(ev.WagerPlaced(spot=new.spot, hand=new.number, kind="split", amount=part))

    def part(self, hand: Hand, new: Hand) -> None:
        """Move the second card to its new hand."""
        new.cards = [hand.cards.pop(1)]
        new.down = [0] if 1 in hand.down else []
        hand.down = [0] if 0 in hand.down else []
        for one in (hand, new):
            one.split = True
            one.of_aces = one.cards[0].points == 1
            ace, ten = self.rules.split_ace_21_is_blackjack, self.rules.split_ten_21_is_blackjack
            one.blackjack_counts = ace if one.of_aces else ten
        self.hands[hand.spot].append(new)
        felt = self.felt[hand.spot]
        felt.insert(felt.index(hand.number) + 1, new.number)
        if hand.of_aces and self.rules.split_aces_cards == 1 and self.chance(0.5):
            for one in (new, hand) if self.chance(0.5) else (hand, new):
                self.to_hand(one)

    def surrender(self, hand: Hand) -> None:
        """Give the hand up for half its wager."""
        self.say(hand, "surrender")
        hand.surrendered = hand.done = True
        self.pay_at_once(hand)

    def after_card(self, hand: Hand) -> None:
        """Take a broken hand's wager."""
        if hard(hand.cards) > 21:
            hand.done = True
            self.pay_at_once(hand)

    # --- the dealer -------------------------------------------------------------------------

    def all_hands(self) -> list[Hand]:
        """Return every hand on the felt."""
        return [hand for own in self.hands.values() for hand in own]

    def awaits_hole_card(self) -> bool:
        """Tell whether a wager waits for the hole card."""
        return bool(self.insured) or any(not hand.settled for hand in self.all_hands())

    def play_dealer(self) -> None:
        """Turn the hole card where a wager waits for it, and draw where a hand is live."""
        if self.awaits_hole_card() or self.chance(0.5):
            if self.no_hole_card:
                self.to_dealer()
            else:
                self.turn_hole()
        if any(live(hand, self.rules) for hand in self.all_hands()):
            while dealer_draws(self.dealer, self.rules):
                self.to_dealer()

    # --- settling ---------------------------------------------------------------------------

    def counts(self, spot: int) -> int:
        """Return the insurance of a spot that counts."""
        laid = self.insured.get(spot, 0)
        if self.rules.policy.insurance_over_half == "cap":
            return min(laid, self.hands[spot][0].stake // 2)
        return laid

    def insurance_due(self, spot: int) -> int:
        """Return what a spot's insurance gains."""
        stake = self.counts(spot)
        won = natural(self.dealer)
        return pays(stake, self.rules.insurance_payout, self.rules) if won else -stake

    def pay_at_once(self, hand: Hand) -> None:
        """Settle a hand in its turn, where the dealer does so."""
        if self.style.payments == "prompt":
            self.take_double_back(hand)
            self.pay_hand(hand)

    def take_double_back(self, hand: Hand) -> None:
        """Give a player who rescues a double its chips, seen or not."""
        if hand.rescued and self.chance(0.5):
            back = ev.WagerRemoved(
                spot=hand.spot, hand=hand.number, kind="double", amount=hand.added
            )
            self.tell(back)

    def due(self, hand: Hand) -> int:
        """Return what a hand is owed; nothing while it waits for a card."""
        insured = self.counts(hand.spot) > 0
        return owed(hand, self.dealer, self.rules, insured=insured)[1] or 0

    def pay_hand(self, hand: Hand) -> None:
        """Pay or take one hand."""
        self.turn_up(hand)
        hand.settled = True
        self.pay(hand.spot, hand.number, "main", self.due(hand))

    def pay(self, spot: int, hand: int, kind: Literal["main", "insurance"], amount: int) -> None:
        """Have chips change hands; a push may be left untold."""
        if amount == 0 and self.style.marked and self.chance(0.5):
            return
        for part in self.in_parts(amount):
            self.tell(ev.PaymentMade(spot=spot, hand=hand, kind=kind, amount=part))
        self.tray -= amount

    def settle(self) -> None:
        """Settle what is not settled yet, from the right to the left where the house does."""
        for hand in self.all_hands():
            if hand.down and (not self.style.reads_down or self.chance(0.5)):
                self.turn_up(hand)
        if self.style.payments == "none":
            return
        for spot in self.settling_order():
            self.settle_insurance(spot)
        self.settle_hands(self.settling_order())

    def settle_insurance(self, spot: int) -> None:
        """Settle the insurance of a spot."""
        if spot in self.insured:
            self.pay(spot, 0, "insurance", self.insurance_due(spot))

    def settle_late(self) -> None:
        """Take the cards up, and settle then."""
        for hand in self.all_hands():
            self.turn_up(hand)
        self.close_round()
        self.settle()

    def settling_order(self) -> list[int]:
        """Return the spots in the order in which they are settled."""
        spots = sorted(self.hands, reverse=True)
        if self.rules.settle_order == "any":
            self.random.shuffle(spots)
        return spots

    def settle_hands(self, spots: Iterable[int]) -> None:
        """Settle the hands that wait for it."""
        for spot in spots:
            for hand in self.hands[spot]:
                if not hand.settled:
                    self.pay_hand(hand)

    def close_round(self) -> None:
        """Take the cards up, and count the tray now and then."""
        if self.style.marked:
            self.tell(ev.RoundClosed())
        if self.style.tray and self.chance(0.5):
            self.count_tray()
