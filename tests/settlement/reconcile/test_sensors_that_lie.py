"""Cards that went astray, and sensors that say what is not so: told right, or asked."""

from collections.abc import Sequence
from typing import Literal

import pytest
from msgspec.structs import replace

from models.cards import Card
from models.events import (
    CardBoxed,
    CardDealt,
    CardGone,
    Dealt,
    DiscardsReshuffled,
    ForeignCardSighted,
    ReaderFault,
    ShoeStarted,
)
from models.judgements import ReviewRaised
from settlement.reckoning import Reckoning
from simulation.places import dealer_card, spot_places
from tests.settlement.felt_scene import FELT, MS, RULES, UNREAD, UNSEEN, Scene, apart, gone, reader

NOBODY_ASKED: list[str] = []


def two_spots() -> Scene:
    return Scene().chips(1, 0, 1000).chips(2, 0, 1000)


def settle_two(scene: Scene, *, hole: str = "8C") -> Scene:
    """The dealer turns his hole card up, pays both spots and takes the cards."""
    scene.turn_hole(hole)
    scene.chips(2, 0, 1000).take(2).chips(1, 0, 1000).take(1).take("dealer")
    return scene.wait(15_000)


def dealt(scene: Scene) -> list[str]:
    return scene.lines("card_dealt")


# --- a card that the camera never saw -----------------------------------------------------


def test_a_card_unseen_in_the_first_deal_went_where_it_was_due() -> None:
    scene = two_spots().deal(1, "TS").deal(2, "9S", camera=UNSEEN).deal("dealer", "TD")
    scene.deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    settle_two(scene)
    assert "card_dealt to=2 card=9S" in dealt(scene)
    assert scene.reviews() == NOBODY_ASKED


def test_an_unseen_card_after_chips_for_a_double_is_that_doubles() -> None:
    scene = two_spots().deal(1, "6S").deal(2, "TH").deal("dealer", "6D")
    scene.deal(1, "5H").deal(2, "TC").deal("dealer", "TD", face="down")
    scene.chips(1, 0, 1000).deal(1, "9D", camera=UNSEEN).wait(12_000)
    scene.turn_hole("TD").deal("dealer", "KC")
    scene.chips(2, 0, 1000).take(2).chips(1, 0, 2000).take(1).take("dealer").wait(15_000)
    assert "wager_placed spot=1 kind=double amount=1000" in scene.lines("wager_placed")
    assert "card_dealt to=1 card=9D" in dealt(scene)


def test_a_card_that_fell_to_the_floor_and_was_replaced_is_for_a_person() -> None:
    scene = two_spots().deal(1, "TS").deal(2, "5S", camera=UNSEEN).deal(2, "9S")
    scene.deal("dealer", "TD").deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    settle_two(scene)
    assert gone("5S") in scene.reviews()


def test_a_card_burned_unseen_before_the_deal_is_nobodys() -> None:
    scene = two_spots()
    scene.deal(1, "2D", camera=UNSEEN).deal(1, "TS").deal(2, "9S").deal("dealer", "TD")
    scene.deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    settle_two(scene)
    burned = "card_burned card=2D" in scene.lines()
    assert burned or gone("2D") in scene.reviews()


def test_a_card_exposed_in_the_shoe_goes_aside_and_nobody_is_asked() -> None:
    scene = two_spots().deal(1, "TS").deal(2, "9S").deal("dealer", "TD")
    scene.enter(CardBoxed(card=Card("4D")))
    scene.deal(1, "4D", camera=UNSEEN).deal(1, "9H").deal(2, "TC")
    scene.deal("dealer", "8C", face="down")
    settle_two(scene)
    assert "card_boxed card=4D" in scene.lines()
    assert scene.reviews() == NOBODY_ASKED


# --- a card that the dealer puts right ----------------------------------------------------


def test_a_card_moved_to_another_spot_is_told_to_a_person() -> None:
    scene = two_spots().deal(1, "TS")
    scene.sight(
        1, spot_places(FELT, 2).card(None, 0), "up", {"TS": 0.9995}, change="moved", seen_ms=300
    )
    scene.wait(6_000)
    assert "Whose card is TS? It was dealt to spot 1 and moved to spot 2." in scene.reviews()


def test_a_card_squared_up_within_its_hand_is_nobodys_matter() -> None:
    scene = two_spots().deal(1, "TS").deal(2, "9S").deal("dealer", "TD")
    scene.deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    scene.sight(1, spot_places(FELT, 1).card(None, 1), "up", {"TS": 0.9995}, change="moved")
    settle_two(scene)
    assert scene.reviews() == NOBODY_ASKED


def test_a_card_put_back_while_its_hand_lies_on_is_told_to_a_person() -> None:
    scene = two_spots().deal(1, "TS").deal(2, "9S").deal("dealer", "TD")
    scene.deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    scene._say(CardGone(source="camera:overhead", track=4, frame=0), after_ms=160)
    scene.wait(8_000)
    settle_two(scene)
    assert "Was 9H of spot 1 taken up before its hand?" in scene.reviews()


# --- cards that cannot be -----------------------------------------------------------------


def test_a_card_of_another_deck_is_told_to_a_person() -> None:
    scene = two_spots().deal(1, "TS")
    where = spot_places(FELT, 1).card(None, 1)
    foreign = ForeignCardSighted(
        source="camera:overhead",
        track=900,
        face="up",
        card=Card("AH"),
        deck_fit=0.02,
        x_mm=where.x_mm,
        y_mm=where.y_mm,
        frame=0,
        crop=(0, 0, 1, 1),
    )
    scene._say(foreign)
    scene.wait(5_000)
    assert any("Does this card belong to the decks in use?" in asked for asked in scene.reviews())


def test_one_ace_more_than_the_decks_hold_stands_where_both_sensors_read_every_one() -> None:
    scene = Scene(replace(RULES, decks=1)).chips(1, 0, 1000)
    for number in range(2):
        scene.deal(1, "AS").wait(1_000 * number)
    assert [text for text in dealt(scene) if "AS" in text] == ["card_dealt to=1 card=AS"] * 2
    assert not any("more than the decks held" in asked for asked in scene.reviews())


def test_one_more_than_the_decks_hold_is_asked_where_one_was_read_by_a_single_sensor() -> None:
    scene = Scene(replace(RULES, decks=1)).chips(1, 0, 1000).chips(2, 0, 1000)
    scene.deal(1, "AS", camera=UNSEEN).deal(2, "AS").wait(12_000)
    assert any("Is this card AS? It is one more" in asked for asked in scene.reviews())


@pytest.mark.parametrize("shuffled", [True, False])
def test_a_card_taken_up_before_the_discards_were_shuffled_may_come_again(
    *, shuffled: bool
) -> None:
    scene = Scene(replace(RULES, decks=1)).chips(1, 0, 1000).chips(3, 0, 1000)
    scene.deal_round("5S TS 6D 6H 6S 8C", spots=(1, 3)).wait(1500)
    scene.deal(3, "KH", camera=UNREAD).wait(300).chips(3, 0, -1000).take(3).wait(3000)
    if shuffled:
        scene.enter(DiscardsReshuffled()).wait(3000)
    scene.turn_hole("8C").wait(1500).deal("dealer", "KH").wait(3000)
    asked = any("Is this card KH? It is one more" in asked for asked in scene.reviews())
    assert asked is not shuffled


# --- a reader that could not be heard -----------------------------------------------------


def heard_again(scene: Scene, due: int) -> None:
    scene._say(
        ReaderFault(
            source="shoe",
            kind="uncounted",
            detail=f"cards from {due} on may have left the shoe",
            missing_from=due,
        )
    )


def test_what_left_the_shoe_while_nobody_heard_it_the_camera_tells() -> None:
    scene = two_spots().deal(1, "TS").deal(2, "9S")
    scene._say(ReaderFault(source="shoe", kind="link_lost", detail="gone"))
    scene.deal("dealer", "TD", shoe=None).deal(1, "9H", shoe=None).deal(2, "TC", shoe=None)
    scene.wait(500)
    heard_again(scene, 3)
    scene.deal("dealer", "8C", face="down")
    settle_two(scene)
    assert dealt(scene) == [
        "card_dealt to=1 card=TS",
        "card_dealt to=2 card=9S",
        "card_dealt to=dealer card=TD",
        "card_dealt to=1 card=9H",
        "card_dealt to=2 card=TC",
        "card_dealt to=dealer card=8C face=down",
    ]
    assert scene.reviews() == NOBODY_ASKED


def test_a_silence_in_which_no_card_came_changes_nothing() -> None:
    scene = two_spots().deal(1, "TS").deal(2, "9S")
    scene._say(ReaderFault(source="shoe", kind="link_lost", detail="gone"))
    scene.wait(3_000)
    heard_again(scene, 3)
    scene.deal("dealer", "TD").deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    settle_two(scene)
    assert len(dealt(scene)) == 6
    assert scene.reviews() == NOBODY_ASKED


def test_missed_draws_are_the_cards_that_the_camera_read_then() -> None:
    scene = two_spots().deal(1, "TS").deal(2, "9S", shoe=None).deal("dealer", "TD", shoe=None)
    scene._say(
        ReaderFault(source="shoe", kind="gap", detail="2 to 3", missing_from=2, missing_to=3)
    )
    scene.deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    settle_two(scene)
    assert len(dealt(scene)) == 6
    assert scene.reviews() == NOBODY_ASKED


def test_more_missed_draws_than_anybody_can_have_seen_are_told_to_the_floor() -> None:
    scene = two_spots().deal(1, "TS")
    scene._say(
        ReaderFault(source="shoe", kind="gap", detail="2 to 40", missing_from=2, missing_to=40)
    )
    scene.wait(4_000)
    assert any("39 cards left the shoe unread" in asked for asked in scene.reviews())


# --- the order in which it is heard -------------------------------------------------------


def whole_round() -> Scene:
    scene = two_spots().deal(1, "TS").deal(2, "9S").deal("dealer", "TD")
    scene.deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    return settle_two(scene)


ROUND = whole_round()
SOURCES = ("shoe", "camera:overhead", "plate:1", "plate:2")


# --- every fact names its evidence --------------------------------------------------------


@pytest.mark.parametrize(
    ("shoe", "camera", "sure"),
    [
        pytest.param("9S", {"9S": 0.9999}, None, id="two-sensors-agree"),
        pytest.param("9S", UNSEEN, 0.999, id="the-shoe-alone"),
        pytest.param(None, {"9S": 0.9999}, 0.995, id="the-camera-alone"),
    ],
)
def test_a_card_says_how_sure_it_is(
    shoe: str | None, camera: dict[str, float], sure: float | None
) -> None:
    scene = two_spots().deal(1, "TS").deal(2, "9S", shoe=shoe, camera=camera)
    scene.deal("dealer", "TD").deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    settle_two(scene)
    card = next(
        fact for fact in scene.facts() if isinstance(fact, CardDealt) and fact.card is Card("9S")
    )
    assert card.evidence
    assert card.probability == (None if sure is None else pytest.approx(sure, abs=0.001))


def test_two_like_cards_of_one_hand_seen_late_together_are_one_as_good_as_the_other() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "4S").deal("dealer", "TD")
    scene.deal(1, "2H").deal("dealer", "8C", face="down")
    scene.deal(1, "AH", seen_after_ms=3_900).deal(1, "AH", seen_after_ms=3_000)
    scene.wait(4_000).turn_hole("8C").chips(1, 0, 0).take(1).take("dealer").wait(15_000)
    assert dealt(scene)[-2:] == ["card_dealt to=1 card=AH"] * 2
    assert not any("cannot be told" in asked for asked in scene.reviews())


# --- two sensors that say different things ------------------------------------------------


def disputed(shoe: str, camera: str, *, paid: int) -> Scene:
    """Ten and a disputed card at spot 1 against the dealer's ten and eight."""
    scene = Scene().chips(1, 0, 1000).deal(1, "TS").deal("dealer", "TD")
    scene.deal(1, camera, shoe=shoe).deal("dealer", "8C", face="down").turn_hole("8C")
    if paid:
        scene.chips(1, 0, paid)
    return scene.take(1).take("dealer").wait(15_000)


def raised(scene: Scene) -> list[ReviewRaised]:
    return [said for said in scene.said() if isinstance(said, ReviewRaised)]


def test_the_rounds_course_bears_the_shoe_out_against_a_camera_that_misreads() -> None:
    scene = disputed("9H", "5D", paid=1000)
    assert "card_dealt to=1 card=9H" in scene.lines()
    assert raised(scene) == []


def test_a_dispute_that_settles_alike_is_told_and_holds_nothing_open() -> None:
    items = raised(disputed("QH", "KD", paid=1000))
    assert [(one.review.what, one.settles_alike) for one in items] == [
        (apart("QH", "KD", "the second card of spot 1"), True)
    ]


def test_a_payout_that_only_the_cameras_card_makes_right_shows_which_card_it_is() -> None:
    """A sure look and a dealer who pays by it: the shoe misread the card."""
    scene = disputed("9H", "5D", paid=-1000)
    assert scene.reviews() == NOBODY_ASKED
    assert faces(scene, 1) == ["TS", "5D"]


def test_nothing_of_a_disputed_card_is_said_before_the_round_is_over() -> None:
    scene = disputed("9H", "5D", paid=1000)
    table = reader(RULES, FELT)
    heard = scene.observations()
    early = [one for at, said in heard if at < heard[-1][0] - MS for one in table.feed(said, at)]
    assert not any(getattr(one, "card", None) is Card("9H") for one in early)


# --- a card that the shoe missed without its count noticing -------------------------------


def missed(scene: Scene) -> Scene:
    """The shoe's count did not notice the last card."""
    scene._draws -= 1
    return scene


def test_a_wager_taken_from_a_hand_seen_to_break_is_nobodys_matter() -> None:
    scene = two_spots().deal_round("TS 9S TD 6H TC 8C", spots=(1, 2)).deal(1, "8D")
    scene.chips(1, 0, -1000).take(1).turn_hole("8C")
    scene.chips(2, 0, 1000).take(2).take("dealer").wait(15_000)
    assert scene.reviews() == NOBODY_ASKED


def twin(*, looks: int, paid: int) -> Scene:
    """Eight points, a second deuce upon the first that the shoe missed, and a ten, against 18."""
    scene = Scene().chips(1, 0, 1000).deal_round("6D 8C 2D TD")
    missed(scene.deal(1, "2D", shoe=None))
    for _ in range(looks - 1):
        scene.look_again(1, 2, {"2D": 0.9995})
    scene.deal(1, "TH").wait(5_000).turn_hole("TD")
    if paid:
        scene.chips(1, 0, paid)
    return scene.take(1).take("dealer").wait(15_000)


def test_a_like_card_upon_another_seen_once_is_that_card_askew() -> None:
    assert dealt(twin(looks=1, paid=0)).count("card_dealt to=1 card=2D") == 1


def test_a_face_that_the_shoe_held_no_more_of_was_misread_by_it() -> None:
    scene = Scene(replace(RULES, decks=1)).chips(1, 0, 1000).deal_round("QS TD 9H 8C")
    scene.turn_hole("8C").chips(1, 0, 1000).take(1).take("dealer").wait(8_000)
    scene.deal_round("4S 9C KC QH").deal(1, "JH", shoe="QS").look_again(1, 2, {"JH": 0.9995})
    scene.chips(1, 0, -2000).take(1).turn_hole("QH").take("dealer").wait(15_000)
    assert dealt(scene)[-1] == "card_dealt to=1 card=JH"
    assert scene.reviews() == NOBODY_ASKED


def test_a_card_that_the_count_missed_and_the_camera_saw_late_came_before_the_next_one() -> None:
    scene = two_spots().deal(1, "TS").deal(2, "9S", shoe=None, seen_after_ms=3_500)
    scene._heard[-1] = (scene._heard[-1][0], replace(scene._heard[-1][1], at=scene._heard[-1][0]))
    scene.deal("dealer", "TD").deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    settle_two(scene)
    assert dealt(scene)[1] == "card_dealt to=2 card=9S"
    assert scene.reviews() == NOBODY_ASKED


# --- a turning of the dealer's card that was missed or misread ----------------------------


def settled_as_turned(change: Literal["read", "turned"]) -> list[str]:
    """The wager of 18 is taken, and just then the camera tells that the dealer shows 19."""
    scene = Scene().chips(1, 0, 1000).deal_round("TS TD 8H 9C").wait(2_000).chips(1, 0, -1000)
    scene.sight(4, dealer_card(1), "up", {"9C": 0.9995}, change=change, single_look=True)
    scene.take(1).take("dealer").wait(15_000)
    return scene.lines("card_exposed", "payment_made")


def test_a_turning_that_nobody_saw_came_before_the_dealer_settled_by_it() -> None:
    first, _ = settled_as_turned("read")
    assert first.startswith("card_exposed")


def test_a_turning_that_was_seen_came_when_it_was_seen() -> None:
    first, _ = settled_as_turned("turned")
    assert first.startswith("payment_made")


def test_a_card_turned_up_early_and_misread_at_first_was_turned_up_early() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("9C 9D 2D KC").wait(1_000)
    scene.sight(4, dealer_card(1), "up", {"7S": 0.9995}, change="turned", single_look=True)
    scene.wait(1_000).deal(1, "7C")
    for _ in range(2):
        scene.sight(4, dealer_card(1), "up", {"KC": 0.9995}, change="read", single_look=True)
        scene.wait(1_000).look_again(1, 0, {"9C": 0.9995}).wait(1_500)
    scene.chips(1, 0, -1000).take(1).take("dealer").wait(15_000)
    told = scene.lines("card_exposed", "card_dealt")
    assert told[-2:] == ["card_exposed to=dealer card=KC", "card_dealt to=1 card=7C"]


# --- a camera that is known to cling to its errors, or not to -----------------------------


def paid_as_the_camera_reads(scene: Scene) -> Scene:
    """21 points against 19 are paid, and push by the card that the shoe says."""
    seen = {"7H": 0.97}
    scene.chips(1, 0, 1000).deal_round("4S 9C KC QH").deal(1, "7H", shoe="5H", camera=seen)
    for _ in range(2):
        scene.look_again(1, 2, seen)
    scene.wait(8_000).turn_hole("QH").chips(1, 0, 1000).take(1).take("dealer")
    return scene.wait(15_000)


def misread(scene: Scene, looks: Sequence[str]) -> Scene:
    """A round of 19 against 18, its ten looked at again and again."""
    scene.chips(1, 0, 1000).deal_round("TS TD 9H 8C")
    for look in looks:
        scene.look_again(1, 0, {look: 0.9995}).wait(500)
    scene.turn_hole("8C").chips(1, 0, 1000).take(1).take("dealer").wait(8_000)
    return scene.chips(1, 0, -2000)


SLIPS = ["6S", "TS", "4C", "TS", "9D", "TS"]
LASTED = ["6S", "6S", "6S", "6S"]
ASKED = [apart("5H", "7H", "the third card of spot 1")]


def test_a_camera_that_corrects_its_errors_at_the_next_look_is_believed_after_three() -> None:
    scene = paid_as_the_camera_reads(misread(Scene(), SLIPS))
    assert dealt(scene)[-1] == "card_dealt to=1 card=7H"
    assert scene.reviews() == NOBODY_ASKED


def test_a_camera_whose_errors_lasted_is_not_believed() -> None:
    scene = paid_as_the_camera_reads(misread(misread(Scene(), LASTED), SLIPS))
    assert ASKED[0] in scene.reviews()


def test_what_a_camera_is_known_for_is_known_in_the_next_shoe() -> None:
    scene = misread(Scene(), SLIPS)
    scene.enter(ShoeStarted(decks=6)).wait(8_000)
    assert ASKED[0] not in paid_as_the_camera_reads(scene).reviews()


# --- two mishaps at once ------------------------------------------------------------------


def seen_late(scene: Scene, to: Dealt, card: str, after_ms: int, shoe: str | None = "") -> Scene:
    """Deal a card over which an arm lies: it seems to come to rest only when it is seen."""
    scene.deal(to, card, shoe=shoe, seen_after_ms=after_ms)
    at, seen = scene._heard[-1]
    scene._heard[-1] = (at, replace(seen, at=at))
    return scene


def faces(scene: Scene, to: Dealt) -> list[str]:
    return [text.split()[2][5:] for text in dealt(scene) if text.split()[1] == f"to={to}"]


def test_a_card_misread_as_the_one_that_was_hidden_just_then_changes_no_places() -> None:
    scene = two_spots().deal(1, "7C").deal(2, "4H").deal("dealer", "3C").deal(1, "4D")
    seen_late(scene, 2, "TS", 5_700).deal("dealer", "AD", face="down")
    scene.chips(1, 0, 1000).deal(1, "9S", camera={"TS": 0.9995}, sideways=True).wait(8_000)
    assert faces(scene, 2) == ["4H", "TS"]
    assert faces(scene, 1) == ["7C", "4D", "9S"]


def test_a_hidden_card_is_not_taken_for_the_dealers_that_the_shoe_missed() -> None:
    scene = two_spots().deal(1, "7C").deal(2, "4C").deal("dealer", "QH").deal(1, "9D")
    seen_late(scene, 2, "5D", 4_900)
    missed(scene.deal("dealer", "5S", face="down", shoe=None)).wait(2_600)
    scene.deal(1, "2H", seen_after_ms=1_700).wait(560).look_again(1, 0, {"7C": 0.9995})
    scene.wait(8_000)
    assert [text for text in dealt(scene) if "5D" in text] == ["card_dealt to=2 card=5D"]


@pytest.mark.parametrize("after_ms", [2_500, 4_000, 5_600])
def test_of_two_like_cards_the_one_in_time_was_not_hidden(after_ms: int) -> None:
    scene = two_spots().deal_round("5H 6H TD 4S 5D 9C", spots=(1, 2))
    seen_late(scene, 1, "QC", after_ms).wait(1_300).deal(2, "QC").wait(9_000)
    assert (faces(scene, 1)[-1], faces(scene, 2)[-1]) == ("QC", "QC")
    assert not any("cannot be told" in asked for asked in scene.reviews())


def test_a_like_card_hidden_before_another_of_its_hand_is_not_the_next_hands() -> None:
    scene = two_spots().deal_round("5D 6H 8D 4D 5H 9C", spots=(1, 2))
    seen_late(scene, 1, "2S", 6_300).wait(400).deal(1, "KD").wait(1_400)
    scene.deal(2, "2S").wait(9_000)
    assert (faces(scene, 1)[2:], faces(scene, 2)[2:]) == (["2S", "KD"], ["2S"])


def test_a_wager_laid_late_changes_nothing_of_whose_turn_it_is() -> None:
    scene = two_spots().deal(1, "9H").deal(2, "8S").deal("dealer", "9S").chips(3, 0, 500)
    seen_late(scene, 1, "TD", 5_400).deal(2, "TD", seen_after_ms=1_200)
    scene.deal("dealer", "QH", face="down").wait(9_000)
    assert [text.split()[1] for text in dealt(scene)[3:5]] == ["to=1", "to=2"]


def test_a_card_dealt_out_of_turn_may_yet_follow_one_that_was_hidden() -> None:
    scene = two_spots().deal(1, "TS").deal(2, "9S").deal("dealer", "TD").deal(1, "9H")
    missed(seen_late(scene, 2, "TC", 5_900, shoe=None)).deal("dealer", "8C", face="down")
    settle_two(scene.wait(6_000))
    assert dealt(scene)[4:] == [
        "card_dealt to=2 card=TC",
        "card_dealt to=dealer card=8C face=down",
    ]
    assert scene.reviews() == NOBODY_ASKED


def test_a_card_passed_over_for_good_is_told_as_it_was() -> None:
    scene = two_spots().deal(1, "TS").deal(2, "9S").deal("dealer", "TD").deal(1, "9H")
    scene.deal("dealer", "8C", face="down").wait(7_000)
    assert dealt(scene)[-1] == "card_dealt to=dealer card=8C face=down"


def test_chips_for_a_card_that_the_shoe_missed_are_a_doubles() -> None:
    scene = two_spots().deal_round("7H 6H 9S 4H TD 8C", spots=(1, 2)).chips(1, 0, 1000)
    missed(scene.deal(1, "9C", shoe=None, sideways=True)).wait(1_000)
    scene.look_again(1, 2, {"9C": 0.9995}).deal(2, "2S").wait(6_000)
    assert "wager_placed spot=1 kind=double amount=1000" in scene.lines("wager_placed")
    assert not any("no card followed" in asked for asked in scene.reviews())


def broken(scene: Scene, *, taken: bool) -> Scene:
    """A card that the shoe missed and the camera saw but once breaks a hand, or does not."""
    scene.chips(1, 0, 1000).deal_round("6S TD 6D 8C")
    missed(scene.deal(1, "JD", shoe=None)).wait(300)
    if taken:
        scene.chips(1, 0, -1000).take(1).wait(4_000)
        return scene.turn_hole("8C").take("dealer").wait(15_000)
    scene.wait(5_000).turn_hole("8C").take(1).take("dealer")
    return scene.wait(15_000)


def test_a_card_seen_once_is_believed_where_a_hand_was_taken_as_broken_by_it() -> None:
    assert faces(broken(Scene(), taken=True), 1) == ["6S", "6D", "JD"]
    assert broken(Scene(), taken=True).reviews() == NOBODY_ASKED


def test_a_face_misread_in_an_earlier_round_makes_no_later_one_of_it_impossible() -> None:
    scene = Scene(replace(RULES, decks=1)).chips(1, 0, 1000).deal(1, "TS", shoe="AH")
    scene.deal("dealer", "TD").deal(1, "9H").deal("dealer", "8C", face="down").wait(8_000)
    scene.turn_hole("8C").chips(1, 0, 1000).take(1).take("dealer").wait(8_000)
    scene.deal_round("AH 9C KC QH").wait(4_000)
    assert not any("more than the decks held" in asked for asked in scene.reviews())


def test_a_dealers_card_misread_while_it_lay_down_leaves_a_later_one_to_a_person() -> None:
    scene = Scene(replace(RULES, decks=1)).chips(1, 0, 1000).deal(1, "TS").deal("dealer", "TD")
    scene.deal(1, "9H").deal("dealer", "8C", face="down", shoe="8S").wait(8_000)
    scene.turn_hole("8C").chips(1, 0, 1000).take(1).take("dealer").wait(8_000)
    scene.deal_round("8S 9C KC QH").wait(4_000)
    assert any("Is this card 8S? It is one more" in asked for asked in scene.reviews())


def test_the_last_card_of_a_round_missed_by_the_shoe_is_not_its_twin_moved_there() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("TS KC 9H 3C").wait(3_000).turn_hole("3C")
    missed(scene.deal("dealer", "KC", shoe=None, place=dealer_card(2))).wait(1_000)
    scene.look_again("dealer", 2, {"KC": 0.9995}).wait(3_000)
    scene.chips(1, 0, 1000).take(1).take("dealer").wait(15_000)
    assert faces(scene, "dealer") == ["KC", "3C", "KC"]
    assert scene.reviews() == NOBODY_ASKED


def test_a_like_card_that_the_shoe_missed_lay_there_if_both_are_taken_up_together() -> None:
    scene = two_spots().deal_round("JD 9S TD 2S TC 8C", spots=(1, 2)).deal(1, "3H")
    missed(scene.deal(1, "JD", shoe=None)).wait(300).look_again(1, 3, {"JD": 0.9995})
    scene.chips(1, 0, -1000).take(1).turn_hole("8C")
    scene.chips(2, 0, 1000).take(2).take("dealer").wait(15_000)
    assert faces(scene, 1) == ["JD", "2S", "3H", "JD"]
    assert scene.reviews() == NOBODY_ASKED


def test_two_like_cards_that_came_into_view_at_once_are_not_one_seen_doubled() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("4S TD 4D 8C")
    seen_late(scene, 1, "AS", 2_560).wait(900).deal(1, "AS").wait(12_000)
    aces = [one for one in scene.facts() if isinstance(one, CardDealt) and one.card is Card("AS")]
    assert [len(ace.evidence) for ace in aces] == [2, 2]


def test_a_payment_by_the_shoes_word_against_every_look_is_right() -> None:
    """Else the shoe misread the card, and the dealer erred by just that."""
    scene = Scene().chips(1, 0, 1000).deal_round("4S 9C KC QH").deal(1, "5H", shoe="7H")
    for _ in range(2):
        scene.look_again(1, 2, {"5H": 0.9995})
    scene.wait(8_000).turn_hole("QH").chips(1, 0, 1000).take(1).take("dealer").wait(15_000)
    assert scene.reviews() == NOBODY_ASKED


def doubled_again(*, shoe: str | None) -> Scene:
    """Spot 1 doubles on eleven points, and lays down more when its card has come."""
    scene = two_spots().deal_round("5S 9S TD 6H TC 6C", spots=(1, 2)).chips(1, 0, 1000)
    scene.deal(1, "8D", shoe=shoe, sideways=True).wait(1_000)
    for _ in range(2):
        scene.look_again(1, 2, {"8D": 0.9995})
    scene.chips(1, 0, 300).wait(3_000).turn_hole("6C").deal("dealer", "2S").wait(3_000)
    scene.chips(2, 0, 1000).take(2).chips(1, 0, 2000).take(1)
    return scene.take("dealer").wait(15_000)


def out_of_order(*, seen_after_ms: int) -> Scene:
    """Spot 2 is dealt its second card before spot 1."""
    scene = two_spots().deal(1, "TS").deal(2, "9S").deal("dealer", "TD")
    scene.deal(2, "TC").deal(1, "9H", seen_after_ms=seen_after_ms)
    if seen_after_ms > 1_000:
        at, seen = scene._heard[-1]
        scene._heard[-1] = (at, replace(seen, at=at))
    return settle_two(scene.deal("dealer", "8C", face="down").wait(6_000))


def broken_by_the_shoe() -> Scene:
    """17 points lose; by the card that the shoe says they broke. When the dealer turned his card
    up is not seen until he has drawn and the wager is taken."""
    scene = two_spots().deal_round("TS 6H TD 9H 8S 6C", spots=(1, 2)).wait(2_000)
    scene.chips(2, 0, 1000).deal(2, "3S", shoe="KH", sideways=True).wait(1_000)
    scene.look_again(2, 2, {"3S": 0.9995}).wait(1_000)
    scene.deal("dealer", "5S", place=dealer_card(2)).wait(600).chips(2, 0, -2000).take(2)
    track, _ = scene._lying["dealer", 0][1]
    scene.sight(track, dealer_card(1), "up", {"6C": 0.9995}, change="read")
    return scene.wait(900).chips(1, 0, -1000).take(1).take("dealer").wait(15_000)


def test_what_was_taken_while_nobody_saw_the_dealers_card_proves_no_broken_hand() -> None:
    assert apart("KH", "3S", "the third card of spot 2") in broken_by_the_shoe().reviews()


def test_what_a_camera_is_known_for_is_read_in_the_journal_of_rounds_that_are_over() -> None:
    before = misread(Scene(), SLIPS)
    table = reader(RULES, FELT)
    told = [table.feed(said, at) for at, said in before.observations()]
    journal = [said for _, said in before.observations()] + [one for said in told for one in said]
    goes_on = reader(RULES, FELT, played=1)
    goes_on.recall(journal)
    later = paid_as_the_camera_reads(Scene())
    assert not any(asked_of(goes_on, later))
    assert any(asked_of(reader(RULES, FELT), later))


def asked_of(table: Reckoning, scene: Scene) -> list[str]:
    spoken = [one for at, said in scene.observations() for one in table.feed(said, at)]
    spoken += table.finish()
    return [one.review.what for one in spoken if isinstance(one, ReviewRaised)]
