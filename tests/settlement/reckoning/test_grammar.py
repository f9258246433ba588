"""How likely a next card is, by the state of the deal."""

from math import exp, log

import pytest

from models.cards import Card
from models.events import PlateRead, Spot
from settlement.reckoning.chips import Change, meanings
from settlement.reckoning.grammar import Coming, draws, owed_before, turn_ended
from settlement.reckoning.in_play import Hand, InPlay
from settlement.reckoning.moves import Moves
from settlement.reckoning.odds import HIT, MISTAKE
from settlement.reckoning.story import Story
from settlement.reconcile.cameras import Cameras
from settlement.reconcile.timing import SECOND
from tests.settlement.felt_scene import rulebook

RULES = rulebook("pitch-double-deck")


def passed_over(spot: Spot, cards: int) -> Story:
    """Return a deal in which the dealer took his hole card before a spot's second one."""
    story = Story(Cameras(), Moves(RULES))
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


def test_a_players_card_missed_as_it_lay_face_down_is_first_seen_as_he_turns_it_up() -> None:
    story = passed_over(1, 1)
    story.passed, story.dealt_at = (), 0
    coming = Coming("up", 9, lain_ns=2 * SECOND)
    found = draws(story, 1, coming, [1, "dealer"], RULES)
    assert [draw.since for draw in found if not draw.mistakes] == [True]


def split_pair(face: str) -> Story:
    story = Story(Cameras(), Moves(RULES))
    halves = []
    for number in (0, 1):
        hand = Hand(1, number)
        hand.of_split, hand.split_from = True, 0
        card = InPlay(1 + number, 1, number, "up", number)
        card.shoe_card = Card(face)
        hand.cards = [card]
        halves.append(hand)
    story.hands = {1: halves}
    return story


def test_the_first_half_of_a_pair_gets_its_second_card_before_the_other() -> None:
    story = split_pair("8S")
    first, second = story.hands[1]
    assert owed_before(story, second, Coming("up", 9)) == (first,)
    assert owed_before(story, first, Coming("up", 9)) == ()


def test_split_aces_get_their_cards_in_any_order() -> None:
    story = split_pair("AS")
    assert owed_before(story, story.hands[1][1], Coming("up", 9)) == ()


@pytest.mark.parametrize(("face", "odds"), [("QH", 1 / 13), ("AH", 4 / 13), ("9H", None)])
def test_a_natural_is_paid_before_its_second_face_was_read(face: str, odds: float | None) -> None:
    """The dealer pays three to two at once; that is no mistake where it may be a natural."""
    story = passed_over(1, 2)
    story.passed = ()
    hand = story.hands[1][0]
    hand.cards[0].face, hand.cards[0].shoe_card = "up", Card(face)
    story.open_round(1)
    story.staked = (1,)
    story.hands = {1: [hand]}
    story.plates[1, "0"] = 2_000
    read = PlateRead(source="plate:1", at=10, spot=1, circle="0", amount=5_000, raw="")
    paid = [one for one in meanings(story, Change(read), RULES) if one.means == "payment"]
    free = [round(exp(one.evidence), 4) for one in paid if not one.mistakes]
    assert free == ([] if odds is None else [round(odds, 4)])


@pytest.mark.parametrize(("at", "mistakes"), [(6, 0), (8, 1)])
def test_a_card_seen_late_came_before_its_player_stood(at: int, mistakes: int) -> None:
    """He tucked his cards at 7; a card that left the dealer's hand before that is none after it."""
    story = passed_over(1, 2)
    story.passed = ()
    hand = story.hands[1][0]
    hand.stood_at = 7
    assert turn_ended(story, hand) == 7
    (draw,) = draws(story, 1, Coming("up", at, lain_ns=SECOND), [], RULES)
    assert round(draw.mistakes / log(MISTAKE)) == mistakes


def test_a_spots_turn_ends_as_a_later_spot_splits() -> None:
    story = split_pair("8S")
    story.hands = {1: [Hand(1, 0)], 2: story.hands[1]}
    for half in story.hands[2]:
        half.spot, half.split_at = 2, 40
    assert turn_ended(story, story.hands[1][0]) == 40
    assert turn_ended(story, story.hands[2][0]) is None


def test_chips_beside_cards_whose_player_took_his_wager_are_a_new_wager() -> None:
    story = passed_over(1, 2)
    story.passed = ()
    story.open_round(1)
    hand = Hand(1, 0)
    hand.left_alone = True
    story.hands, story.revealed, story.over_at = {1: [hand]}, True, 8
    read = PlateRead(source="plate:1", at=10, spot=1, circle="0", amount=2_000, raw="")
    likeliest = max(meanings(story, Change(read), RULES), key=lambda one: one.evidence)
    assert likeliest.means == "idle"


def test_the_wager_of_a_natural_is_not_taken_before_the_dealer_has_shown_his_hand() -> None:
    story = passed_over(1, 2)
    story.passed = ()
    hand = story.hands[1][0]
    for card, face in zip(hand.cards, ("AS", "JD"), strict=True):
        card.face, card.shoe_card = "up", Card(face)
    story.open_round(1)
    story.staked = (1,)
    story.hands = {1: [hand]}
    story.plates[1, "0"] = 2_000
    read = PlateRead(source="plate:1", at=10, spot=1, circle="0", amount=0, raw="")
    assert all(one.mistakes for one in meanings(story, Change(read), RULES))
