"""Where cards are due: the dealer's row, split hands, and one card that two cameras place apart."""

from math import log
from typing import Any

import pytest
from msgspec.structs import replace

from models.cards import Card
from models.events import CardSighted, Dealt
from settlement.reckoning.camera import Camera
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.meaning import Look
from settlement.reckoning.moves import Moves
from settlement.reckoning.odds import OTHER_SIDE
from settlement.reckoning.places import Places
from settlement.reckoning.story import Story
from settlement.reconcile.cameras import Cameras
from settlement.reconcile.felt import Felt
from settlement.reconcile.sightings import Place, Sight
from simulation.places import dealer_card, spot_places
from tests.settlement.felt_scene import FELT, rulebook
from tests.settlement.reconcile.test_cameras import sighted
from vision.scenes.performance import Place as Pose

RULES = rulebook("pitch-double-deck")
PLACES = Places(Felt(FELT), RULES)


def card(ident: int, to: Dealt, pose: Pose | None, *, number: int = 0, face: str = "8S") -> InPlay:
    own = InPlay(ident, to, number, "up", ident)
    own.shoe_card = Card(face)
    if pose is not None:
        own.where, own.place = "felt", Place(pose.x_mm, pose.y_mm, pose.angle_deg)
        own.dealt_place = own.place
    return own


def look(pose: Pose, **fields: Any) -> Look:
    where = {"x_mm": pose.x_mm, "y_mm": pose.y_mm, "angle_deg": pose.angle_deg}
    seen: CardSighted = sighted("camera:a", 9, **where, **fields)
    return Look(Sight.alone(seen))


def dealers(*poses: Pose | None) -> Story:
    story = Story(Cameras(), Moves(RULES))
    story.dealer = [card(ident, "dealer", pose) for ident, pose in enumerate(poses, 1)]
    return story


def drawn(story: Story, here: Look) -> float:
    """Return how likely the dealer's next card lies there."""
    return PLACES.due(story, "dealer", 0, here)


def test_a_hole_card_that_nobody_saw_lie_is_turned_up_in_the_dealers_row() -> None:
    story = dealers(dealer_card(0), None)
    hole = story.dealer[1]
    here, further = look(dealer_card(1)), look(dealer_card(2))
    assert PLACES.unseen(story, hole, here) > PLACES.unseen(story, hole, further) + 4
    assert PLACES.unseen(story, hole, here) > drawn(story, here) + 4


def test_the_dealers_third_card_lies_beyond_a_second_that_nobody_saw() -> None:
    story = dealers(dealer_card(0), None)
    assert drawn(story, look(dealer_card(2))) > drawn(story, look(dealer_card(1))) + 4


def test_a_card_that_the_dealer_draws_is_not_his_up_card_that_nobody_saw() -> None:
    story = dealers(None, dealer_card(1))
    up_card, here = story.dealer[0], look(dealer_card(2))
    assert drawn(story, here) > PLACES.unseen(story, up_card, here) + 4
    assert PLACES.unseen(story, up_card, look(dealer_card(0))) > drawn(story, here) - 0.1


def test_a_hole_card_that_was_dealt_first_lies_behind_the_up_card() -> None:
    places = Places(Felt(FELT), replace(RULES, dealer_first_card="down"))
    story = dealers(None, dealer_card(0))
    hole, here = story.dealer[0], look(dealer_card(1))
    assert places.unseen(story, hole, here) > PLACES.unseen(story, hole, here) + 4


@pytest.mark.parametrize(
    ("row", "gap"),
    [
        pytest.param((0, 1, 2, 3), False, id="each beside the last"),
        pytest.param((0, 1, 3), True, id="a drawn card was not seen"),
        pytest.param((0, 1, None, 3), False, id="a drawn card was seen nowhere"),
        pytest.param((0, 2), False, id="the hole card lies further away"),
    ],
)
def test_a_gap_in_the_dealers_row_speaks_for_a_card_that_nobody_saw(
    row: tuple[int | None, ...], gap: bool
) -> None:
    story = dealers(*(None if number is None else dealer_card(number) for number in row))
    assert (PLACES.gap(story.dealer) > 4) == gap


def split_hands(*slots: int) -> Story:
    """Return spot 5's pair, split and split again, each half where a dealer lays it."""
    story = Story(Cameras(), Moves(RULES))
    parents = (0, 0, 0)
    hands = []
    for number, slot in enumerate(slots):
        hand = Hand(5, number)
        hand.of_split, hand.split_from = True, parents[number]
        hand.cards = [card(number + 1, 5, spot_places(FELT, 5).card(slot, 0), number=number)]
        hands.append(hand)
    story.hands = {5: hands}
    return story


@pytest.mark.parametrize(("number", "slot", "odds"), [(0, 0, 0.0), (0, 1, log(OTHER_SIDE))])
def test_halves_of_a_pair_keep_their_sides(number: int, slot: int, odds: float) -> None:
    story = split_hands(0, 1)
    here = look(spot_places(FELT, 5).card(slot, 4))
    assert PLACES.side(story, story.hands[5][number], here) == odds


def test_a_hand_split_again_may_lie_behind_the_one_it_was_split_from() -> None:
    story = split_hands(0, 1, 2)
    here = look(spot_places(FELT, 5).card(2, 0))
    assert PLACES.side(story, story.hands[5][2], here) == 0.0


def test_stories_of_which_of_two_like_cards_was_laid_apart_stay_apart() -> None:
    one, other = split_hands(0, 2), split_hands(2, 0)
    assert one.outline() != other.outline()
    assert one.outline() == split_hands(0, 2).outline()


def test_a_card_that_two_cameras_place_apart_is_not_moved_by_every_second_look() -> None:
    story = split_hands(0, 1)
    own = story.hands[5][0].cards[0]
    assert own.place is not None
    story.tracks[("camera:a", 9)], own.tracks = own.ident, (("camera:a", 9),)
    pose = spot_places(FELT, 5).card(0, 0)
    camera = Camera(Felt(FELT), RULES, lambda _face: 2, None)
    apart = Pose(pose.x_mm + 14.0, pose.y_mm, pose.angle_deg)
    here, there = (
        camera.options(story, look(place, change="read", card=Card("8S")))[0].evidence
        for place in (pose, apart)
    )
    assert there == here
