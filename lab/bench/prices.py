"""Count what the reckoning holds to be likely: ``python -m lab.bench.prices [--record]``.

Each price of ``settlement/reckoning/odds.py`` that something shows is counted here, and printed
beside the one in use. Simulated tables, dealt without a mistake, show how people play and deal; the
films that ``lab.bench.rates`` recorded show how a camera errs. ``--numbers`` lists the numbers
that the inference holds; ``--vary NAME=VALUE ...`` plays sessions of the noise bench with other
prices, from the interpreted sources.
"""

import argparse
import ast
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import hypot, log, sqrt
from statistics import fmean
from typing import Final, Literal, NamedTuple

import msgspec

from lab.bench.figures import NORMAL_95, wilson
from lab.bench.noise import HEAD, table_row
from lab.bench.rates import counted_of_all, film_rates
from lab.bench.record import ROOT, Claim, add_option, record
from models.cards import Card
from models.events import (
    AnyFact,
    CardDealt,
    CardExposed,
    CardSighted,
    Dealt,
    PaymentMade,
    PlayerActed,
    RoundClosed,
    RoundOpened,
    WagerPlaced,
)
from models.layout import TableLayout
from settlement import native
from settlement.hands import natural, total
from settlement.reckoning import odds
from settlement.reconcile.felt import Felt
from settlement.reconcile.sightings import Place
from simulation.dealing import deal_session, is_shoe_game
from simulation.house import house
from simulation.ideal import ideal_observations
from simulation.staging import Staged, stage
from simulation.table import Table
from stream.library import layout_text
from tests.sensors.noise import Plan, Rates, game_of
from tests.sensors.noise import played as simulated
from vision.scenes.performance import CardMove

BOOKS: Final = ("kansas-shoe", "casino-double-deck")
_TIMES: Final = {"kansas-shoe": 5.0, "casino-double-deck": 1.0}
"""So many times the errors: with a shoe few rounds are asked otherwise."""
_FELT: Final = "five-spots"
_ROUNDS: Final = 50
"""Of a session."""
_SECOND: Final = 1_000_000_000
_TABLE: Final = "reckoning/odds"
_PACKAGE: Final = "settlement.reckoning"


class Count(NamedTuple):
    """How often something was so, of how many; or a mean, of so many."""

    seen: float
    of: int


@dataclass
class Counted:
    """What simulated tables showed."""

    counts: Counter[str] = field(default_factory=Counter)
    lists: dict[str, list[float]] = field(default_factory=dict)

    def add(self, name: str, *, so: bool) -> None:
        """Count one time, and whether it was so."""
        self.counts[name] += so
        self.counts[f"{name} of"] += 1

    def measure(self, name: str, value: float) -> None:
        """Take in one measure."""
        self.lists.setdefault(name, []).append(value)


class Deal(NamedTuple):
    """A card that was dealt to a hand: the fact, the way it came, how many its hand had before."""

    fact: CardDealt
    move: CardMove
    number: int


def played(found: Counted, rulebook: str, seed: int, rounds: int) -> None:
    """Deal a session without a mistake, and count what people and arms did."""
    rules = house(rulebook).rules
    layout = msgspec.toml.decode(layout_text(_FELT), type=TableLayout)
    shoe = is_shoe_game(rules)
    table = Table(rules, [spot.spot for spot in layout.spots], seed)
    staged = stage(deal_session(table, rounds, seed), layout, seed, shoe=shoe)
    came = {move.until_ns: move for move in staged.performance.cards if _is_dealt(move)}
    felt = Felt(layout)
    for facts in _rounds(staged.facts):
        deals = _deals(facts, came)
        if shoe:
            _decisions(found, facts)
        else:
            _rhythm(found, [deal.move.until_ns for deal in deals if deal.number < 2])
        _places(found, deals, facts, felt)
    _arms(found, came, staged, layout)
    _moved(found, staged, layout)


def _is_dealt(move: CardMove) -> bool:
    return move.start is None and move.end is not None and move.by == "dealer"


def _rounds(facts: Sequence[AnyFact]) -> Iterator[list[AnyFact]]:
    own: list[AnyFact] = []
    for fact in facts:
        if isinstance(fact, RoundOpened):
            own = []
        own.append(fact)
        if isinstance(fact, RoundClosed):
            yield own


def _deals(facts: Sequence[AnyFact], came: Mapping[int, CardMove]) -> list[Deal]:
    found: list[Deal] = []
    had: Counter[tuple[object, int]] = Counter()
    for fact in facts:
        if isinstance(fact, CardDealt) and (fact.at or 0) in came:
            found.append(Deal(fact, came[fact.at or 0], had[fact.to, fact.hand]))
            had[fact.to, fact.hand] += 1
    return found


def _decisions(found: Counted, facts: Sequence[AnyFact]) -> None:
    """Count the players' decisions of a round whose cards lie open, but for spots that split."""
    for fact in facts:
        if isinstance(fact, PaymentMade) and fact.kind == "main":
            found.add("hands left alone", so=fact.amount == 0)
    dealer = [fact for fact in facts if isinstance(fact, CardDealt) and fact.to == "dealer"]
    shown = [fact.card for fact in facts if isinstance(fact, CardExposed) and fact.to == "dealer"]
    if natural((dealer[0].card, dealer[1].card or next(iter(shown), None))):
        return
    placed = [fact for fact in facts if isinstance(fact, WagerPlaced)]
    split = {fact.spot for fact in placed if fact.kind == "split"}
    doubled = {fact.spot for fact in placed if fact.kind == "double"}
    for spot in {fact.spot for fact in placed if fact.kind == "main"} - split:
        own = (fact for fact in facts if isinstance(fact, CardDealt) and fact.to == spot)
        _of_hand(found, tuple(fact.card for fact in own), doubled=spot in doubled)


def _of_hand(found: Counted, faces: tuple[Card | None, ...], *, doubled: bool) -> None:
    """Count what a player did with each two and more cards of his hand."""
    points, soft = total(faces[:2])
    if natural(faces[:2]):
        return
    found.add("first two cards doubled", so=doubled)
    if points >= 12 and not soft:
        found.add("hard 12 and more doubled", so=doubled)
    for number in range(2, 2 if doubled else len(faces) + 1):
        points, soft = total(faces[:number])
        if points < 21:
            hits = len(faces) > number
            found.add("hands that draw", so=hits)
            found.add(f"hands {_reach(points, soft=soft)} that draw", so=hits)


def _reach(points: int, *, soft: bool) -> str:
    if points <= 11:
        return "to 11"
    return "to 16" if points <= 16 or (soft and points == 17) else "from 17"


def _rhythm(found: Counted, times: Sequence[int]) -> None:
    """Measure how evenly the cards of a deal from the hand come."""
    pace = 0.0
    for one, other in pairwise(times):
        step = other - one
        if pace:
            off = log(step / pace)
            away = abs(off) > 3 * odds.RHYTHM_SPREAD
            found.add("cards of a deal that come out of step", so=away)
            if not away:
                found.measure("rhythm of a deal", off)
        pace = (3 * pace + step) / 4 if pace else step


def _places(found: Counted, deals: Sequence[Deal], facts: Sequence[AnyFact], felt: Felt) -> None:
    """Measure how far from where it is due a card lies, and whether it lies across its hand."""
    split = {fact.spot for fact in facts if isinstance(fact, WagerPlaced) and fact.kind == "split"}
    doubled = {
        (fact.spot, fact.hand)
        for fact in facts
        if isinstance(fact, WagerPlaced) and fact.kind == "double"
    }
    by_hand: dict[tuple[Dealt, int], list[Place]] = {}
    for fact, move, number in deals:
        end = move.end
        assert end is not None
        place = Place(end.x_mm, end.y_mm, end.angle_deg)
        own = by_hand.setdefault((fact.to, fact.hand), [])
        if fact.to == "dealer":
            if number >= 2 and own:
                aside = place.x_mm - own[0].x_mm
                off = hypot(aside - number * odds.ROW_STEP_MM, place.y_mm - own[0].y_mm)
                found.add("the dealer's draws in his row", so=off < 2 * odds.NEAR_SPREAD_MM)
                found.measure("step of the dealer's row", aside / number)
        else:
            if own and fact.to not in split:
                off = felt.off_mm(place, [own[-1]], fact.to)
                near = off < 3 * odds.PLACE_SPREAD_MM
                found.add("cards far from their place", so=not near)
                if near:
                    found.measure("place of a card", off / sqrt(2))
            if number >= 2 and fact.to not in split:
                due = (fact.to, fact.hand) in doubled
                across = felt.sideways(place, fact.to)
                found.add("cards along a doubled hand, or across another", so=across != due)
        if fact.to != "dealer" or fact.face == "up":
            own.append(place)


def _arms(
    found: Counted, came: Mapping[int, CardMove], staged: Staged, layout: TableLayout
) -> None:
    """Count the cards that arms hid from a perfect camera until it saw the next one."""
    seen: dict[int, int] = {}
    for at, one in ideal_observations(staged, layout, start_ns=0, table="T"):
        if isinstance(one, CardSighted) and one.change == "new":
            seen.setdefault(one.at or 0, at)
    for one_ns, other_ns in pairwise(sorted(came)):
        if other_ns - one_ns < 2 * _SECOND and other_ns in seen:
            late = seen.get(one_ns, seen[other_ns] + 1) > seen[other_ns]
            found.add("cards that arms hide until the next is seen", so=late)


def _moved(found: Counted, staged: Staged, layout: TableLayout) -> None:
    """Count the cards that are moved or turned down while they are to lie there."""
    split = [fact.at or 0 for fact in staged.facts if isinstance(fact, PlayerActed)]
    half = layout.width_mm / 2
    moved = "cards moved or laid back"
    for move in staged.performance.cards:
        found.counts[f"{moved} of"] += _is_dealt(move)
        ends = [one for one in (move.start, move.end) if one is not None]
        on_felt = [abs(one.x_mm) < half and 0.0 < one.y_mm < layout.depth_mm for one in ends]
        by_split = any(0 <= move.from_ns - at < _SECOND for at in split)
        if sum(on_felt) == 2 and not by_split:
            found.counts[moved] += (move.face_before, move.face_after) != ("down", "up")


# --- the prices, and what counts them ---------------------------------------------------------


class Price(NamedTuple):
    """A price in the table of odds, and what shows it."""

    name: str
    what: str
    by: Literal["table", "film", "spread", "mean"] = "table"


PRICES: Final = (
    Price("HIT", "hands that draw"),
    Price("HIT_TO_11", "hands to 11 that draw"),
    Price("HIT_TO_16", "hands to 16 that draw"),
    Price("HIT_FROM_17", "hands from 17 that draw"),
    Price("DOUBLES", "first two cards doubled"),
    Price("DOUBLES_HARD_12", "hard 12 and more doubled"),
    Price("PUSHES", "hands left alone"),
    Price("OUT_OF_STEP", "cards of a deal that come out of step"),
    Price("RHYTHM_SPREAD", "rhythm of a deal", "spread"),
    Price("MOVES", "cards moved or laid back"),
    Price("UNUSUAL", "cards along a doubled hand, or across another"),
    Price("NEAR", "cards far from their place"),
    Price("PLACE_SPREAD_MM", "place of a card", "spread"),
    Price("IN_ROW", "the dealer's draws in his row"),
    Price("ROW_STEP_MM", "step of the dealer's row", "mean"),
    Price("HIDDEN", "cards that arms hide until the next is seen"),
    Price("HIDDEN_LONG", "cards late", "film"),
    Price("MISSED", "backs missed", "film"),
    Price("MISSED_FACE", "hands missed", "film"),
    Price("NO_FACE", "spurious faces", "film"),
    Price("NO_BACK", "spurious backs", "film"),
    Price("DOUBTED", "faces doubted", "film"),
    Price("SEEN_AGAIN", "spurious and repeated", "film"),
    Price("GOES_UNSEEN", "not seen to go", "film"),
    Price("LASTING", "errors that lasted", "film"),
)


def counted(price: Price, found: Counted) -> Count:
    """Return what shows a price."""
    if price.by == "film":
        return Count(*counted_of_all("unknown", price.what))
    if price.by == "table":
        return Count(found.counts[price.what], found.counts[f"{price.what} of"])
    values = found.lists[price.what]
    mean = fmean(values)
    if price.by == "spread":
        mean = sqrt(fmean(value * value for value in values))
    return Count(round(mean, 3), len(values))


def bounds(price: Price, count: Count, found: Counted) -> tuple[float, float]:
    """Return the 95% bounds of what was counted."""
    if price.by in ("table", "film"):
        return wilson(count.seen / count.of, count.of)
    values = found.lists[price.what]
    spread = sqrt(fmean((value - count.seen) ** 2 for value in values))
    reach = NORMAL_95 * (spread if price.by == "mean" else count.seen / sqrt(2)) / sqrt(count.of)
    return count.seen - reach, count.seen + reach


def line(price: Price, count: Count, found: Counted) -> str:
    """Return a price in use beside what was counted, and the factor between them."""
    used = float(getattr(odds, price.name))
    share = count.seen / count.of if price.by in ("table", "film") else count.seen
    low, high = bounds(price, count, found)
    # Of none counted the nearest that the count leaves possible says how far apart they are.
    factor = used / (share or high)
    of = f"{count.seen:,g} of {count.of:,}"
    return (
        f"| {price.name} | {used:g} | {share:.3g} | {of} | {low:.2g} to {high:.2g} |"
        f" {factor:.2g} | {price.what} |"
    )


# --- other values ------------------------------------------------------------------------------


def varied(values: Mapping[str, float], seeds: range) -> Iterator[str]:
    """Play sessions of the noise bench by other prices; yield a line of its table for each book."""
    if native.found(native.RECKONING):
        raise SystemExit(f"set {native.INTERPRETED}=1: compiled code has its numbers built in")
    for module in [one for name, one in sys.modules.items() if name.startswith(_PACKAGE)]:
        for name in values.keys() & vars(module).keys():
            setattr(module, name, values[name])
    for book in BOOKS:
        times = _TIMES[book]
        film = film_rates(game_of(book), "unknown").times(times)
        rates = Rates().times(times).of_shoe()
        plan = Plan(book, rates, _ROUNDS, 10, clinging=False, show=False, film=film)
        found: Counter[str] = Counter()
        for seed in seeds:
            found += simulated(seed, plan)[0]
        yield table_row(book, found)


# --- the numbers that the inference holds ---------------------------------------------------------


def numbers() -> Iterator[tuple[str, str, str]]:
    """Yield the numbers that stand at the head of modules: the file, the name, the value."""
    for package in ("reckoning", "reconcile"):
        for file in sorted((ROOT / "settlement" / package).glob("*.py")):
            for node in ast.parse(file.read_text("utf-8")).body:
                if not isinstance(node, ast.AnnAssign) or node.value is None:
                    continue
                if any(_is_number(one) for one in ast.walk(node.value)):
                    name, value = ast.unparse(node.target), ast.unparse(node.value)
                    yield f"{package}/{file.stem}", name, value


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def main() -> None:
    """Count, and print what was counted beside what is in use."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_option(parser)
    parser.add_argument("--sessions", type=int, default=20, help="of each rulebook")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--numbers", action="store_true", help="list the inference's numbers")
    parser.add_argument("--vary", nargs="+", default=[], metavar="NAME=VALUE")
    asked = parser.parse_args()
    if asked.vary:
        values = {name: float(value) for name, value in (one.split("=") for one in asked.vary)}
        print(HEAD)
        for row in varied(values, range(asked.first, asked.first + asked.sessions)):
            print(row, flush=True)
        return
    if asked.numbers:
        held = list(numbers())
        for where, name, value in held:
            print(f"{where}: {name} = {value}")
        print(f"{len(held)} numbers, {sum(where == _TABLE for where, _, _ in held)} of them odds")
        return
    found = Counted()
    for book in BOOKS:
        for seed in range(asked.first, asked.first + asked.sessions):
            played(found, book, seed, _ROUNDS)
    print("| price | in use | counted | of | 95% | factor | what |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    claims = []
    for price in PRICES:
        count = counted(price, found)
        print(line(price, count, found))
        if price.by in ("table", "film"):
            claims.append(Claim(f"{price.name}: {price.what}", count.seen, of=count.of))
        else:
            low, high = bounds(price, count, found)
            near = (round(low, 3), round(high, 3))
            claims.append(Claim(f"{price.name}: {price.what}", count.seen, interval=near))
    if asked.record:
        record("prices", claims)


if __name__ == "__main__":
    main()
