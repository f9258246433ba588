"""The engine's state of a table: its shoe and seats, and the round in play.

All of it is one engine's working state and changes with each fact; none of it leaves the engine.
"""

from typing import Final

from models.cards import Card
from models.judgements import OddCents, SideResult, TrayChange, Violation
from models.money import Cents
from settlement.clauses import violation
from settlement.facts import CARD_DEALT, ReadFact
from settlement.hands import FACES, UNKNOWN, Counted, face_of
from settlement.houserules import HouseRules
from settlement.phases import WITH_HOLE_CARD, WITHOUT_HOLE_CARD, RoundPhases
from settlement.script import Dispute, Script

MOST_HANDS: Final = 16
"""Hands. A spot's hands are numbered up to 15; a further split leaves the cards in one hand."""

NOT_BOXED: Final = -1

NEVER: Final = 1 << 60
"""In place of the index of a fact that the record does not have."""

_MOST_SPARED: Final = 256
"""Notes kept for reuse in the next round; few rounds have as many facts."""


class Noted(ReadFact):
    """A fact in the record of a round."""

    at: "Spot"
    """The spot it names; set as it is taken into the record."""

    def deals(self, to: int) -> bool:
        """Whether it is a card dealt there, and not moved there by the floor."""
        return self.kind == CARD_DEALT and self.spot == to


class Account:
    """The payments of a round for one hand or one insurance."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Reset for a new round."""
        self.booked = False
        """Whether any payment was made."""
        self.paid = 0
        self.seq = 0
        """The last payment."""
        self.compared = False


class Hand(Counted):
    """One hand of a spot."""

    def __init__(self, number: int, script: Script) -> None:
        super().__init__()
        self.number = number
        self.script = script
        self.burned: list[Card | None] = []
        self.unread: list[int] = []
        """Positions in the record of its unread cards."""
        self.account = Account()
        self.begin()

    def begin(self) -> None:
        """Reset: no cards, no chips, no decision."""
        self.take_up()
        # Most of these are empty, and to ask is cheaper than to clear.
        if self.burned:
            self.burned.clear()
        if self.unread:
            self.unread.clear()
        self.account.begin()
        self.net: Cents | None = None
        """Its net result, once it is settled."""
        self._lay_no_chips()
        self._decide_nothing()

    def lay(self, noted: Noted) -> None:
        """Add a card."""
        self.add(noted.card)
        if noted.card == UNKNOWN:
            self.unread.append(noted.index)

    def burn(self, noted: Noted) -> None:
        """Put a card aside that it was dealt and could not take."""
        self.burned.append(FACES[noted.card])
        if noted.card == UNKNOWN:
            self.unread.append(noted.index)

    def part(self, new: "Hand") -> None:
        """Move the second of its cards to a new hand."""
        first, second, *rest = self.cards
        if second is None:
            new.unread.append(self.unread.pop(0 if first is not None else 1))
        new.add(face_of(second))
        self.recount([first, *rest])

    def _lay_no_chips(self) -> None:
        self.stake = 0
        """The main or split wager."""
        self.stake_seq = 0
        self.owed_stake = 0
        """The required wager of a split hand; 0 for the first hand."""
        self.added = 0
        """Chips added by a double."""
        self.added_seq = 0

    def _decide_nothing(self) -> None:
        self.split = False
        self.aces = False
        """Whether it comes from splitting aces."""
        self.doubled_seq = 0
        """The fact that doubled it; 0 for none."""
        self.double_card = False
        self.void_split = False
        """Whether an illegal split made it and the rulebook returns its chips."""
        self.void_double = False
        self.stood = False
        self.surrendered_seq = 0
        self.even_money = False
        self.due_seq = 0
        """The fact since which a card is due to it; 0 for none."""
        self.out_of_turn = False
        """Whether play on it out of turn was reported."""
        self.called_off = False
        """Whether the floor ruled it dead: its wagers go back."""
        self.rare: Rare | None = None

    def rarely(self) -> "Rare":
        """Return what is true of few hands, to be changed."""
        if self.rare is None:
            self.rare = Rare()
        return self.rare


class Rare:
    """What is true of few hands.

    Apart from the hand: Python finds the attributes of an object slower where it has 30 or more.
    """

    def __init__(self) -> None:
        self.surrender_faulted = False
        self.paid_early = False
        """Whether early payment of its blackjack was reported."""
        self.off_after_draw = False
        """Whether it was called off after the dealer had drawn."""
        self.chips = False
        """Whether the floor took chips off it: what is left lies by the ruling."""
        self.uncounted = 0
        """Chips that lie beside its wagers and do not count."""
        self.disputed = False
        """Whether a card was moved from it that the record does not show there."""


class Beside:
    """Chips on a spot beside its own player's wagers: another bettor's, a toke, coupon or side bet.

    Args:
        kind: ``main`` for all of a bettor's wagers on hands; ``toke``, ``coupon`` or ``side``.
        bettor: whose they are; ``None`` for the spot's own player.
        bet: the side bet's name.
    """

    def __init__(self, kind: str, bettor: str | None, bet: str | None) -> None:
        self.kind = kind
        self.bettor = bettor
        self.bet = bet
        self.stakes: dict[int, int] = {}
        """By hand."""
        self.added: dict[int, int] = {}
        """Chips added by a double, by hand."""
        self.seqs: dict[int, int] = {}
        """The last fact of each hand's chips."""
        self.insurance = 0
        self.insurance_seq = 0
        self.insurance_counts = 0
        """What counts of the insurance."""
        self.faulted = False
        """Whether its insurance was found at fault."""
        self.ruled = False
        """Whether the floor took chips off."""
        self.uncounted = 0
        """Chips that lie there and do not count."""
        self.accounts: dict[tuple[int, str], Account] = {}
        self.nets: dict[tuple[int, str], Cents | None] = {}
        """What each hand's wager and the insurance gain, once settled."""
        self.odd: dict[tuple[int, str], OddCents] = {}
        """The exact winnings where they were rounded."""
        self.side: SideResult | None = None
        """What a declared side bet comes to, once settled."""

    def account(self, hand: int, kind: str) -> Account:
        """Return the payments for one of its wagers."""
        return self.accounts.setdefault((hand, kind), Account())

    def stake(self, hand: int) -> int:
        """Return the chips that count on a hand, without those of a double."""
        return self.stakes.get(hand, 0)


class SplitChips:
    """A split wager laid before the cards were split."""

    def __init__(self, hand: int, amount: int, seq: int) -> None:
        self.hand = hand
        self.amount = amount
        self.seq = seq


class Spot:
    """One betting spot in a round, or the dealer's place, which is never in play."""

    def __init__(self, number: int, serial: int) -> None:
        self.number = number
        self._script = Script()
        self._more: dict[int, Script] = {}
        self.hands = [Hand(0, self._script)]
        self.places = [0]
        """Hand numbers in the order of their places on the felt."""
        self.split_chips: list[SplitChips] = []
        self.beside: list[Beside] = []
        self.insured = Account()
        self._other: dict[tuple[int, str], Account] = {}
        self.begin(serial)

    def begin(self, serial: int) -> None:
        """Reset for a new round: not in play."""
        self.serial = serial
        """The engine's serial number of the last round that named it."""
        self.dealt_in = 0
        """Cards received up to the dealer's second."""
        self.last_turn = -1
        """Index of the last fact of play on any of its hands."""
        self.top = -1
        """The highest hand with a card, as far as the record has been read."""
        self.stray = False
        """Whether a card to it while not in play was reported."""
        self.out_of_turn = False
        """Whether play on it out of turn was reported."""
        self.settled = False
        self.main_pass = 0
        """The last settling pass of its hands."""
        self.insurance_pass = 0
        self._script.begin()
        if self._more:
            self._more.clear()
        self.insured.begin()
        if self._other:
            self._other.clear()
        if self.beside:
            self.beside.clear()
        self.clear()

    def clear(self) -> None:
        """Take it out of play: no wager, no hands."""
        self.in_play = False
        self.late = False
        """Whether its wager came after the first card."""
        if len(self.hands) > 1:
            del self.hands[1:]
            del self.places[1:]
        self.hands[0].begin()
        if self.split_chips:
            self.split_chips.clear()
        self.insurance = 0
        self.insurance_seq = 0
        self.insurance_faulted = False
        self.insurance_net: Cents | None = None
        self.face_faulted = False

    def all_called_off(self) -> bool:
        """Whether the floor ruled every hand of it dead."""
        return all(hand.called_off for hand in self.hands)

    def backed(self) -> bool:
        """Whether another bettor than its own player wagers on it."""
        return any(one.kind == "main" for one in self.beside)

    def wagered_on(self, hand: Hand) -> bool:
        """Whether anybody's wager lies on one of its hands."""
        others = [one.stake(hand.number) for one in self.beside if one.kind == "main"]
        return hand.stake > 0 or sum(others) > 0

    def lies_beside(self, kind: str, bettor: str | None, bet: str | None) -> Beside | None:
        """Return the chips of a kind beside its own wagers, where there are any."""
        for one in self.beside:
            if one.kind == kind and one.bettor == bettor and one.bet == bet:
                return one
        return None

    def account(self, hand: int, kind: str) -> Account:
        """Return the account of one of its hands or of its insurance."""
        if kind == "main" and hand < len(self.hands):
            return self.hands[hand].account
        if kind == "insurance" and hand == 0:
            return self.insured
        return self._other.setdefault((hand, kind), Account())

    def script(self, hand: int) -> Script:
        """Return the record of one of its hands."""
        if hand == 0:
            return self._script
        script = self._more.get(hand)
        if script is None:
            script = self._more[hand] = Script()
        return script


class Round:
    """A round: its growing record, and the state of the judged play."""

    # With more than 30 attributes and no slots, Python looks each one up in a dictionary: the
    # interpreted engine was 4% slower.
    __slots__ = (
        "_known",
        "_serial",
        "_spare",
        "acted",
        "beside",
        "called_off",
        "counted",
        "dealer",
        "dealer_dealt",
        "dealer_disputed",
        "disputed",
        "disputes",
        "early_draw_seq",
        "first_draw",
        "hole_shown_seq",
        "in_sweep",
        "last_play",
        "last_seq",
        "look_seq",
        "looked",
        "looks_differ",
        "moves",
        "number",
        "off_at",
        "off_in_settling",
        "order",
        "order_faulted",
        "owed",
        "passes",
        "payments",
        "phases",
        "record",
        "saw_blackjack",
        "spots",
        "sweep",
        "to_dealer",
        "tray_was_sure",
        "turn_of",
        "wagered",
    )

    def __init__(self, dealer_dealt: int) -> None:
        self.dealer_dealt = dealer_dealt
        """The dealer's cards in the initial deal: two, or one where there is no hole card."""
        self.phases = RoundPhases(dealer_dealt)
        """How far it has come, as far as its record has been judged."""
        self.record: list[Noted] = []
        self._spare: list[Noted] = []
        self._known: dict[int, Spot] = {}
        """Every spot that any round named."""
        self.order: list[int] = []
        """The receivers of the cards up to the dealer's second, in order."""
        self.spots: list[Spot] = []
        """The spots in play, by number."""
        self.dealer: list[Noted] = []
        """The dealer's cards as they lie."""
        self.payments: list[Noted] = []
        self.moves: dict[int, int] = {}
        """For each card moved, by the index of that fact, the index of the fact that dealt it."""
        self.disputes: list[Dispute] = []
        """Faces shown that no card of their hand has."""
        self.passes: list[list[int]] = []
        """Those still due a card in each pass of the initial deal."""
        self.owed: list[int] = []
        """Those who were skipped and may still get that card."""
        self._serial = 0
        self.begin(1)

    def begin(self, number: int) -> None:
        """Reset for a new round."""
        self.number = number
        self._serial += 1
        self._spare.extend(self.record)
        if len(self._spare) > _MOST_SPARED:
            del self._spare[_MOST_SPARED:]
        self.record.clear()
        self.phases.begin()
        self.order.clear()
        if self.disputes:
            self.disputes.clear()
        if self.moves:
            self.moves.clear()
        self.off_at = NEVER
        """Index of the fact that calls it off."""
        self.to_dealer = 0
        """The dealer's cards in the whole record."""
        self.first_draw = 0
        """Index of the dealer's first card after the initial deal; 0 for none."""
        self._begin_deal()
        self._begin_play()

    def _begin_deal(self) -> None:
        self.spots.clear()
        self.dealer.clear()
        self.passes.clear()
        if self.owed:
            self.owed.clear()
        self.order_faulted = -1
        """Passes left when the deal's order was last found wrong."""
        self.wagered = False
        """Whether any main wager was observed."""

    def _begin_play(self) -> None:
        self.called_off = False
        """Whether the floor called it off: every wager goes back."""
        self.off_in_settling = False
        """Whether that was after the dealer had played and paid."""
        self.beside = False
        """Whether any chips lie or were paid beside the own players' wagers."""
        self.disputed = False
        """Whether a card was moved that the record does not show where it came from."""
        self.dealer_disputed = False
        """Whether a card was moved from the dealer that the record does not show there."""
        self.acted = False
        self.turn_of = 0
        """The last spot, by number, that has played."""
        self.looked = False
        """Whether the dealer checked the hole card."""
        self.look_seq = 0
        """The fact of the last check; 0 for none."""
        self.saw_blackjack = False
        """The result of the last check."""
        self.looks_differ = False
        """Whether two checks had different results."""
        self.last_play = -1
        """Index of the last card dealt, decision, or turning of the hole card."""
        self.hole_shown_seq = 0
        """The fact that showed the hole card; 0 for none."""
        self.early_draw_seq = 0
        self.payments.clear()
        self.sweep = 0
        self.in_sweep = False
        """Whether the previous fact was a payment."""
        self.last_seq = 0
        self.counted = False
        """Whether the tray was counted after the close."""
        self.tray_was_sure = True
        """Whether every round before it since the last count had its payments observed."""

    def settling_seen(self) -> bool:
        """Whether a payment for a hand or an insurance was observed."""
        if not self.beside:
            return len(self.payments) > 0
        return any(paid.what in ("main", "insurance") for paid in self.payments)

    def players_done(self) -> bool:
        """Tell whether the record shows that the players' turns are over.

        Unlike the phase it also counts a hole card that was dealt face up, and a third card.
        """
        return self.phases.closed or self.hole_shown_seq > 0 or len(self.dealer) > 2

    def looked_at_blackjack(self) -> bool:
        """Tell whether every check of the hole card found a blackjack."""
        return self.saw_blackjack and not self.looks_differ

    def blank(self) -> Noted:
        """Return a blank note for the next fact."""
        return self._spare.pop() if self._spare else Noted()

    def spot(self, number: int) -> Spot:
        """Return a spot by its number, in play or not; the dealer's place for ``DEALER``."""
        spot = self._known.get(number)
        if spot is None:
            spot = self._known[number] = Spot(number, self._serial)
        elif spot.serial != self._serial:
            spot.begin(self._serial)
        return spot

    def named(self) -> list[Spot]:
        """Return every spot in the record, by number."""
        numbers = sorted(self._known)
        spots = [self._known[number] for number in numbers if number > 0]
        return [spot for spot in spots if spot.serial == self._serial]

    def enter(self, spot: Spot) -> None:
        """Put a spot into play, in order of number."""
        spot.in_play = True
        at = len(self.spots)
        while at and self.spots[at - 1].number > spot.number:
            at -= 1
        self.spots.insert(at, spot)

    def leave(self, spot: Spot) -> None:
        """Take a spot out of play."""
        self.spots.remove(spot)
        spot.clear()


class Shoe:
    """The cards that have left the shoe."""

    def __init__(self, decks: int, pack: list[int], *, started: bool) -> None:
        self.decks = decks
        self.pack = pack
        """How many cards of each rank a deck holds."""
        self.cards = decks * sum(pack)
        self.held = [decks * many for many in pack]
        """How many cards of each rank the fresh shoe held."""
        self.held_faces = [
            decks * pack[face // 5] // 4 if face % 5 < 4 and face < UNKNOWN else NEVER
            for face in range(UNKNOWN + 1)
        ]
        """How many cards of each face it held, by index; one without a suit has no limit."""
        self.started = started
        """Whether its count holds from round to round: its start was observed, and the cards of
        finished rounds stay out of it."""
        self.burned = 0
        self.burn_judged = False
        self.boxed_last = NOT_BOXED
        """The last card out, by index, where it was found face up."""
        self.dealt = False
        """Whether a round has been dealt from it."""
        self.cut = False
        """Whether the cut card came in a finished round."""
        self.forget()

    def forget(self) -> None:
        """Restart the count of its cards."""
        self.out = 0
        self.out_faces = [0] * 66
        """The number of each card seen, by index."""
        self.out_ranks = [0] * 13
        self.boxed: dict[int, int] = {}
        """Boxed cards not yet seen in the discard rack: count by index."""


class Table:
    """The state that lasts from round to round."""

    def __init__(self, rules: HouseRules) -> None:
        self.shoe = Shoe(rules.decks, rules.pack, started=False)
        self.seats: dict[int, str] = {}
        """Player by spot."""
        self.entered: set[str] = set()
        """Those who have played every round of this shoe."""
        self.newcomers: set[str] = set()
        """Those who sat down since the last round was dealt."""
        self.dealt = False
        """Whether any round has been dealt."""
        self.cut_now = False
        """Whether the cut card came in the round in play, or earlier in the same shoe."""
        self.tray: int | None = None
        self.tray_change = 0
        """What payments and other changes added to the tray since the last count."""
        self.tray_seq = 0
        """The last count."""
        self.tray_sure = True
        """Whether every round since the last count had its payments observed."""


class State:
    """A table, the round in play, the house's rules, and the mistakes found so far."""

    def __init__(self, rules: HouseRules) -> None:
        self.rules = rules
        self.table = Table(rules)
        self.round = Round(WITH_HOLE_CARD if rules.deals_hole_card else WITHOUT_HOLE_CARD)
        self.found: list[Violation] = []
        self.tray_changes: list[TrayChange] = []
        """Since the last result."""

    def find(
        self, code: str, seq: int, detail: str, spot: int | None = None, hand: int | None = None
    ) -> None:
        """Record a mistake: the fact that shows it, and the correct procedure."""
        self.found.append(violation(code, seq, detail, spot, hand))
