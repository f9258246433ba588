"""A hand's cards in the order in which they lie, beside the one in which they were seen."""

import pytest

from models.cards import Card
from models.events import AnyFact, CardDealt, Face
from settlement.reckoning.in_play import Hand
from settlement.reckoning.moves import Moves
from settlement.reckoning.orders import as_laid
from settlement.reckoning.story import Closed, Story
from settlement.reconcile.cameras import Cameras
from settlement.reconcile.felt import Felt
from simulation.places import spot_places
from tests.settlement.felt_scene import FELT, RULES
from tests.settlement.reckoning.test_places import card

SEEN = ["JH", "AS", "2C"]


def laid(*slots: int, face: Face = "up", by_shoe: bool = False) -> list[str]:
    """Return in which order spot 4 got the cards of ``SEEN``, by where each lies in its hand."""
    record: list[AnyFact] = [
        CardDealt(at=at, to=4, hand=0, card=Card(name), face=face)
        for at, name in enumerate(SEEN, 1)
    ]
    story, hand = Story(Cameras(), Moves(RULES)), Hand(4, 0)
    hand.cards = [
        card(ident, 4, spot_places(FELT, 4).card(None, at)) for ident, at in enumerate(slots)
    ]
    for at, own in enumerate(hand.cards):
        own.dealt, own.announced = at, by_shoe
    story.hands, story.opened = {4: [hand]}, 0
    found = as_laid(Felt(FELT), Closed(story, len(record)), record)
    assert [fact.at for fact in found] == [1, 2, 3]
    return [str(fact.card) for fact in found if isinstance(fact, CardDealt)]


@pytest.mark.parametrize(
    ("slots", "order"),
    [
        pytest.param((2, 3, 4), SEEN, id="as they were seen"),
        pytest.param((3, 2, 4), ["AS", "JH", "2C"], id="the ace was seen late"),
        pytest.param((4, 2, 3), ["AS", "2C", "JH"], id="the jack was seen at once"),
        pytest.param((4, 3, 2), ["2C", "AS", "JH"], id="the last came first"),
    ],
)
def test_a_card_seen_later_that_lies_before_another_was_dealt_before_it(
    slots: tuple[int, ...], order: list[str]
) -> None:
    assert laid(*slots) == order


def test_the_shoe_tells_in_which_order_its_cards_were_dealt() -> None:
    assert laid(3, 2, 4, by_shoe=True) == SEEN


def test_a_player_lays_down_the_cards_he_held_in_any_order() -> None:
    assert laid(3, 2, 4, face="down") == SEEN
