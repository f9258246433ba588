"""Compare settled rounds with the truth, round by round."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeAlias

import msgspec

from models.cards import Card
from models.judgements import HandResult, RoundResult, SpotResult, Violation
from models.places import hand_name
from server.house.wording import cards_text
from settlement.reconcile.sightings import same

_Cards: TypeAlias = tuple[Card | None, ...]


class Tally(msgspec.Struct, frozen=True):
    """The last line of a replay whose session has a truth."""

    rounds: int
    exact: int
    review: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A round of the truth beside the settled round; either may be absent."""

    round: int
    verdict: str
    """``exact``, ``review`` (a person has to decide) or ``wrong``."""
    differences: tuple[str, ...]


def compare_sessions(
    truth: Sequence[RoundResult], found: Sequence[RoundResult], *, held: bool = False
) -> tuple[Comparison, ...]:
    """Compare by round number; a round on only one side is a difference.

    ``held``: players get their first two cards face down and hold them. Which of the two was dealt
    first is then no difference: the player decides how he lays them down, and nothing that is owed
    depends on it.
    """
    real = {result.round: result for result in truth}
    settled = {result.round: result for result in found}
    return tuple(
        _compare(number, real.get(number), settled.get(number), held=held)
        for number in sorted(real.keys() | settled.keys())
    )


def tally(comparisons: Sequence[Comparison]) -> Tally:
    """Count the rounds by how they compare."""
    counted = Counter(one.verdict for one in comparisons)
    return Tally(len(comparisons), counted["exact"], counted["review"], counted["wrong"])


def differences(truth: RoundResult, found: RoundResult, *, held: bool = False) -> tuple[str, ...]:
    """Describe the differences of ``found`` from ``truth``; empty when they agree.

    ``held`` as for :func:`compare_sessions`.
    """
    return (
        *_dealer(truth, found),
        *_spots(truth.spots, found.spots, held=held),
        *_violations(truth.violations, found.violations),
        *_changed("house net", truth.net, found.net),
    )


def _compare(
    number: int, truth: RoundResult | None, found: RoundResult | None, *, held: bool
) -> Comparison:
    if truth is None or found is None:
        lone = "settled, but never played" if truth is None else "played, but never settled"
        open_item = found is not None and found.status == "review"
        return Comparison(number, "review" if open_item else "wrong", (f"the round was {lone}",))
    found_differences = differences(truth, found, held=held)
    if found.status == "review":
        return Comparison(number, "review", found_differences)
    if found_differences and found.reviews:
        return Comparison(number, "review", found_differences)
    return Comparison(number, "wrong" if found_differences else "exact", found_differences)


def _dealer(truth: RoundResult, found: RoundResult) -> Iterator[str]:
    yield from _other_cards("dealer cards", truth.dealer.cards, found.dealer.cards)
    yield from _other_cards("dealer burned", truth.dealer.burned, found.dealer.burned)
    yield from _changed("dealer outcome", truth.dealer.outcome, found.dealer.outcome)


def _spots(
    truth: Sequence[SpotResult], found: Sequence[SpotResult], *, held: bool
) -> Iterator[str]:
    real = {spot.spot: spot for spot in truth}
    settled = {spot.spot: spot for spot in found}
    for number in sorted(real.keys() | settled.keys()):
        name = f"spot {number}"
        if number not in real or number not in settled:
            yield f"{name} {'did not play' if number not in real else 'is missing'}"
            continue
        yield from _hands(name, real[number].hands, settled[number].hands, held=held)
        yield from _changed(f"{name} insurance", real[number].insurance, settled[number].insurance)
        yield from _changed(f"{name} beside", _beside(real[number]), _beside(settled[number]))
        yield from _changed(f"{name} net", real[number].net, settled[number].net)


def _beside(spot: SpotResult) -> tuple[object, ...]:
    return spot.side, spot.bettors, spot.toke, spot.coupons


def _hands(
    name: str, truth: Sequence[HandResult], found: Sequence[HandResult], *, held: bool
) -> Iterator[str]:
    for number, (real, settled) in enumerate(zip_longest(truth, found)):
        hand = f"{name} {hand_name(number)}"
        if real is None or settled is None:
            yield f"{hand} {'was not played' if real is None else 'is missing'}"
            continue
        for field in ("hand", "stake", "outcome", "net"):
            yield from _changed(f"{hand} {field}", getattr(real, field), getattr(settled, field))
        cards = real.cards
        if held and len(truth) == 1 and _fit((*cards[1::-1], *cards[2:]), settled.cards):
            cards = settled.cards
        yield from _other_cards(f"{hand} cards", cards, settled.cards)
        yield from _other_cards(f"{hand} burned", real.burned, settled.burned)


def _violations(truth: Sequence[Violation], found: Sequence[Violation]) -> Iterator[str]:
    real = Counter((one.code, one.spot, one.hand) for one in truth)
    settled = Counter((one.code, one.spot, one.hand) for one in found)
    yield from (f"mistake {_where(key)} was not found" for key in (real - settled).elements())
    yield from (f"mistake {_where(key)} did not happen" for key in (settled - real).elements())


def _where(key: tuple[str, int | None, int | None]) -> str:
    code, spot, hand = key
    place = (
        "" if spot is None else f" at spot {spot}" + ("" if hand is None else f" {hand_name(hand)}")
    )
    return f"{code}{place}"


def _other_cards(what: str, real: _Cards, settled: _Cards) -> Iterator[str]:
    """Describe cards that differ: one stated by its rank, its suit in doubt, fits any suit."""
    if not _fit(real, settled):
        yield from _changed(what, real, settled)


def _fit(real: _Cards, settled: _Cards) -> bool:
    return len(real) == len(settled) and all(map(_fits, real, settled))


def _fits(real: Card | None, settled: Card | None) -> bool:
    return real is settled or (real is not None and settled is not None and same(real, settled))


def _changed(what: str, real: object, settled: object) -> Iterator[str]:
    if real != settled:
        yield f"{what}: {_written(real)} in truth, {_written(settled)} settled"


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return cards_text(value) or "none"
    if isinstance(value, msgspec.Struct):
        return msgspec.json.encode(value).decode()
    return "unknown" if value is None else str(value)
