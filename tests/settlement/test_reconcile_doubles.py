import pytest

from simulation.places import hole_card, spot_places
from tests.settlement.felt_scene import FELT, UNREAD, UNSEEN, Scene
from tests.settlement.reconcile.test_sensors_that_lie import NOBODY_ASKED, two_spots
from vision.scenes.performance import Place


def test_a_card_seen_twice_at_once_is_one_card() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "QS")
    lies = spot_places(FELT, 1).card(None, 0)
    double = Place(lies.x_mm + 20, lies.y_mm - 40, lies.angle_deg)
    scene.sight(9, double, "up", {"QS": 0.998}, rest_ms=-360, seen_ms=-140)
    scene.deal("dealer", "TD").wait(12_000)
    assert scene.lines("card_dealt") == [
        "card_dealt to=1 card=QS",
        "card_dealt to=dealer card=TD",
    ]
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_what_no_draw_explains_upon_a_like_card_is_that_card_seen_askew() -> None:
    scene = Scene().chips(1, 0, 1000).deal(1, "QS").deal("dealer", "TD")
    lies = spot_places(FELT, 1).card(None, 0)
    askew = Place(lies.x_mm + 20, lies.y_mm - 40, lies.angle_deg)
    scene.sight(9, askew, "up", {"QS": 0.998})
    scene.sight(10, askew, "up", {"KH": 0.6})
    scene.wait(2_600).read_again(1, 0, {"QS": 0.9995}).wait(1_400).deal(1, "9H").wait(4_000)
    assert scene.lines("card_dealt")[-1] == "card_dealt to=1 card=9H"
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_a_back_by_a_betting_circle_of_a_shoe_game_is_chips() -> None:
    scene = Scene().chips(1, 0, 1000)
    circle = FELT.spots[0].circle
    scene.sight(9, Place(circle.x_mm, circle.y_mm, 10.0), "down", UNREAD)
    scene.wait(4_000).deal(1, "QS").wait(4_000)
    assert scene.lines("card_dealt") == ["card_dealt to=1 card=QS"]
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


def test_a_strip_of_the_hole_card_placed_anew_is_the_same_card() -> None:
    scene = Scene().chips(1, 0, 1000).deal_round("TS TD 9H 8C")
    hole = hole_card()
    scene.sight(9, Place(hole.x_mm + 5, hole.y_mm + 14, -4.0), "down", UNREAD)
    scene.wait(4_000).turn_hole("8C")
    assert scene.lines("card_dealt")[-1] == "card_dealt to=dealer card=8C face=down"
    assert scene.reviews() == [
        "How did the round end? The session ended before its cards were taken up."
    ]


@pytest.mark.parametrize("wait_ms", [2_000, 3_400, 4_200])
def test_a_double_is_one_on_three_cards_though_the_camera_saw_two(wait_ms: int) -> None:
    """The shoe read the second card of the deal; the camera never saw it.

    It is taken to lie there before the chips come, after them, or with the double's card.
    """
    scene = two_spots().deal(1, "2H").deal(2, "9S").deal("dealer", "TD")
    scene.deal(1, "3D", camera=UNSEEN).deal(2, "TC").deal("dealer", "6C", face="down")
    scene.deal(1, "4D").wait(wait_ms)
    scene.chips(1, 0, 1000).wait(600).deal(1, "TH", sideways=True).wait(3_000)
    scene.turn_hole("6C").deal("dealer", "2S").wait(3_000)
    scene.chips(2, 0, 1000).take(2).chips(1, 0, 2000).take(1).take("dealer").wait(15_000)
    assert [line for line in scene.lines("card_dealt") if "to=1" in line] == [
        "card_dealt to=1 card=2H",
        "card_dealt to=1 card=3D",
        "card_dealt to=1 card=4D",
        "card_dealt to=1 card=TH",
    ]
    assert scene.lines("wager_placed")[-1] == "wager_placed spot=1 kind=double amount=1000"
    assert scene.reviews() == NOBODY_ASKED
