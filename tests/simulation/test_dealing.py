from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.errors import OperatorError
from models.events import CardDealt, CutCardReached, RoundOpened, ShoeStarted, WagerPlaced
from settlement.engine import settle
from settlement.rulebooks import overridden
from simulation.dealing import deal_session
from simulation.session import Settings
from simulation.table import Table
from tests.simulation.tables import LAYOUTS, RULEBOOKS, results, rules_of
from tests.thoroughness import examples

SEEDS = st.integers(0, 10**6)


@settings(max_examples=examples(25), deadline=None)
@given(
    seed=SEEDS,
    rulebook=st.sampled_from(RULEBOOKS),
    layout=st.sampled_from(LAYOUTS),
    peek=st.booleans(),
)
def test_a_table_without_fault_breaks_no_rule_and_pays_to_the_cent(
    seed: int, rulebook: str, layout: str, peek: bool
) -> None:
    played = Settings(rulebook=rulebook, layout=layout, seed=seed, peek=peek, rounds=3)
    found = results(played)
    assert [result.round for result in found] == [1, 2, 3]
    assert [violation for result in found for violation in result.violations] == []
    assert {result.status for result in found} == {"final"}


@settings(max_examples=examples(20), deadline=None)
@given(seed=SEEDS, rulebook=st.sampled_from(RULEBOOKS))
def test_no_more_of_a_card_leaves_a_shoe_than_its_decks_hold(seed: int, rulebook: str) -> None:
    rules = rules_of(rulebook)
    out: Counter[str] = Counter()
    for step in deal_session(Table(rules, range(1, 6), seed), 4, seed):
        if isinstance(step.fact, ShoeStarted):
            out.clear()
        if isinstance(step.fact, CardDealt) and step.card is not None:
            out[step.card.value] += 1
        assert all(count <= rules.decks for count in out.values())


@settings(max_examples=examples(10), deadline=None)
@given(seed=SEEDS, rulebook=st.sampled_from(RULEBOOKS))
def test_a_continuous_shuffler_gets_the_cards_of_each_round_back(seed: int, rulebook: str) -> None:
    rules = overridden(rules_of(rulebook), ("shoe=continuous", "decks=1"))
    steps = deal_session(Table(rules, (1, 2, 3), seed), 8, seed)
    told, out = [type(step.fact) for step in steps], Counter[str]()
    assert told.count(ShoeStarted) == 1
    assert CutCardReached not in told
    for step in steps:
        if isinstance(step.fact, RoundOpened):
            assert all(count == 1 for count in out.values())
            out.clear()
        if isinstance(step.fact, CardDealt) and step.card is not None:
            out[step.card.value] += 1
    assert not list(settle(enumerate((step.fact for step in steps), 1), rules))[-1].violations


@settings(max_examples=examples(10), deadline=None)
@given(seed=SEEDS, rulebook=st.sampled_from(RULEBOOKS))
def test_the_same_seed_deals_the_same_script(seed: int, rulebook: str) -> None:
    rules = rules_of(rulebook)
    one, again = (deal_session(Table(rules, (1, 2, 3), seed), 3, seed) for _ in range(2))
    assert one == again


def test_another_seed_deals_other_cards() -> None:
    rules = rules_of("kansas-shoe")
    one, other = (deal_session(Table(rules, (1, 2, 3), seed), 1, seed) for seed in (1, 2))
    assert [step.card for step in one] != [step.card for step in other]


@settings(max_examples=examples(15), deadline=None)
@given(seed=SEEDS, rulebook=st.sampled_from(RULEBOOKS))
def test_players_bet_chips_at_or_above_their_minimum(seed: int, rulebook: str) -> None:
    rules = rules_of(rulebook)
    table = Table(rules, range(1, 8), seed)
    for step in deal_session(table, 2, seed):
        if isinstance(step.fact, WagerPlaced) and step.fact.kind == "main":
            assert step.fact.amount >= table.minimum(step.fact.spot)
            assert step.fact.amount % 500 == 0


def test_a_shoe_past_its_cut_card_is_shuffled_before_the_next_round() -> None:
    rules = rules_of("casino-single-deck")
    steps = deal_session(Table(rules, range(1, 8), 5), 4, 5)
    opened = [n for n, step in enumerate(steps) if isinstance(step.fact, RoundOpened)]
    shuffles = [n for n, step in enumerate(steps) if isinstance(step.fact, ShoeStarted)]
    assert len(shuffles) > 1
    assert all(any(start < first for first in opened) for start in shuffles[1:])


def test_more_scenes_than_rounds_are_refused() -> None:
    with pytest.raises(OperatorError, match="do not fit into 1 rounds"):
        deal_session(Table(rules_of("home"), (1,), 1), 1, 1, include=("split", "double"))


@pytest.mark.parametrize("peek", [True, False])
@pytest.mark.parametrize("rulebook", ["kansas-shoe", "casino-shoe"])
def test_a_table_without_a_hole_card_breaks_no_rule(rulebook: str, peek: bool) -> None:
    knobs = ("dealer_second_card=after_players",)
    found = results(Settings(rulebook=rulebook, seed=3, peek=peek, rounds=25, knobs=knobs))
    assert [result.status for result in found] == ["final"] * 25
    assert [violation for result in found for violation in result.violations] == []
