import pytest

from models.errors import OperatorError
from settlement.clauses import BREAKS
from simulation.mistakes import known, mistake_for
from simulation.session import Settings
from tests.simulation.tables import RULEBOOKS, results, rules_of
from tests.thoroughness import one_in


def _possible(rulebook: str, code: str) -> bool:
    try:
        mistake_for(code, rules_of(rulebook), 7)
    except OperatorError:
        return False
    return True


def code_of(name: str) -> str:
    """Return the violation code of a mistake."""
    return known()[name].code


KNOBBED = ("burn_missing", "above_table_max", "double_after_split_not_allowed")
PAIRS = [
    (rulebook, code)
    for rulebook in RULEBOOKS
    for code in known()
    if code in KNOBBED or _possible(rulebook, code)
]
OF_A_SHOE = ("burn_missing", "dealt_past_cut_card", "mid_shoe_entry")
"""Mistakes at a shoe that is dealt out alone."""
# A tray that was counted wrongly once is off at every later count.
IN_SHOES = [
    (rulebook, code)
    for rulebook, code in PAIRS
    if rulebook.endswith("-shoe") and code not in KNOBBED and code != "tray_mismatch"
]


def test_every_code_of_the_format_can_be_committed() -> None:
    assert set(BREAKS) <= set(known())


def test_every_mistake_can_be_committed_under_some_shipped_rulebook() -> None:
    assert {name for _, name in PAIRS} == set(known())


def test_a_mistake_has_the_name_of_its_code_unless_the_floor_rules_on_it() -> None:
    assert {name: code_of(name) for name in known() if name != code_of(name)} == {
        "misdeal_called_off": "spot_skipped",
        "card_offered_to_next": "extra_card_after_double",
    }


@pytest.mark.parametrize(("rulebook", "code"), one_in(3, PAIRS))
def test_a_mistake_is_found_once_and_nothing_else_is(rulebook: str, code: str) -> None:
    settings = Settings(
        rulebook=rulebook, seed=len(code), rounds=3, mistakes=(code,), layout="seven-spots"
    )
    found = [violation.code for result in results(settings) for violation in result.violations]
    assert found == [code_of(code)]


@pytest.mark.parametrize("code", one_in(3, [code for code in known() if code not in OF_A_SHOE]))
def test_a_mistake_at_a_continuous_shuffler_is_found_once(code: str) -> None:
    book = next(book for book, possible in PAIRS if possible == code)
    settings = Settings(rulebook=book, knobs=("shoe=continuous",), rounds=3, mistakes=(code,))
    found = [violation.code for result in results(settings) for violation in result.violations]
    assert found == [code_of(code)]


@pytest.mark.parametrize("code", OF_A_SHOE)
def test_what_is_no_mistake_at_a_continuous_shuffler_is_refused(code: str) -> None:
    knobs = ("shoe=continuous", "mid_shoe_entry=false", "burn_after_shuffle=1")
    with pytest.raises(OperatorError, match="under kansas-shoe this is no mistake"):
        results(Settings(knobs=knobs, mistakes=(code,)))


@pytest.mark.parametrize("peek", [True, False])
@pytest.mark.parametrize("code", known())
def test_a_mistake_is_found_whether_or_not_the_dealer_peeks(code: str, peek: bool) -> None:
    rulebook = next(book for book, possible in PAIRS if possible == code)
    settings = Settings(rulebook=rulebook, seed=11, rounds=2, mistakes=(code,), peek=peek)
    found = [violation.code for result in results(settings) for violation in result.violations]
    assert found == [code_of(code)]


def test_an_unknown_mistake_is_refused_by_name() -> None:
    with pytest.raises(OperatorError, match="no mistake is called 'misdeal'"):
        results(Settings(mistakes=("misdeal",)))


def test_a_mistake_that_a_house_allows_names_a_house_that_does_not() -> None:
    with pytest.raises(OperatorError, match="Choose the rulebook home"):
        results(Settings(rulebook="kansas-shoe", mistakes=("dealer_hit_soft_17",)))


def test_a_mistake_between_spots_needs_as_many() -> None:
    with pytest.raises(OperatorError, match="1 spots are too few"):
        results(Settings(spots=(2,), mistakes=("player_turn_order",)))


def test_several_mistakes_fall_into_rounds_of_their_own() -> None:
    asked = ("wrong_payout", "dealer_hit_hard_17", "deal_order")
    found = results(Settings(rounds=4, mistakes=asked))
    codes = [[violation.code for violation in result.violations] for result in found]
    assert sorted(map(len, codes)) == [0, 1, 1, 1]
    assert {code for round_codes in codes for code in round_codes} == set(asked)


@pytest.mark.parametrize("layout", ["five-spots", "seven-spots"])
@pytest.mark.parametrize(("rulebook", "code"), one_in(3, IN_SHOES))
def test_a_mistake_in_every_round_is_found_in_every_round(
    rulebook: str, code: str, layout: str
) -> None:
    """So many scenes use up the nines of a shoe: without them hands come out otherwise."""
    settings = Settings(
        rulebook=rulebook, seed=len(code), rounds=20, mistakes=(code,) * 20, layout=layout
    )
    found = [violation.code for result in results(settings) for violation in result.violations]
    assert found == [code_of(code)] * 20
