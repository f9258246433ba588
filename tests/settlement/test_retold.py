"""The same rounds told otherwise settle the same: what a record may leave out decides nothing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random

import msgspec
import pytest

from models import events as ev
from models.cards import Card
from models.events import AnyFact
from models.judgements import RoundResult
from models.rulebook import Rulebook
from settlement.engine import Engine, settle
from settlement.ledger import post
from tests.settlement.plain.game import Game, Style
from tests.settlement.plain.houses import any_house
from tests.settlement.table import IDS, rules

SHOWS_BY_ITSELF = ("hit", "stand", "double")
HOUSES = (*map(rules, IDS), *(any_house(f"retold:{number}") for number in range(13)))
by_house = pytest.mark.parametrize("house", HOUSES, ids=lambda house: house.id)


def played(
    house: Rulebook, seed: int, rounds: int = 12, style: Style | None = None
) -> list[AnyFact]:
    game = Game(house, f"{house.id}:retold:{seed}", style=style)
    return [fact for one in game.rounds(rounds) for fact in one.facts]


def settled(house: Rulebook, facts: Iterable[AnyFact]) -> list[RoundResult]:
    return list(settle(enumerate(facts, 1), house))


def outcome(results: Iterable[RoundResult]) -> list[object]:
    """Leave of the rounds what does not name a fact by its number."""
    return [
        (
            one.round,
            one.status,
            one.dealer,
            one.spots,
            [(found.code, found.spot, found.hand) for found in one.violations],
        )
        for one in results
    ]


def _json(facts: Sequence[AnyFact]) -> Iterator[AnyFact]:
    for fact in facts:
        yield msgspec.json.decode(msgspec.json.encode(fact), type=AnyFact)


def _without_decisions(facts: Sequence[AnyFact]) -> Iterator[AnyFact]:
    for fact in facts:
        if not (isinstance(fact, ev.PlayerActed) and fact.action in SHOWS_BY_ITSELF):
            yield fact


def _without_manners(facts: Sequence[AnyFact]) -> Iterator[AnyFact]:
    for fact in facts:
        yield (
            msgspec.structs.replace(fact, manner=None) if isinstance(fact, ev.PlayerActed) else fact
        )


def _stamped(facts: Sequence[AnyFact]) -> Iterator[AnyFact]:
    for seq, fact in enumerate(facts, 1):
        yield msgspec.structs.replace(fact, seq=seq, at=seq * 10**9, table="BJ-07", evidence=(seq,))


def _without_touches(facts: Sequence[AnyFact]) -> Iterator[AnyFact]:
    for fact in facts:
        if not isinstance(fact, ev.CardsTouched):
            yield fact


def _in_more_parts(facts: Sequence[AnyFact]) -> Iterator[AnyFact]:
    """Lay every wager in two lots of chips, but for the two kinds that begin a decision."""
    for fact in facts:
        whole = isinstance(fact, ev.WagerPlaced) and fact.amount > 1
        if whole and isinstance(fact, ev.WagerPlaced) and fact.kind in ("main", "insurance"):
            yield msgspec.structs.replace(fact, amount=fact.amount // 2)
            yield msgspec.structs.replace(fact, amount=fact.amount - fact.amount // 2)
        else:
            yield fact


RETELLINGS: tuple[Callable[[Sequence[AnyFact]], Iterator[AnyFact]], ...] = (
    _json,
    _without_decisions,
    _without_manners,
    _without_touches,
    _stamped,
    _in_more_parts,
)


@pytest.mark.parametrize("retold", RETELLINGS, ids=lambda told: told.__name__.strip("_"))
@by_house
def test_rounds_retold_settle_the_same(
    house: Rulebook, retold: Callable[[Sequence[AnyFact]], Iterator[AnyFact]]
) -> None:
    if retold is _without_decisions:  # a hit on 21 does not show by itself
        house = msgspec.structs.replace(house, hit_on_21=False)
    for seed in range(3):
        facts = played(house, seed)
        assert outcome(settled(house, retold(facts))) == outcome(settled(house, facts))


@by_house
def test_ranks_alone_settle_the_same(house: Rulebook) -> None:
    """A reader that tells no suits leaves the money as it is, where no pay table asks for them."""
    house = msgspec.structs.replace(house, pays=())

    def suitless(fact: AnyFact) -> AnyFact:
        if isinstance(fact, ev.CardDealt | ev.CardExposed | ev.CardBurned) and fact.card:
            return msgspec.structs.replace(fact, card=Card(f"{fact.card.rank}?"))
        return fact

    for seed in range(3):
        facts = [fact for fact in played(house, seed) if not isinstance(fact, ev.CardBoxed)]
        bare = settled(house, map(suitless, facts))
        assert [_money(one) for one in bare] == [_money(one) for one in settled(house, facts)]
        assert all(one.violations == () for one in bare)


def _money(result: RoundResult) -> object:
    return [
        (spot.spot, spot.net, [(hand.outcome, hand.net) for hand in spot.hands])
        for spot in result.spots
    ]


@by_house
def test_the_ledger_of_random_rounds_sums_to_zero(house: Rulebook) -> None:
    for result in settled(house, played(house, 1)):
        lines = post(result)
        assert sum(line.amount for line in lines) == 0
        assert sum(line.amount for line in lines if line.account == "tray") == result.net


@by_house
def test_rounds_before_the_record_breaks_off_stay_as_they_are(house: Rulebook) -> None:
    facts = played(house, 2)
    whole = settled(house, facts)
    for cut in range(0, len(facts), 7):
        engine = Engine(house, patient=True)
        closed = [result for fact in facts[:cut] for result in engine.feed(fact)]
        assert closed == whole[: len(closed)]
        assert len(closed) + len(engine.finish()) <= len(whole)


@by_house
def test_tables_told_in_one_stream_settle_each_for_itself(house: Rulebook) -> None:
    random = Random(house.id)
    tables = {f"BJ-{n}": _numbered(played(house, n, style=TOLD), 100 * n) for n in (1, 2, 3)}
    waiting = {name: list(facts) for name, facts in tables.items()}
    stream = []
    while waiting:
        name = random.choice(list(waiting))
        stream.append(msgspec.structs.replace(waiting[name].pop(0), table=name))
        if not waiting[name]:
            del waiting[name]
    mixed = outcome(settled(house, stream))
    alone = [one for facts in tables.values() for one in outcome(settled(house, facts))]
    assert sorted(mixed, key=str) == sorted(alone, key=str)


TOLD = Style(
    marked=True,
    shoe_seen=True,
    seats_told=True,
    peek=True,
    reads_down=True,
    said=0.5,
    payments="end",
    tray=True,
    late=False,
)


def _numbered(facts: Sequence[AnyFact], start: int) -> list[AnyFact]:
    """Number the rounds from ``start``, so that tables can be told apart by them."""
    return [
        ev.RoundOpened(round=start + fact.round) if isinstance(fact, ev.RoundOpened) else fact
        for fact in facts
    ]


@by_house
def test_spots_renamed_from_left_to_right_settle_the_same(house: Rulebook) -> None:
    names = {spot: 2 * spot + 1 for spot in range(1, 8)}
    facts = played(house, 4)
    renamed = [_renamed(fact, names) for fact in facts]
    for one, other in zip(settled(house, facts), settled(house, renamed), strict=True):
        assert _money(other) == [
            (names[spot.spot], spot.net, [(hand.outcome, hand.net) for hand in spot.hands])
            for spot in one.spots
        ]
        assert other.violations == ()


@by_house
def test_spots_permuted_gain_what_they_gained(house: Rulebook) -> None:
    """Who sits where is a matter of turns and order, never of money."""
    for seed in range(3):
        order = list(range(1, 8))
        Random(seed).shuffle(order)
        names = dict(zip(range(1, 8), order, strict=True))
        facts = played(house, seed, rounds=6, style=TOLD)
        permuted = [_renamed(fact, names) for fact in facts]
        for one, other in zip(settled(house, facts), settled(house, permuted), strict=True):
            gains = {names[spot.spot]: spot.net for spot in one.spots}
            assert {spot.spot: spot.net for spot in other.spots} == gains


def _renamed(fact: AnyFact, names: dict[int, int]) -> AnyFact:
    if isinstance(fact, ev.PlayerSeated | ev.PlayerLeft):
        return msgspec.structs.replace(fact, spots=tuple(names[spot] for spot in fact.spots))
    if isinstance(fact, ev.CardDealt | ev.CardExposed):
        return fact if fact.to == "dealer" else msgspec.structs.replace(fact, to=names[fact.to])
    spot = getattr(fact, "spot", None)
    return fact if spot is None else msgspec.structs.replace(fact, spot=names[spot])
