"""Cards that an arm hid, that the shoe did not read, or both: each belongs where it was due."""

from collections.abc import Iterator

import msgspec
import pytest

from models.events import (
    AnyObservation,
    CardGone,
    CardSighted,
    HoleCardChecked,
    RoundOpened,
)
from models.judgements import ReviewRaised
from settlement.reckoning import Reckoning
from simulation.places import dealer_card
from tests.sensors.noise import Plan, Rates, heard
from tests.settlement.felt_scene import FELT, RULES, UNSEEN, Scene, apart
from tests.settlement.reconcile.test_sensors_that_lie import (
    NOBODY_ASKED,
    dealt,
    missed,
    seen_late,
    settle_two,
    two_spots,
)
from vision.scenes.performance import Place

_RACK = Place(401.7, 156.0, 0.0)


def whose(scene: Scene) -> list[str]:
    """Return who was dealt a card, in the order of the facts."""
    return [line.split()[1].removeprefix("to=") for line in dealt(scene)]


def asked_of(seed: int, number: int, *, clinging: bool = False) -> list[str]:
    """Return what is asked of a round of a session with the stated noise."""
    told = heard(seed, Plan("kansas-shoe", Rates(), 50, 10, clinging=clinging, show=False))
    table = Reckoning(told.rules, told.layout)
    said = (one for at, report in told.spoilt for one in table.feed(report, at))
    asked = (one for one in said if isinstance(one, ReviewRaised))
    return [one.review.what for one in asked if one.round == number]


def test_chips_beside_a_hit_under_an_arm_double_the_hand_of_three_cards() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("2D 9D 3H JS")
    scene.deal(1, "4D", seen_after_ms=3_400).chips(1, 0, 1000)
    scene.deal(1, "TD", sideways=True).wait(1_000).turn_hole("JS").take(1).take("dealer")
    scene.wait(15_000)
    assert "wager_placed spot=1 kind=double amount=1000" in scene.lines("wager_placed")
    assert scene.reviews() == NOBODY_ASKED


def test_chips_beside_a_second_card_that_the_camera_missed_double_the_hand() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "AS").deal("dealer", "6H")
    scene.deal(1, "7D", camera=UNSEEN).deal("dealer", "TD", face="down").wait(3_000)
    scene.chips(1, 0, 500).deal(1, "QS", sideways=True).wait(1_000).turn_hole("TD")
    scene.deal("dealer", "2C").wait(1_000).take(1).take("dealer").wait(15_000)
    assert "wager_placed spot=1 kind=double amount=500" in scene.lines("wager_placed")


def test_a_sighting_of_nothing_at_the_rack_burns_no_card() -> None:
    scene = two_spots()
    scene.sight(99, _RACK, "down", {}, rest_ms=560, seen_ms=570)
    scene.deal_round("6C 2C TD 5D JC 6H", spots=(1, 2)).wait(8_000)
    assert scene.lines("card_burned") == []
    assert whose(scene) == ["1", "2", "dealer", "1", "2", "dealer"]


def test_a_card_of_the_shoe_that_is_seen_at_the_rack_alone_was_burned() -> None:
    scene = two_spots().deal_round("6C 2C TD 5D JC 6H", spots=(1, 2))
    scene.deal(1, "9S", place=_RACK).deal(1, "8H").wait(15_000)
    assert [line.split()[1] for line in scene.lines("card_burned")] == ["card=9S"]


def test_a_hole_card_that_the_shoe_misread_accuses_nobody_without_a_question() -> None:
    """However many cameras are sure of its face: no dealer exchanges cards so often."""
    scene = two_spots().deal(1, "6C").deal(2, "2C").deal("dealer", "TD").deal(1, "9D").deal(2, "JC")
    scene.deal("dealer", "5D", face="down", shoe="JD").wait(4_000).turn_hole("5D")
    scene.read_again("dealer", 1, {"5D": 0.9995}).wait(2_000).deal("dealer", "9C").wait(2_000)
    scene.take(1).take(2).take("dealer").wait(15_000)
    table = Reckoning(RULES, FELT)
    said = [one for at, seen in by_three_cameras(scene) for one in table.feed(seen, at)]
    said += table.finish()
    asked = [one.review.what for one in said if isinstance(one, ReviewRaised)]
    assert apart("JD", "5D", "the dealer's hole card") in asked


def by_three_cameras(scene: Scene) -> Iterator[tuple[int, AnyObservation]]:
    for at, seen in scene.observations():
        yield at, seen
        if isinstance(seen, CardSighted | CardGone):
            for side in ("left", "right"):
                yield at, msgspec.structs.replace(seen, source=f"camera:{side}")


def test_a_double_of_more_than_the_wager_is_stated() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("6D 9D 4H JS").chips(1, 0, 1500)
    scene.deal(1, "9C", sideways=True).wait(1_000).turn_hole("JS")
    scene.take(1).take("dealer").wait(15_000)
    assert "wager_placed spot=1 kind=double amount=1500" in scene.lines("wager_placed")
    assert scene.reviews() == NOBODY_ASKED


def test_a_card_missed_by_the_shoe_and_seen_late_was_dealt_in_turn_beside_one_on_its_way() -> None:
    scene = two_spots().chips(3, 0, 1000)
    seen_late(scene, 1, "KC", 3_400)
    missed(seen_late(scene, 2, "2S", 3_400, shoe=None))
    scene.deal(3, "7C").deal("dealer", "9S").deal(1, "QS").deal(2, "4C").deal(3, "TC")
    scene.deal("dealer", "KS", face="down").wait(8_000)
    assert whose(scene) == ["1", "2", "3", "dealer", "1", "2", "3", "dealer"]


def test_a_hit_missed_by_the_shoe_and_seen_late_came_in_its_spots_turn() -> None:
    scene = two_spots().deal_round("6C 2C TD 5D JC 6H", spots=(1, 2))
    missed(seen_late(scene, 1, "8H", 3_400, shoe=None))
    seen_late(scene, 2, "4D", 3_400).wait(4_000)
    scene.turn_hole("6H").deal("dealer", "TS").chips(2, 0, 1000).take(2).chips(1, 0, 1000)
    scene.take(1).take("dealer").wait(15_000)
    assert whose(scene)[-3:] == ["1", "2", "dealer"]
    assert scene.reviews() == NOBODY_ASKED


@pytest.mark.parametrize("taken_first", [False, True])
def test_a_hole_card_first_seen_when_it_is_up_was_dealt_face_down(*, taken_first: bool) -> None:
    """Be it seen after the dealer took a wager by it."""
    scene = Scene().chips(1, 0, 1000).deal(1, "KD").deal("dealer", "TD").deal(1, "8S")
    scene.deal("dealer", "AD", face="down", camera=UNSEEN).wait(1_000)
    scene.enter(HoleCardChecked(blackjack=True)).wait(600)
    if taken_first:
        scene.chips(1, 0, -1000)
    scene.sight(90, dealer_card(1), "up", {"AD": 0.9995})
    if not taken_first:
        scene.wait(900).chips(1, 0, -1000)
    scene.take(1)._lying["dealer", 0][1] = (90, dealer_card(1))
    scene.take("dealer").wait(15_000)
    assert "card_dealt to=dealer card=AD face=down" in dealt(scene)
    assert scene.reviews() == NOBODY_ASKED


def test_an_up_card_that_no_camera_saw_is_not_the_back_beside_it() -> None:
    scene = two_spots().deal(1, "TH").deal(2, "9D").deal("dealer", "8H", camera=UNSEEN)
    scene.deal(1, "KD").deal(2, "TS").deal("dealer", "7D", face="down").wait(9_000)
    scene.turn_hole("7D").deal("dealer", "2H").chips(2, 0, 1000).take(2).chips(1, 0, 1000).take(1)
    scene.take("dealer").wait(15_000)
    assert dealt(scene)[2] == "card_dealt to=dealer card=8H"
    assert dealt(scene)[5] == "card_dealt to=dealer card=7D face=down"


def test_a_first_card_that_the_shoe_counted_unread_is_of_the_round_it_opens() -> None:
    scene = two_spots().deal_round("TS 9S TD 9C TC 8C", spots=(1, 2)).turn_hole("8C")
    scene.chips(2, 0, 1000).take(2).chips(1, 0, 1000).take(1).take("dealer").wait(3_000)
    scene.chips(1, 0, -2000).chips(2, 0, -2000).chips(1, 0, 1000)
    scene.deal(1, "QS", shoe=None, seen_after_ms=1_000).deal("dealer", "9D").deal(1, "TD")
    scene.wait(4_000)
    lines = scene.lines("round_opened", "wager_placed", "card_dealt", "round_closed")
    after = lines[lines.index("round_closed") :]
    assert [line.split()[0] for line in after[:4]] == [
        "round_closed",
        "round_opened",
        "wager_placed",
        "card_dealt",
    ]


def test_a_late_card_of_a_shoe_that_nobody_hears_was_dealt_in_turn() -> None:
    scene = two_spots().fault("shoe", "link_lost").wait(3_000).deal(1, "KC", shoe=None)
    seen_late(scene, 2, "TS", 3_400, shoe=None).deal("dealer", "9S", shoe=None)
    scene.deal(1, "QS", shoe=None).deal(2, "9C", shoe=None)
    settle_two(scene.deal("dealer", "8C", face="down", shoe=None).wait(6_000))
    assert whose(scene) == ["1", "2", "dealer", "1", "2", "dealer"]
    assert scene.reviews() == NOBODY_ASKED


def test_who_sat_where_in_a_round_before_is_no_mistake_of_a_later_one() -> None:
    """One player took three spots against the rules, and gave them up between two rounds."""
    plan = Plan("kansas-shoe", Rates(), 50, 10, clinging=False, show=False)
    told = heard(40_071, plan)
    table = Reckoning(told.rules, told.layout)
    last = 16
    for at, one in told.spoilt:
        for said in table.feed(one, at):
            if isinstance(said, RoundOpened) and said.round > last:
                return
            assert not (isinstance(said, ReviewRaised) and said.round == last)
    raise AssertionError("the session has fewer rounds")


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(("TS", "TD", "9H", "JC", ""), ("8S", "9D", "7H", "JC", ""), id="two cards"),
        pytest.param(
            ("3S", "8C", "4S", "TH", "QS"), ("4C", "TD", "3C", "2H", "TH"), id="alike by any order"
        ),
    ],
)
def test_a_round_of_which_no_camera_saw_a_card_is_left_to_a_person(
    first: tuple[str, ...], then: tuple[str, ...]
) -> None:
    """By the shoe's order alone, whose each card was and where the round ended is a guess."""
    scene = Scene()
    for own, up, second, hole, hit in (first, then):
        scene.chips(1, 0, 1000)
        scene.deal(1, own, camera=UNSEEN).deal("dealer", up, camera=UNSEEN)
        scene.deal(1, second, camera=UNSEEN).deal("dealer", hole, face="down", camera=UNSEEN)
        if hit:
            scene.deal(1, hit, camera=UNSEEN)
        scene.wait(6_000).chips(1, 0, -1000).wait(3_000)
    held_open = {
        said.round
        for said in scene.said()
        if isinstance(said, ReviewRaised) and not said.settles_alike
    }
    assert 1 in held_open


def test_half_of_a_pair_whose_second_card_was_hidden_got_it_before_the_next_half() -> None:
    """A pair was split three times, and one half's second card was hidden for five seconds."""
    assert asked_of(5_100_003, 36) == []


def test_a_card_seen_out_of_turn_before_the_shoe_gave_the_next_one_is_a_mistake() -> None:
    """The shoe missed it: what times it is that the camera saw it lie there first."""
    scene = two_spots().deal(1, "TS").deal(2, "9S").deal("dealer", "TD")
    missed(scene.deal(2, "TC", shoe=None)).deal(1, "9H").deal("dealer", "8C", face="down")
    settle_two(scene)
    assert whose(scene) == ["1", "2", "dealer", "2", "1", "dealer"]
    assert scene.reviews() == NOBODY_ASKED


def test_a_doubles_card_that_the_shoe_read_is_on_its_way_as_the_dealer_turns_his() -> None:
    """It was never seen, so that nothing tells a double of three cards from a raised wager."""
    scene = Scene().chips(1, 0, 1000).deal_round("2H 9C 3S KS").deal(1, "4C").chips(1, 0, 1000)
    scene.deal(1, "TC", camera=UNSEEN).wait(2_000).turn_hole("KS").take(1).take("dealer")
    scene.chips(1, 0, -2000).wait(15_000)
    assert scene.reviews() == [
        "Did spot 1 double on other than the first two cards? "
        "Or were the 10.00 that spot 1 added a double or a raise?"
    ]


def test_a_card_that_the_camera_alone_read_is_doubted_as_its_errors_are_known_to_last() -> None:
    """The shoe missed the dealer's deuce, and look after look the camera names the king."""
    assert asked_of(6_200_282, 11, clinging=True) == [
        "Were 100.00 taken from spot 1 where 100.00 were due? Or was a card misread?"
    ]


@pytest.mark.parametrize("last_told_ms", [160, 3_000, 30_000])
def test_a_push_is_settled_as_its_first_card_goes(last_told_ms: int) -> None:
    """The player takes his chips once the round is over, and the camera tells late of a card."""
    scene = two_spots().deal_round("TS TH TD 9H 8D 8C", spots=(1, 2)).wait(2_000).turn_hole("8C")
    scene.take(2, last_told_ms=last_told_ms).chips(1, 0, 1000).take(1).take("dealer")
    scene.chips(2, 0, -1000).chips(1, 0, -2000).wait(40_000)
    assert [line.split()[1] for line in scene.lines("payment_made")] == ["spot=2", "spot=1"]
    assert scene.reviews() == NOBODY_ASKED


@pytest.mark.parametrize("by_both", [True, False])
def test_the_shoes_times_tell_a_spot_passed_over_from_a_card_that_both_missed(
    *, by_both: bool
) -> None:
    scene = two_spots().chips(3, 0, 1000).deal(1, "TS").deal(2, "9S")
    if by_both:
        missed(scene.deal(3, "4C", shoe=None, camera=UNSEEN))
    scene.deal("dealer", "TD").deal(1, "9H").deal(2, "TH").deal(3, "KS")
    scene.deal("dealer", "8C", face="down").wait(2_000).turn_hole("8C")
    scene.chips(3, 0, -1000).take(3).chips(2, 0, 1000).take(2).chips(1, 0, 1000).take(1)
    scene.take("dealer").wait(15_000)
    asked = (
        ["Was spot 3 passed over in the deal? Or did spot 3 get a card?"]
        if by_both
        else NOBODY_ASKED
    )
    assert scene.reviews() == asked


def test_a_face_that_was_stated_and_that_a_later_look_denies_is_asked_about() -> None:
    """Nobody hears the shoe; the camera first takes the queen of a natural for a three."""
    scene = Scene().fault("shoe", "link_lost").wait(3_000).chips(1, 0, 1_000)
    scene.deal(1, "QH", shoe=None, camera={"3D": 0.9999}).deal("dealer", "9C", shoe=None)
    scene.deal(1, "AD", shoe=None).deal("dealer", "8C", face="down", shoe=None).wait(12_000)
    scene.look_again(1, 0, {"QH": 0.9999}).chips(1, 0, 1_500).take(1).wait(3_000)
    scene.turn_hole("8C").take("dealer").wait(15_000)
    assert any("card of spot 1 3D or QH?" in asked for asked in scene.reviews())


def test_a_wager_taken_before_the_dealers_turn_is_asked_about_where_nobody_hears_the_shoe() -> None:
    """Its player took it back, or the dealer did: a card that nobody saw broke the hand."""
    scene = two_spots().fault("shoe", "link_lost").wait(3_000)
    scene.deal(1, "AC", shoe=None).deal(2, "TS", shoe=None).deal("dealer", "9C", shoe=None)
    scene.deal(1, "7S", shoe=None).deal(2, "TC", shoe=None)
    scene.deal("dealer", "8C", face="down", shoe=None).wait(2_000)
    scene.deal(1, "6S", shoe=None, camera=UNSEEN).wait(500).deal(1, "9S", shoe=None).wait(300)
    scene.chips(1, 0, -1_000).take(1)
    scene.wait(3_000).turn_hole("8C").chips(2, 0, 1_000).take(2).take("dealer").wait(15_000)
    (asked,) = scene.reviews()
    assert asked.startswith("Were chips taken back at spot 1 after the deal? Or ")
