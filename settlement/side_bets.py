"""Declared side bets: what each is due as far as its cards are known.

A bet settles where every card that is not known leaves it the same; otherwise it stays open with
its possible results.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from msgspec import UNSET, UnsetType

from models.judgements import HandResult, OddCents, PossibleSide, SideOutcome, SideResult
from models.money import Cents
from settlement.doubt import Way, each_once, either, joined
from settlement.facts import card_named
from settlement.hands import FACES, UNKNOWN, face_of, points_of
from settlement.side_cards import Bet, Seen
from settlement.side_wagers import declared
from settlement.state import Beside, Noted, Shoe, Spot, State

_SUITED: Final = tuple(face for face, card in enumerate(FACES) if card is not None and card.suited)
_SUITS: Final = 4
_MOST_DEALS: Final = 20_000
"""Deals of unknown cards that are gone through at most: two of any face, and more where less is
open. Beyond that, whatever a condition leaves open may be. It bounds time; not measured."""

_MOST_NAMED: Final = 8
"""Cards named in the condition of a possible result."""


class _Result:
    """What a bet comes to in one case."""

    def __init__(self, outcome: SideOutcome, net: Cents | None, won: tuple[int, ...]) -> None:
        self.outcome = outcome
        self.net = net
        self.won = won


_PAYS: Final = ("side_bet.pays",)
_PENDING: Final = _Result("pending", None, ())
_RETURNED: Final = _Result("push", 0, ())


class _Case:
    """A possible deal: the faces assumed for the unknown cards, and the dealer's hand."""

    def __init__(self, assumed: tuple[int, ...], way: Way) -> None:
        self.assumed = assumed
        self.way = way


class Felt:
    """The cards of a finished round that a spot's side bets look at."""

    def __init__(self, state: State, spot: Spot, ways: Sequence[Way]) -> None:
        round_, rules = state.round, state.rules
        self.ways = ways
        self.disputed = round_.disputed and (
            spot.hands[0].rarely().disputed or round_.dealer_disputed
        )
        """Whether a card that was moved is none that lay there."""
        self.waits = rules.waits_for_underdraw
        self.shoe = state.table.shoe
        self.dealt = [card.card for card in round_.dealer]
        self.up = _up(round_.dealer[:2], 0 if rules.dealer_first_card == "up" else 1)
        self.player, notes = _first_two(spot, round_.record)
        self.notes: list[Noted | None] = [*notes, *round_.dealer[:2]]

    def seen(self, case: _Case, open_at: Sequence[int]) -> Seen:
        """Return the cards of a case, with its faces in the open places."""
        faces = self.player + self.dealt[:2]
        for place, face in zip(open_at, case.assumed, strict=False):
            faces[place] = face
        many = len(self.player)
        seen = Seen(faces[:many], faces[many:], self.up)
        played = case.way.played
        seen.dealer = self.dealt[: len(played.counted.cards)]
        seen.total, seen.busted = played.counted.total(), played.counted.busted()
        seen.blackjack = played.blackjack()
        seen.draws = self.waits and played.outcome == "short"
        return seen

    def open_places(self, bet: Bet) -> list[int]:
        """Return the places of the cards that a bet looks at and whose face is not fully known."""
        many = len(self.player)
        places = list(range(many)) if bet.sees_player else []
        if bet.sees_dealer:
            places += range(many, many + len(self.dealt[:2]))
        faces = self.player + self.dealt[:2]
        return [place for place in places if faces[place] not in _SUITED]

    def faces_at(self, place: int) -> list[int]:
        """Return every face that an open card may have."""
        face = (self.player + self.dealt[:2])[place]
        if face != UNKNOWN:
            return _with_suits(face)
        note = self.notes[place]
        if note is None or not note.between:
            return list(_SUITED)
        return [one for face in note.between for one in _with_suits(face)]


def _with_suits(face: int) -> list[int]:
    if face in _SUITED:
        return [face]
    return list(_SUITED) if face == UNKNOWN else [face // 5 * 5 + suit for suit in range(_SUITS)]


def _up(first: Sequence[Noted], by_rule: int) -> int:
    """Return the position of the up card; with both dealt face up, the one that should be."""
    ups = [at for at, card in enumerate(first) if not card.down]
    return -1 if not ups else by_rule if by_rule in ups else ups[0]


def _first_two(spot: Spot, record: Sequence[Noted]) -> tuple[list[int], list[Noted | None]]:
    """Return the player's first two cards, also of a hand that was split since, with their facts.

    A split leaves the first card in hand 0 and puts the second first into hand 1.
    """
    hands = spot.hands[:2]
    places = [(hands[0], 0), (hands[1], 0) if len(hands) > 1 else (hands[0], 1)]
    faces: list[int] = []
    notes: list[Noted | None] = []
    for hand, at in places:
        if at < len(hand.cards):
            before = hand.cards[:at].count(None)
            unread = hand.cards[at] is None and before < len(hand.unread)
            faces.append(face_of(hand.cards[at]))
            notes.append(record[hand.unread[before]] if unread else None)
    return faces, notes


def settle_sides(spot: Spot, state: State, ways: Sequence[Way], main: Sequence[HandResult]) -> None:
    """Settle every declared side bet of a spot whose main wagers are settled."""
    felt: Felt | None = None
    for one in spot.beside:
        bet = declared(state.rules, one)
        if bet is None or not one.stakes:
            continue
        if felt is None:
            felt = Felt(state, spot, ways)
        one.side = settle(one, bet, spot, felt, main)
        one.nets[0, "side"] = one.side.net


def settle(one: Beside, bet: Bet, spot: Spot, felt: Felt, main: Sequence[HandResult]) -> SideResult:
    """Settle one side bet.

    Args:
        one: its chips.
        bet: its rules.
        spot: where it lies.
        felt: the round's cards.
        main: the results of the spot's hands.
    """
    if spot.all_called_off():
        return _result(one, _Result("void", 0, ()), bet)
    question = _Question(one, bet, felt, _pushes(bet, main))
    found = question.answers([_Case((), way) for way in felt.ways], [])
    open_at = felt.open_places(bet)
    if len(found) > 1 and open_at:
        cases = _deals(felt, open_at)
        if cases:
            return question.concluded(question.answers(cases, open_at), open_at)
    return question.concluded(found, [])


class _Group:
    """All cases in which a bet comes to the same."""

    def __init__(self, result: _Result) -> None:
        self.result = result
        self.wins: list[tuple[int, ...]] = []
        """The sets of lines won."""
        self.cases: list[_Case] = []


class _Question:
    """What a bet comes to, with everything that it depends on."""

    def __init__(self, one: Beside, bet: Bet, felt: Felt, pushes: Sequence[bool]) -> None:
        self.one = one
        self.bet = bet
        self.felt = felt
        self.pushes = pushes

    def answers(self, cases: Sequence[_Case], open_at: Sequence[int]) -> list[_Group]:
        """Return everything that the bet comes to in these cases, the best first."""
        stake = self.one.stake(0)
        groups: dict[tuple[str, int | None], _Group] = {}
        for case in cases:
            seen = self.felt.seen(case, open_at)
            for result in _results(self.bet, stake, seen, self.pushes):
                key = (str(result.outcome), result.net)
                group = groups.setdefault(key, _Group(result))
                group.cases.append(case)
                if result.won not in group.wins:
                    group.wins.append(result.won)
        return sorted(groups.values(), key=_best_first)

    def concluded(self, found: Sequence[_Group], open_at: Sequence[int]) -> SideResult:
        """Return the one answer, or that it is open, with all of them."""
        one, bet = self.one, self.bet
        if self.felt.disputed and found[0].result.outcome != "pending":
            return _disputed(one, bet, found)
        if len(found) == 1:
            group = found[0]
            won = group.wins[0] if len(group.wins) == 1 else ()
            return _result(one, _Result(group.result.outcome, group.result.net, won), bet)
        most = max(found, key=_many)
        possible = [
            PossibleSide(
                group.result.outcome,
                group.result.net,
                _condition(bet, self.felt, group, open_at, rest=group is most),
            )
            for group in found
        ]
        return _result(one, _Result("unknown", None, ()), bet, tuple(possible))


def _best_first(group: _Group) -> tuple[bool, int]:
    net = group.result.net
    return net is None, -(net or 0)


def _results(bet: Bet, stake: Cents, seen: Seen, pushes: Sequence[bool]) -> Iterator[_Result]:
    """Yield everything that a bet may come to with these cards."""
    if not pushes:
        yield _PENDING
    for push in pushes:
        effect = bet.main_push if push else "stands"
        if seen.blackjack and bet.dealer_blackjack != "stands":
            effect = bet.dealer_blackjack
        if effect == "returns":
            yield _RETURNED
        elif effect == "loses":
            yield _Result("lose", -stake, ())
        else:
            yield from _by_cards(bet, stake, seen)


def _by_cards(bet: Bet, stake: Cents, seen: Seen) -> Iterator[_Result]:
    prizes = bet.prizes(seen)
    if not prizes:
        yield _PENDING
    for won in prizes:
        if won:
            yield _Result("win", bet.price(won).won(stake), won)
        else:
            yield _Result("lose", -stake, ())


def _pushes(bet: Bet, main: Sequence[HandResult]) -> tuple[bool, ...]:
    """Return whether the main wager pushes, both where that is open; none while it is pending."""
    if bet.main_push == "stands":
        return (False,)
    outcomes = {hand.outcome for hand in main}
    if outcomes == {"push"}:
        return (True,)
    if outcomes & {"win", "lose", "blackjack", "bust", "surrender"}:
        return (False,)
    return (True, False) if "unknown" in outcomes else ()


def _deals(felt: Felt, open_at: Sequence[int]) -> list[_Case]:
    """Return every deal of the open cards that the shoe may hold; none where they are too many."""
    each = [felt.faces_at(place) for place in open_at]
    many = len(felt.ways)
    for faces in each:
        many *= len(faces)
    if many > _MOST_DEALS:
        return []
    deals = list(product(*each))
    held = [deal for deal in deals if _holds(felt, open_at, deal) and _once(felt, open_at, deal)]
    return [
        _Case(deal, way)
        for deal in held or deals
        for way in felt.ways
        if _fits(felt, open_at, deal, way)
    ]


def _holds(felt: Felt, open_at: Sequence[int], deal: tuple[int, ...]) -> bool:
    """Return whether the shoe may hold these cards beside those that were seen.

    A card of known rank is among the seen ones of that rank already.
    """
    shoe, faces = felt.shoe, felt.player + felt.dealt[:2]
    new = [face for place, face in zip(open_at, deal, strict=True) if faces[place] == UNKNOWN]
    return all(_left(shoe, face, deal, new) for face in deal)


def _once(felt: Felt, open_at: Sequence[int], deal: tuple[int, ...]) -> bool:
    """Return whether no face that was stated of one card is taken for two of a hand's."""
    notes: list[Noted] = []
    faces: list[int] = []
    for place, face in zip(open_at, deal, strict=True):
        note = felt.notes[place]
        if note is not None:
            notes.append(note)
            faces.append(face)
    return each_once(notes, faces)


def _left(shoe: Shoe, face: int, deal: tuple[int, ...], new: list[int]) -> bool:
    rank = face // 5
    of_rank = len([one for one in new if one // 5 == rank])
    return (
        _SUITS * (shoe.out_faces[face] + deal.count(face)) <= shoe.held[rank]
        and shoe.out_ranks[rank] + of_rank <= shoe.held[rank]
    )


def _fits(felt: Felt, open_at: Sequence[int], deal: tuple[int, ...], way: Way) -> bool:
    """Return whether a deal has the card that a dealer's hand assumes for the only unread one."""
    if len(way.values) != 1:
        return True
    faces, value = felt.player + felt.dealt[:2], way.values[0]
    for place, face in zip(open_at, deal, strict=True):
        if place >= len(felt.player) and faces[place] == UNKNOWN:
            return face == value if value in _SUITED else points_of(face) == points_of(value)
    return True


def _disputed(one: Beside, bet: Bet, found: Sequence[_Group]) -> SideResult:
    """Leave a bet open of which a card may be another one than the record has."""
    possible = [
        PossibleSide(each.result.outcome, each.result.net, "the cards are those of the record")
        for each in found
    ]
    other = PossibleSide("unknown", None, "the card that was moved is one of them, misread")
    return _result(one, _Result("unknown", None, ()), bet, (*possible, other))


def _many(group: _Group) -> int:
    return len(group.cases)


def _condition(bet: Bet, felt: Felt, group: _Group, open_at: Sequence[int], *, rest: bool) -> str:
    """Say when a bet comes to a result; ``rest``: it does in most cases."""
    if len(open_at) == 1:
        whose = "player" if open_at[0] < len(felt.player) else "dealer"
        cards = _named([case.assumed[0] for case in group.cases])
        if rest and len(cards) > _MOST_NAMED:
            return f"the {whose}'s unknown card is any other"
        if len(cards) <= _MOST_NAMED:
            return f"the {whose}'s unknown card is {either(cards)}"
    ways = list(dict.fromkeys([case.way.condition for case in group.cases]))
    if not open_at and len(felt.ways) > 1 and len(ways) < len(felt.ways):
        return joined(ways)
    names = [bet.named(won) for won in group.wins if won]
    if group.result.outcome == "push":
        return "the bet goes back"
    if group.result.outcome == "pending":
        return "a further card is due"
    return f"the cards make {either(names)}" if names else "the cards make nothing that pays"


def _named(faces: Sequence[int]) -> list[str]:
    """Name cards, by their rank alone where all suits are among them."""
    found = sorted(set(faces))
    ranks = [face // 5 for face in found]
    named = [
        card_named(face)[0] if ranks.count(face // 5) == _SUITS else card_named(face)
        for face in found
    ]
    return list(dict.fromkeys(named))


def _result(
    one: Beside, result: _Result, bet: Bet, possible: tuple[PossibleSide, ...] | UnsetType = UNSET
) -> SideResult:
    stake, net = one.stake(0), result.net
    odd: OddCents | UnsetType = UNSET
    if result.outcome == "win" and net is not None and result.won:
        price = bet.price(result.won)
        if not price.is_exact(stake, net):
            odd = OddCents(exact=price.exactly(stake), paid=net)
    return SideResult(
        bet=one.bet,
        stake=stake,
        outcome=result.outcome,
        net=net,
        award=bet.named(result.won) if result.won else UNSET,
        clauses=_PAYS if result.outcome in ("win", "lose", "push") else UNSET,
        possible=possible,
        odd_cents=odd,
        bettor=one.bettor or UNSET,
    )
