from msgspec.structs import replace

from models.cards import Card
from server.table.comparison import compare_sessions, differences, tally
from tests.server.samples import (
    BLACKJACK_AND_INSURANCE,
    CARD_IN_DOUBT,
    DEALER_OVERDREW,
    cards,
)

PLAYED = (BLACKJACK_AND_INSURANCE, DEALER_OVERDREW)


def test_rounds_settled_as_they_happened_are_exact() -> None:
    assert [one.verdict for one in compare_sessions(PLAYED, PLAYED)] == ["exact", "exact"]


def test_wording_and_clauses_do_not_count_as_differences() -> None:
    (violation,) = DEALER_OVERDREW.violations
    reworded = replace(DEALER_OVERDREW, violations=(replace(violation, seq=77, detail="other"),))
    assert differences(DEALER_OVERDREW, reworded) == ()


def test_another_card_makes_a_round_wrong_and_is_named() -> None:
    dealer = replace(DEALER_OVERDREW.dealer, cards=cards("TS 6H"))
    (one,) = compare_sessions([DEALER_OVERDREW], [replace(DEALER_OVERDREW, dealer=dealer)])
    assert one.verdict == "wrong"
    assert one.differences == ("dealer cards: 10♠ 7♥ in truth, 10♠ 6♥ settled",)


def test_a_card_stated_by_its_rank_fits_every_suit_of_it() -> None:
    rank_alone = replace(DEALER_OVERDREW.dealer, cards=(Card("T?"), Card("7H")))
    (one,) = compare_sessions([DEALER_OVERDREW], [replace(DEALER_OVERDREW, dealer=rank_alone)])
    assert one.verdict == "exact"
    unread = replace(DEALER_OVERDREW.dealer, cards=(None, Card("7H")))
    assert differences(DEALER_OVERDREW, replace(DEALER_OVERDREW, dealer=unread)) == (
        "dealer cards: 10♠ 7♥ in truth, ?? 7♥ settled",
    )


def test_which_of_two_held_cards_came_first_is_no_difference() -> None:
    (spot,) = DEALER_OVERDREW.spots
    (hand,) = spot.hands
    first, second, *rest = hand.cards
    exchanged = replace(
        DEALER_OVERDREW,
        spots=(replace(spot, hands=(replace(hand, cards=(second, first, *rest)),)),),
    )
    assert differences(DEALER_OVERDREW, exchanged, held=True) == ()
    assert len(differences(DEALER_OVERDREW, exchanged)) == 1
    other = replace(
        DEALER_OVERDREW,
        spots=(replace(spot, hands=(replace(hand, cards=(second, second, *rest)),)),),
    )
    assert len(differences(DEALER_OVERDREW, other, held=True)) == 1


def test_another_stake_net_or_insurance_is_a_difference() -> None:
    (spot,) = BLACKJACK_AND_INSURANCE.spots
    (hand,) = spot.hands
    cheaper = replace(spot, hands=(replace(hand, stake=900, net=-900),), insurance=None, net=-900)
    found = differences(BLACKJACK_AND_INSURANCE, replace(BLACKJACK_AND_INSURANCE, spots=(cheaper,)))
    assert [difference.split(":")[0] for difference in found] == [
        "spot 1 hand 1 stake",
        "spot 1 hand 1 net",
        "spot 1 insurance",
        "spot 1 net",
    ]


def test_violations_are_compared_as_a_multiset_of_code_and_place() -> None:
    twice = replace(DEALER_OVERDREW, violations=DEALER_OVERDREW.violations * 2)
    assert differences(DEALER_OVERDREW, twice) == ("mistake dealer_hit_hard_17 did not happen",)
    none = replace(DEALER_OVERDREW, violations=())
    assert differences(DEALER_OVERDREW, none) == ("mistake dealer_hit_hard_17 was not found",)


def test_an_open_review_is_never_counted_as_wrong() -> None:
    real = replace(DEALER_OVERDREW, round=CARD_IN_DOUBT.round)
    (one,) = compare_sessions([real], [CARD_IN_DOUBT])
    assert one.verdict == "review"


def test_a_round_only_one_side_knows_is_wrong() -> None:
    missed = compare_sessions(PLAYED, PLAYED[:1])
    invented = compare_sessions(PLAYED[:1], PLAYED)
    assert [one.verdict for one in missed] == ["exact", "wrong"]
    assert [one.verdict for one in invented] == ["exact", "wrong"]


def test_the_tally_counts_each_verdict() -> None:
    found = (*PLAYED[:1], replace(DEALER_OVERDREW, net=0), CARD_IN_DOUBT)
    truth = (*PLAYED, replace(DEALER_OVERDREW, round=5))
    counted = tally(compare_sessions(truth, found))
    assert (counted.rounds, counted.exact, counted.review, counted.wrong) == (3, 1, 1, 1)
