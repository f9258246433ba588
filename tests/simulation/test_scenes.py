import pytest

from models.errors import OperatorError
from models.events import CardDealt, WagerPlaced
from models.judgements import RoundResult
from simulation.scenes import scene_names
from simulation.session import Settings, prepare
from tests.simulation.tables import results

CASINO = "casino-shoe"


def the_round(name: str, rulebook: str = CASINO) -> RoundResult:
    (found,) = results(Settings(rulebook=rulebook, rounds=1, seed=3, include=(name,)))
    assert found.violations == ()
    return found


def test_a_split_makes_two_hands() -> None:
    assert max(len(spot.hands) for spot in the_round("split").spots) == 2


def test_a_resplit_makes_three_hands() -> None:
    assert max(len(spot.hands) for spot in the_round("resplit").spots) == 3


def test_split_aces_get_one_card_each() -> None:
    spot = max(the_round("split_aces").spots, key=lambda spot: len(spot.hands))
    assert [len(hand.cards) for hand in spot.hands] == [2, 2]
    assert all(hand.cards[0] is not None and hand.cards[0].rank == "A" for hand in spot.hands)


def test_a_double_adds_to_the_stake_and_takes_one_card() -> None:
    facts = prepare(Settings(rulebook=CASINO, rounds=1, seed=3, include=("double",))).staged.facts
    (chips,) = [f for f in facts if isinstance(f, WagerPlaced) and f.kind == "double"]
    cards = [f for f in facts if isinstance(f, CardDealt) and f.to == chips.spot]
    assert len(cards) == 3


def test_a_blackjack_is_paid_at_its_odds() -> None:
    hands = [hand for spot in the_round("player_blackjack").spots for hand in spot.hands]
    (paid,) = [hand for hand in hands if hand.outcome == "blackjack"]
    assert paid.net == paid.stake * 3 // 2


def test_a_dealer_blackjack_pays_those_who_insured() -> None:
    found = the_round("dealer_blackjack_insured")
    assert found.dealer.outcome == "blackjack"
    insured = [spot.insurance for spot in found.spots if spot.insurance is not None]
    assert insured
    assert all(insurance.net == 2 * insurance.stake for insurance in insured)


def test_insurance_is_lost_where_the_hole_card_is_no_ten() -> None:
    insured = [spot.insurance for spot in the_round("insurance_lost").spots if spot.insurance]
    assert insured
    assert all(insurance.net == -insurance.stake for insurance in insured)


@pytest.mark.parametrize(
    ("name", "outcome"), [("surrender", "surrender"), ("bust", "bust"), ("push", "push")]
)
def test_a_hand_turns_out_as_asked(name: str, outcome: str) -> None:
    outcomes = {hand.outcome for spot in the_round(name).spots for hand in spot.hands}
    assert outcome in outcomes


def test_a_dealer_breaks_when_asked() -> None:
    assert the_round("dealer_bust").dealer.outcome == "bust"


def test_a_dealer_hits_his_soft_17() -> None:
    dealer = the_round("dealer_soft_17").dealer
    assert len(dealer.cards) > 2


@pytest.mark.parametrize("name", ["many_cards", "dealer_many_cards"])
def test_a_hand_grows_long_when_asked(name: str) -> None:
    found = the_round(name)
    lengths = [len(hand.cards) for spot in found.spots for hand in spot.hands]
    assert max([*lengths, len(found.dealer.cards)]) >= 5


@pytest.mark.parametrize("name", scene_names())
def test_no_situation_breaks_a_rule(name: str) -> None:
    assert the_round(name).violations == ()


def test_situations_share_a_round_when_joined() -> None:
    found = the_round("split+player_blackjack")
    hands = [hand for spot in found.spots for hand in spot.hands]
    assert len(hands) == 6
    assert "blackjack" in {hand.outcome for hand in hands}


def test_two_dealers_do_not_fit_into_a_round() -> None:
    with pytest.raises(OperatorError, match="do not fit into one round"):
        the_round("dealer_bust+dealer_blackjack")


def test_what_a_house_does_not_offer_is_refused() -> None:
    with pytest.raises(OperatorError, match="kansas-shoe does not offer it"):
        the_round("surrender", "kansas-shoe")


def test_an_unknown_situation_is_refused_by_name() -> None:
    with pytest.raises(OperatorError, match="no situation is called 'misdeal'"):
        the_round("misdeal")
