"""An engine that goes on from where another stood says what that other says."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from models.cards import Card
from models.events import (
    AnyFact,
    CardBoxed,
    CardBurned,
    CutCardReached,
    DiscardsReshuffled,
    PlayerLeft,
    PlayerSeated,
    RoundOpened,
    ShoeStarted,
    TrayChanged,
    TrayCounted,
    WagerPlaced,
)
from models.judgements import RoundResult
from server.house.rulebooks import rules_for
from settlement.engine import Engine
from settlement.engine_state import EngineState
from tests.server.evenings import evening
from tests.thoroughness import examples

KNOBS = ("mid_shoe_entry=false",)
RULES = rules_for("kansas-shoe", KNOBS)
MISTAKES = ("impossible_card", "face_up_card_used", "tray_mismatch", "mid_shoe_entry")

between = st.sampled_from(
    (
        ShoeStarted(decks=1),
        CardBoxed(card=Card("KS")),
        CardBurned(card=Card("KS")),
        CardBurned(card=None),
        CutCardReached(),
        PlayerSeated(player="ann", spots=(1, 2)),
        PlayerLeft(player="ann", spots=(1,)),
        TrayCounted(amount=100_000),
        TrayChanged(amount=-5_000, reason="buy_in", spot=1),
        DiscardsReshuffled(),
        WagerPlaced(spot=2, kind="main", amount=1000),
    )
)


def numbered(facts: Sequence[AnyFact]) -> list[AnyFact]:
    return [replace(fact, seq=seq) for seq, fact in enumerate(facts, start=1)]


def results(engine: Engine, facts: Sequence[AnyFact]) -> list[RoundResult]:
    """What an engine comes to that hears facts to their end."""
    return [*(result for fact in facts for result in engine.feed(fact)), *engine.finish()]


def engine_states(facts: Sequence[AnyFact]) -> list[tuple[int, EngineState]]:
    """What each round started from, beside where it opens."""
    engine, found = Engine(RULES), []
    for at, fact in enumerate(facts):
        engine.feed(fact)
        engine_state = engine.engine_state()
        if engine_state is not None:
            found.append((at, engine_state))
    return found


def goes_on_alike(facts: Sequence[AnyFact], at: int, engine_state: EngineState) -> None:
    whole = results(Engine(RULES), facts)
    rest = results(Engine(RULES, engine_state), facts[at:])
    assert rest == whole[len(whole) - len(rest) :]
    assert len(rest) >= sum(isinstance(fact, RoundOpened) for fact in facts[at:])


def test_it_goes_on_from_every_round_of_an_evening() -> None:
    facts = numbered(evening(40, seed=3, knobs=KNOBS, mistakes=MISTAKES))
    found = engine_states(facts)
    assert len(found) == sum(isinstance(fact, RoundOpened) for fact in facts)
    for at, engine_state in found:
        goes_on_alike(facts, at, engine_state)


@settings(max_examples=examples(25), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 350), between), min_size=1, max_size=12), st.data())
def test_it_goes_on_from_any_round_whatever_happened_between_rounds(
    more: list[tuple[int, AnyFact]], data: st.DataObject
) -> None:
    facts = list(evening(6, seed=5))
    for at, fact in more:
        facts.insert(min(at, len(facts)), fact)
    facts = numbered(facts)
    goes_on_alike(facts, *data.draw(st.sampled_from(engine_states(facts))))


def test_what_follows_tells_apart_tables_that_are_not_alike() -> None:
    """The tray counted otherwise, a card more out of the shoe: the engine_state is another."""
    facts = numbered(evening(3, seed=5))
    opening = engine_states(facts)[-1][0]
    was = dict(engine_states(facts))[opening]
    for fact in (TrayCounted(amount=1), CardBurned(card=Card("KS")), CardBoxed(card=None)):
        changed = numbered([*facts[: opening - 1], fact, *facts[opening:]])
        assert dict(engine_states(changed))[opening] != was


def test_the_engine_gives_its_state_at_the_opening_of_a_round_alone() -> None:
    engine = Engine(RULES)
    assert engine.engine_state() is None
    engine.feed(WagerPlaced(seq=1, spot=2, kind="main", amount=1000))
    assert engine.engine_state() is None
    engine.feed(RoundOpened(seq=2, round=7))
    assert engine.engine_state() is None
