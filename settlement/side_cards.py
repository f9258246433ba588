"""The conditions of side bets: what cards are, as far as they are known."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from models.cards import RANKS, SUITS, Card
from models.money import Odds
from models.side_bet import Condition, HandAward, SideBet
from settlement.hands import UNKNOWN, counted_faces, points_of
from settlement.prices import Price

NO: Final = 0
WAITS: Final = 1
"""Cards that it needs have still to be dealt."""
MAYBE: Final = 2
YES: Final = 3

_NO_RANK: Final = UNKNOWN // 5
_NO_SUIT: Final = 4
_RED: Final = (1, 2)
_NEEDED: Final = {"hand": 1, "player": 2, "player_and_up": 3, "up": 1, "dealer_two": 2, "dealer": 1}


class Seen:
    """The cards that side bets look at, by index; ``UNKNOWN`` where nobody saw one.

    Attributes:
        player: the player's first two, as far as dealt.
        two: the dealer's first two.
        up: the position of the up card among these; -1 for none.
        dealer: the dealer's final hand.
        total: its points, where they are known.
        busted: whether it is past 21.
        blackjack: whether it is a blackjack.
        draws: whether a card is still due to it.
        hand: the player's final hand, where a line of the main wager's pay table is asked for;
            ``blackjack`` is then about it.
        doubled: whether it was doubled.
        split: whether it comes from a split.
    """

    def __init__(self, player: list[int], two: list[int], up: int) -> None:
        self.player = player
        self.two = two
        self.up = up
        self.dealer: list[int] = []
        self.total = 0
        self.busted = False
        self.blackjack = False
        self.draws = False
        self.hand: list[int] = []
        self.doubled = False
        self.split = False

    def cards(self, of: str) -> list[int]:
        """Return the cards of a selection, as far as dealt."""
        if of == "player":
            return self.player
        if of == "dealer":
            return self.dealer
        if of == "hand":
            return self.hand
        if of == "dealer_two":
            return self.two
        if of == "player_and_dealer_two":
            return self.player + self.two
        up = [self.two[self.up]] if self.up >= 0 else []
        return up if of == "up" else self.player + up


class Look:
    """The cards of one condition, and all the others."""

    def __init__(self, cards: list[int], seen: Seen) -> None:
        self.cards = cards
        self.seen = seen


class Test:
    """One thing that a condition asks of its cards."""

    def ask(self, look: Look) -> int:
        """Return ``YES`` or ``NO``, or ``MAYBE`` where that hangs on a card that is not known."""
        raise NotImplementedError


class _Same(Test):
    def __init__(self, what: str) -> None:
        self._what = what

    def ask(self, look: Look) -> int:
        found = [_property(card, self._what) for card in look.cards]
        known = [one for one in found if one >= 0]
        if any(one != known[0] for one in known):
            return NO
        return YES if len(known) == len(found) else MAYBE


def _property(card: int, what: str) -> int:
    """Return a card's rank, value, suit or colour as a number; -1 where it is not known."""
    if what == "rank":
        return _rank(card)
    if what == "value":
        return points_of(card) or -1
    suit = _suit(card)
    return suit if what == "suit" or suit < 0 else int(suit in _RED)


def _rank(card: int) -> int:
    return -1 if card == UNKNOWN else card // 5


def _suit(card: int) -> int:
    return -1 if card == UNKNOWN or card % 5 == _NO_SUIT else card % 5


class _Each(Test):
    """Every card has one of these properties."""

    def __init__(self, what: str, allowed: Sequence[int]) -> None:
        self._what = what
        self._allowed = list(allowed)

    def ask(self, look: Look) -> int:
        found = [_property(card, self._what) for card in look.cards]
        if any(one >= 0 and one not in self._allowed for one in found):
            return NO
        return MAYBE if -1 in found else YES


class _Sequence(Test):
    def ask(self, look: Look) -> int:
        ranks = [_rank(card) for card in look.cards]
        known = sorted([rank for rank in ranks if rank >= 0])
        if len(set(known)) < len(known):
            return NO
        if len(known) < len(ranks):
            return MAYBE
        if known[0] == 0 and known[-1] == len(RANKS) - 1:
            known = [*known[1:], len(RANKS)]
        return YES if known[-1] - known[0] == len(known) - 1 else NO


class _Exactly(Test):
    """The cards are these, in any order."""

    def __init__(self, wanted: Sequence[int]) -> None:
        self._wanted = list(wanted)

    def ask(self, look: Look) -> int:
        left = _without([card for card in look.cards if _suit(card) >= 0], self._wanted)
        unsure = [card for card in look.cards if _suit(card) < 0]
        if left is None or len(left) != len(unsure):
            return NO
        ranks = [_rank(card) for card in unsure if card != UNKNOWN]
        if _without(ranks, [face // 5 for face in left]) is None:
            return NO
        return MAYBE if unsure else YES


def _without(found: Sequence[int], wanted: Sequence[int]) -> list[int] | None:
    """Return what is left of the wanted without those found; ``None`` if one is not wanted."""
    left = list(wanted)
    for one in found:
        if one not in left:
            return None
        left.remove(one)
    return left


def _of_rank(card: int, faces: list[int]) -> bool:
    return any(face // 5 == card // 5 for face in faces)


class _Holds(Test):
    """These cards are among them."""

    def __init__(self, wanted: Sequence[int]) -> None:
        self._wanted = list(wanted)

    def ask(self, look: Look) -> int:
        left = self._wanted.copy()
        unsure: list[int] = []
        for card in look.cards:
            if _suit(card) < 0:
                unsure.append(card)
            elif card in left:
                left.remove(card)
        if not left:
            return YES
        may = [card for card in unsure if card == UNKNOWN or _of_rank(card, left)]
        return MAYBE if len(left) <= len(may) else NO


class _Ranks(Test):
    """The ranks are these, in any order."""

    def __init__(self, wanted: Sequence[int]) -> None:
        self._wanted = list(wanted)

    def ask(self, look: Look) -> int:
        known = [rank for rank in [_rank(card) for card in look.cards] if rank >= 0]
        left = _without(known, self._wanted)
        if left is None or len(left) != len(look.cards) - len(known):
            return NO
        return MAYBE if left else YES


class _Total(Test):
    def __init__(self, low: int, high: int, *, aces_low: bool) -> None:
        self._low = low
        self._high = high
        self._aces_low = aces_low

    def ask(self, look: Look) -> int:
        made = counted_faces(look.cards)
        if not made.known():
            return NO if made.low > self._high else MAYBE
        total = made.low if self._aces_low else made.total()
        return YES if self._low <= total <= self._high else NO


class _DealersTotal(Test):
    def __init__(self, low: int, high: int) -> None:
        self._low = low
        self._high = high

    def ask(self, look: Look) -> int:
        if look.seen.draws:
            return WAITS
        return YES if self._low <= look.seen.total <= self._high else NO


class _Count(Test):
    def __init__(self, low: int, high: int) -> None:
        self._low = low
        self._high = high

    def ask(self, look: Look) -> int:
        if look.seen.draws:
            return WAITS
        return YES if self._low <= len(look.cards) <= self._high else NO


class _Busted(Test):
    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted

    def ask(self, look: Look) -> int:
        if look.seen.draws:
            return WAITS
        return YES if look.seen.busted == self._wanted else NO


class _FinalBlackjack(Test):
    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted

    def ask(self, look: Look) -> int:
        if look.seen.draws and len(look.cards) < 2:
            return WAITS
        return YES if look.seen.blackjack == self._wanted else NO


class _Played(Test):
    """How the hand was played."""

    def __init__(self, *, doubled: bool | None, split: bool | None) -> None:
        self._doubled = doubled
        self._split = split

    def ask(self, look: Look) -> int:
        seen = look.seen
        if self._doubled is not None and seen.doubled != self._doubled:
            return NO
        return NO if self._split is not None and seen.split != self._split else YES


class _Blackjack(Test):
    def __init__(self, *, wanted: bool) -> None:
        self._wanted = wanted

    def ask(self, look: Look) -> int:
        made = counted_faces(look.cards)
        if made.known():
            return YES if made.natural() == self._wanted else NO
        may = made.low in (0, 1, 10)
        return MAYBE if may else (NO if self._wanted else YES)


class _Between(Test):
    """The last card ranks strictly between the two before it, ace high."""

    def __init__(self, low: int, high: int) -> None:
        self._low = low
        self._high = high

    def ask(self, look: Look) -> int:
        first, second, up = [_rank(card) or len(RANKS) for card in look.cards]
        if min(first, second, up) < 0:
            return MAYBE
        most, least = max(first, second), min(first, second)
        fits = self._low <= most - least - 1 <= self._high
        return YES if fits and least < up < most else NO


class Asked:
    """A condition of a pay table, with its cards."""

    def __init__(self, condition: Condition, of: str) -> None:
        self.of = of
        self.tests = _tests(condition, of)
        self._needs = _NEEDED.get(of, 4)

    def holds(self, seen: Seen) -> int:
        """Return whether the cards are what it asks for."""
        cards = seen.cards(self.of)
        if len(cards) < self._needs:
            return WAITS
        look = Look(cards, seen)
        return least([test.ask(look) for test in self.tests])


def least(answers: list[int]) -> int:
    """Return what several answers come to that must all be yes."""
    return min(answers)


def _tests(asked: Condition, of: str) -> list[Test]:
    tests: list[Test] = [_Same(what) for what in asked.same]
    if asked.sequence:
        tests.append(_Sequence())
    if asked.cards:
        tests.append(_Exactly([card.index for card in asked.cards]))
    if asked.holds:
        tests.append(_Holds([card.index for card in asked.holds]))
    if asked.ranks is not None:
        tests.append(_Ranks([RANKS.index(rank) for rank in asked.ranks]))
    if asked.among is not None:
        tests.append(_Each("rank", [RANKS.index(rank) for rank in asked.among]))
    if asked.suit is not None:
        tests.append(_Each("suit", [SUITS.index(asked.suit)]))
    if asked.colour is not None:
        tests.append(_Each("colour", [int(asked.colour == "red")]))
    return tests + _sums(asked, of) + _ends(asked, of)


def _sums(asked: Condition, of: str) -> list[Test]:
    tests: list[Test] = []
    if asked.total is not None:
        low, high = asked.total
        whole = of == "dealer"
        tests.append(_DealersTotal(low, high) if whole else _Total(low, high, aces_low=False))
    if asked.low_total is not None:
        tests.append(_Total(asked.low_total[0], asked.low_total[1], aces_low=True))
    if asked.between is not None:
        tests.append(_Between(asked.between[0], asked.between[1]))
    return tests


def _ends(asked: Condition, of: str) -> list[Test]:
    tests: list[Test] = []
    if asked.count is not None:
        tests.append(_Count(asked.count[0], asked.count[1]))
    if asked.busted is not None:
        tests.append(_Busted(wanted=asked.busted))
    if asked.blackjack is not None:
        final, wanted = of in ("dealer", "hand"), asked.blackjack
        tests.append(_FinalBlackjack(wanted=wanted) if final else _Blackjack(wanted=wanted))
    if asked.doubled is not None or asked.split is not None:
        tests.append(_Played(doubled=asked.doubled, split=asked.split))
    return tests


class Line:
    """One line of a pay table."""

    def __init__(self, award: str, asked: list[Asked], odds: Odds) -> None:
        self.award = award
        self._asked = asked
        self.odds = odds

    def holds(self, seen: Seen) -> int:
        """Return whether the cards win it."""
        return least([one.holds(seen) for one in self._asked])


class Bet:
    """A side bet as the engine plays it; ``name`` is the one that wagers state."""

    def __init__(self, name: str, bet: SideBet, unit: int, *, up: bool) -> None:
        self.name = name
        self.adds_up = bet.adds_up
        self.main_push: str = bet.main_push
        self.dealer_blackjack: str = bet.dealer_blackjack
        self.dealer_plays = bet.dealer_plays
        self.min = bet.min or 0
        self.max = bet.max
        share = bet.most_of_main
        self.share = None if share is None else Price(share, 1, up=False)
        self._unit = unit
        self._up = up
        self.lines: list[Line] = []
        looks: set[str] = set()
        for award in bet.pays:
            asked = [Asked(one, one.of or bet.cards) for one in award.when]
            looks.update([one.of for one in asked])
            self.lines.append(Line(award.award, asked, award.odds))
        self.sees_player = any("player" in of for of in looks)
        self.sees_dealer = any(of not in ("player", "dealer") for of in looks)
        """Whether it looks at the dealer's first two cards."""

    def prizes(self, seen: Seen) -> list[tuple[int, ...]]:
        """Return every set of lines that the cards may win; none while a card is due.

        It is a single set where the cards that count are known.
        """
        return prizes(self.lines, seen, adds_up=self.adds_up)

    def price(self, won: tuple[int, ...]) -> Price:
        """Return the odds of these lines together."""
        pays, per = 0, 1
        for at in won:
            odds = self.lines[at].odds
            pays, per = pays * odds.per + odds.pays * per, per * odds.per
        return Price(Odds(pays, per), self._unit, up=self._up)

    def named(self, won: tuple[int, ...]) -> str:
        """Return the names of these lines."""
        return " and ".join([self.lines[at].award for at in won])


def prizes(lines: Sequence[Line], seen: Seen, *, adds_up: bool) -> list[tuple[int, ...]]:
    """Return every set of lines that the cards may win, as :meth:`Bet.prizes` does."""
    sets: list[tuple[int, ...]] = [()]
    done: list[tuple[int, ...]] = []
    for at, line in enumerate(lines):
        answer = line.holds(seen)
        if answer == WAITS:
            return []
        if answer == NO:
            continue
        won = [(*one, at) for one in sets]
        if not adds_up:
            done += won
            won = []
        sets = won if answer == YES else sets + won
        if not sets:
            break
    return done + sets


class HandLine(Line):
    """One line of the pay table of the main wager; ``wins`` whatever the dealer has."""

    def __init__(self, award: HandAward, unit: int, *, up: bool) -> None:
        super().__init__(award.award, [Asked(one, "hand") for one in award.when], award.odds)
        self.price = Price(award.odds, unit, up=up)
        self.wins = award.wins
        self._bonus = award.bonus
        self.plain = HandLine(replace(award, bonus=()), unit, up=up) if award.bonus else self
        """The same line without fixed amounts."""

    def bonus(self, stake: int, up: Card | None) -> int:
        """Return the fixed amount that a wager wins beside the odds, against that up card."""
        reached = [
            one.pays
            for one in self._bonus
            if up is not None and up.rank in one.up and stake >= one.wager
        ]
        return max(reached, default=0)


def lines_made(
    lines: Sequence[HandLine], hand: list[int], *, blackjack: bool, doubled: bool, split: bool
) -> list[HandLine | None]:
    """Return every line that a hand of known ranks may make; ``None`` for none.

    It is a single one unless a line asks for suits that are not known.
    """
    seen = Seen([], [], -1)
    seen.hand, seen.blackjack, seen.doubled, seen.split = hand, blackjack, doubled, split
    return [lines[won[0]] if won else None for won in prizes(lines, seen, adds_up=False)]
