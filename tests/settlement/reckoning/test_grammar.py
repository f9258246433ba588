"""How likely a next card is, by the state of the deal."""

from math import exp

from models.events import Spot
from settlement.reckoning.grammar import Coming, draws
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.odds import HIT
from settlement.reckoning.story import Story
from settlement.reconcile.cameras import Cameras
from settlement.reconcile.timing import SECOND
from tests.settlement.felt_scene import rulebook

RULES = rulebook("pitch-double-deck")


def passed_over(spot: Spot, cards: int) -> Story:
    """Return a deal in which the dealer took his hole card before a spot's second one."""
    story = Story(Cameras())
    story.staked = (spot,)
    hand = Hand(spot, 0)
    hand.cards = [InPlay(1 + at, spot, 0, "down", at) for at in range(cards)]
    story.hands = {spot: [hand]}
    story.dealer = [InPlay(8, "dealer", 0, "up", 3), InPlay(9, "dealer", 0, "down", 4)]
    story.passed = (spot,)
    return story


def test_a_spot_passed_over_gets_its_card_of_the_deal_late() -> None:
    (draw, *_) = draws(passed_over(1, 1), 1, Coming("down", 9), [], RULES)
    assert (draw.evidence, draw.mistakes) == (0.0, 0.0)


def test_a_further_card_of_a_spot_that_was_passed_over_is_a_hit() -> None:
    """It is not free: else the story of an early hole card gains by every hit."""
    found = draws(passed_over(1, 2), 1, Coming("up", 9, lain_ns=SECOND), [], RULES)
    assert [round(exp(draw.evidence), 3) for draw in found] == [HIT]
