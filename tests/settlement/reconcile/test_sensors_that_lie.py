"""Cards that went astray, and sensors that say what is not so: told right, or asked."""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from models.cards import Card
from models.events import (
    CardBoxed,
    CardDealt,
    CardGone,
    ForeignCardSighted,
    ReaderFault,
)
from models.judgements import ReviewRaised
from settlement.reconcile import Reconciler
from simulation.places import spot_places
from tests.settlement.felt_scene import FELT, MS, RULES, UNSEEN, Scene, line

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
    assert "5S left the shoe and was not seen on the felt" in scene.reviews()


def test_a_card_burned_unseen_before_the_deal_is_nobodys() -> None:
    scene = two_spots()
    scene.deal(1, "2D", camera=UNSEEN).deal(1, "TS").deal(2, "9S").deal("dealer", "TD")
    scene.deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    settle_two(scene)
    burned = "card_burned card=2D" in scene.lines()
    assert burned or "2D left the shoe and was not seen on the felt" in scene.reviews()


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
    assert "TS was dealt to spot 1 and moved to spot 2" in scene.reviews()


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
    assert "9H of spot 1 was taken up before its hand" in scene.reviews()


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
    assert any("may be a foreign card" in asked for asked in scene.reviews())


def test_one_ace_more_than_the_decks_hold_stands_where_both_sensors_read_every_one() -> None:
    scene = Scene(replace(RULES, decks=1)).chips(1, 0, 1000)
    for number in range(2):
        scene.deal(1, "AS").wait(1_000 * number)
    assert [text for text in dealt(scene) if "AS" in text] == ["card_dealt to=1 card=AS"] * 2
    assert not any("more than the shoe held" in asked for asked in scene.reviews())


def test_one_more_than_the_decks_hold_is_asked_where_one_was_read_by_a_single_sensor() -> None:
    scene = Scene(replace(RULES, decks=1)).chips(1, 0, 1000).chips(2, 0, 1000)
    scene.deal(1, "AS", camera=UNSEEN).deal(2, "AS").wait(12_000)
    assert any("one AS more than the shoe held" in asked for asked in scene.reviews())


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
    assert any(asked.startswith("39 cards left the shoe unread") for asked in scene.reviews())


# --- the order in which it is heard -------------------------------------------------------


def whole_round() -> Scene:
    scene = two_spots().deal(1, "TS").deal(2, "9S").deal("dealer", "TD")
    scene.deal(1, "9H").deal(2, "TC").deal("dealer", "8C", face="down")
    return settle_two(scene)


ROUND = whole_round()
SOURCES = ("shoe", "camera:overhead", "plate:1", "plate:2")


@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.fixed_dictionaries({source: st.integers(0, 1_500) for source in SOURCES}))
def test_facts_do_not_depend_on_whose_word_comes_first_within_the_bound(
    late_ms: dict[str, int],
) -> None:
    heard = [(at + late_ms[said.source] * MS, said) for at, said in ROUND.observations()]
    heard.sort(key=lambda timed: timed[0])
    table = Reconciler(RULES, FELT)
    said = [one for at, observed in heard for one in table.feed(observed, at)]
    spoken = [one for one in (*said, *table.finish()) if not isinstance(one, ReviewRaised)]
    assert [line(fact) for fact in spoken] == ROUND.lines()


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
        ("the shoe said QH, the camera reads KD", True)
    ]


def test_a_payout_that_only_the_cameras_card_makes_right_is_for_a_person() -> None:
    items = raised(disputed("9H", "5D", paid=-1000))
    assert [(one.review.candidates, one.settles_alike) for one in items] == [(("9H", "5D"), False)]


def test_nothing_of_a_disputed_card_is_said_before_the_round_is_over() -> None:
    scene = disputed("9H", "5D", paid=1000)
    table = Reconciler(RULES, FELT)
    heard = scene.observations()
    early = [one for at, said in heard if at < heard[-1][0] - MS for one in table.feed(said, at)]
    assert not any(getattr(one, "card", None) is Card("9H") for one in early)
