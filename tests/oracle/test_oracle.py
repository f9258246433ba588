import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from settlement.engine import Engine
from settlement.rulebooks import overridden
from tests.oracle.measuring import Asked, Measured, RoundFaulted, blocks, measured, play, played
from tests.oracle.player import WAGER, DeckRanOut, Table
from tests.oracle.rule_sets import ROWS, SHIPPED, RuleSet, read, rulebook

SETS = {rule_set.name: rule_set for rule_set in read(SHIPPED)}
BLIND = {rule_set.name: rule_set for rule_set in read(Path("tests/oracle/no_hole_card.jsonl"))}


def asked(rule_set: RuleSet, rounds: int, spots: int = 1) -> Asked:
    (block,) = blocks(rule_set, rounds, spots, seed=7)
    return block


def mean(rule_set: RuleSet, *settings: str, rounds: int = 20_000) -> Measured:
    rules = overridden(rulebook(rule_set), settings)
    return measured(rule_set, [play(rule_set, asked(rule_set, rounds), rules)])


def changed(rule_set: RuleSet, rows: Mapping[str, tuple[str, ...]]) -> RuleSet:
    return msgspec.structs.replace(rule_set, td={**rule_set.td, **rows})


@pytest.mark.parametrize("name", [*SETS, *BLIND])
def test_every_strategy_is_played_without_a_violation(name: str) -> None:
    rule_set = {**SETS, **BLIND}[name]
    block = play(rule_set, asked(rule_set, rounds=300, spots=5))
    assert block.squares > 0


@pytest.mark.parametrize("name", ["woo_1d_s17_das", "6d_h17_das", "1d_h17_ndas_65"])
def test_the_mean_lies_within_three_standard_errors(name: str) -> None:
    result = mean(SETS[name])
    assert result.hands == 20_000
    assert 0.7 < result.error_pct < 0.9
    assert result.holds


def test_several_spots_are_worth_what_one_is() -> None:
    rule_set = SETS["groch_6d_s17_das_ls"]
    result = measured(rule_set, [play(rule_set, asked(rule_set, 4_000, spots=5))])
    assert (result.rounds, result.hands) == (4_000, 20_000)
    assert result.error_pct > 1.1, "the spots share a dealer"
    assert result.holds


def test_a_wrong_payout_is_caught() -> None:
    assert not mean(SETS["6d_h17_das"], "blackjack_payout=1:2").holds


def test_a_wrong_table_is_caught() -> None:
    never_breaks = {f"h{total}": ("S" * 10,) * 3 for total in range(12, 17)}
    bold = {f"p{points}": ("S" * 10,) * 3 for points in range(2, 11)}
    assert not mean(changed(SETS["6d_h17_das"], {**never_breaks, **bold})).holds


def test_a_wrong_exact_value_is_caught() -> None:
    wrong = msgspec.structs.replace(SETS["6d_h17_das"], ev_pct_TD=20.0)
    assert not mean(wrong, rounds=2_000).holds


@pytest.mark.parametrize(
    ("setting", "code"),
    [
        ("dealer_soft17=stand", "dealer_hit_soft_17"),
        ("double_after_split=false", "double_after_split_not_allowed"),
        ("double_on=9-11", "double_total_not_allowed"),
        ("max_hands=2", "too_many_hands"),
    ],
)
def test_play_that_the_rulebook_forbids_is_shown_with_its_facts(setting: str, code: str) -> None:
    rule_set = SETS["6d_h17_das"]
    with pytest.raises(RoundFaulted) as fault:
        mean(rule_set, setting)
    first, *_ = str(fault.value).splitlines()[1:]
    assert json.loads(first) == {"type": "shoe_started", "decks": 6}
    assert f'"code":"{code}"' in str(fault.value)


@pytest.mark.parametrize(("peek", "lost"), [(True, {-WAGER}), (False, {-WAGER, -2 * WAGER})])
def test_doubles_and_splits_are_lost_to_a_blackjack_only_if_the_dealer_did_not_look(
    peek: bool, lost: set[int]
) -> None:
    rule_set = msgspec.structs.replace(SETS["6d_h17_das"], peek=peek)
    table, engine = Table(rule_set, 7, "1"), Engine(rulebook(rule_set))
    results = [result for _ in range(400) for fact in table.deal() for result in engine.feed(fact)]
    against = [result for result in results if result.dealer.outcome == "blackjack"]
    assert {spot.net for result in against for spot in result.spots} - {0} == lost


def test_a_round_that_needs_more_cards_than_there_are_is_no_round() -> None:
    hits = dict.fromkeys(ROWS, ("H" * 10,) * 3)
    table = Table(changed(SETS["woo_1d_s17_das"], hits), 7, "1")
    table._shoe = table._shoe[:20]
    with pytest.raises(DeckRanOut):
        table.deal()


def test_the_same_block_is_the_same_cards_wherever_it_is_played() -> None:
    rule_set = SETS["woo_2d_h17_das_ls_rsa"]
    wanted = [msgspec.structs.replace(asked(rule_set, 200), block=block) for block in (0, 1, 2)]
    here = {block.asked: block.gain for block in played(rule_set, wanted, jobs=1)}
    there = {block.asked: block.gain for block in played(rule_set, wanted, jobs=2)}
    assert here == there
    assert len(set(here.values())) > 1
