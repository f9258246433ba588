"""What a picture tells of a place on the felt, by a painted table."""

import numpy as np
import pytest

from models.cards import Card
from tests.vision.painted import LAYOUT, POINTS, SIZE, Lying, Moment, film
from vision.backdrop import Backdrop, Print
from vision.change import ChangeDetector, Grid
from vision.felt import Pose, locate_felt
from vision.ground import watched_blocks
from vision.view import FeltView

KING = Lying(Card.KD, Pose(-82, 292, 0))
UPON = Lying(Card.AS, Pose(-58, 300, 4))
UNDER = Lying(Card.FOUR_C, Pose(-55, 292, 0))


def test_a_card_slid_beneath_another_came_when_its_own_strip_changed() -> None:
    """Half of it lies where the king has rested for seconds, and a hand moves beside the rest."""
    felt = locate_felt(POINTS, where="overhead")
    grid = Grid.of(*SIZE, felt.card_width_px(0, 500))
    detector = ChangeDetector(grid, watched_blocks(grid, felt, LAYOUT))
    edges = [-14 + 6 * (n % 2) for n in range(4)]
    arms = [((edge, 200), (60, 200), (60, 380), (edge, 380)) for edge in edges]
    hands = [(3 + n / 15, Moment((KING, UNDER)[::-1], (arm,))) for n, arm in enumerate(arms)]
    at_ns = 0
    for frame, _ in film([(0, Moment()), (0.5, Moment((KING,))), *hands], 15, 3.2):
        if at_ns < 3e9:
            detector.accept(detector.due)
        at_ns = frame.at_ns
        detector.see(detector.evened(grid.reduce(frame.gray)), at_ns)
    view = FeltView(felt, detector, Backdrop(grid, felt), (), at_ns)
    assert not (view.blocks(UNDER.pose) & detector.due).any(), "its strip waits for the hand"
    assert view.rested_ns(UNDER.pose) >= 3e9
    assert view.rested_ns(KING.pose) < 1e9


@pytest.mark.parametrize(("upon", "as_before"), [((), True), ((UPON,), False)])
def test_a_place_looks_as_before_until_another_card_lies_there(
    upon: tuple[Lying, ...], as_before: bool
) -> None:
    felt = locate_felt(POINTS, where="overhead")
    grid = Grid.of(*SIZE, felt.card_width_px(0, 500))
    detector, backdrop = ChangeDetector(grid), Backdrop(grid, felt)
    moments = [(0.0, Moment()), (0.5, Moment((KING,))), (1.0, Moment((KING, *upon)))]
    prints: list[Print] = []
    for frame, moment in film(moments, 15, 1.5):
        detector.see(detector.evened(grid.reduce(frame.gray)), frame.at_ns)
        backdrop.show(frame.image, detector.settled)
        backdrop.learn([c.pose for c in moment.cards], frame.at_ns, detector.settled)
        if 0.8e9 < frame.at_ns < 0.9e9:
            prints.append(backdrop.print_of(KING.pose))
    assert (backdrop.explained(UPON.pose, prints) > 0.9) is as_before


HOLE = Lying(Card.KD, Pose(-60, 292, 0), face_up=False)
UP_CARD = Lying(Card.FIVE_S, Pose(-88, 292, 2))
FINGER = ((-53, 240), (-20, 240), (-20, 268), (-53, 268))


@pytest.mark.parametrize(
    ("then", "lies_there"),
    [((HOLE, UP_CARD), True), ((UP_CARD,), False)],
    ids=["laid upon it", "turned over beside its place"],
)
def test_a_strip_beside_fingers_tells_whether_a_card_lies_there_still(
    then: tuple[Lying, ...], *, lies_there: bool
) -> None:
    """A hole card under the up card was taken for it, turned over (filmed session 9343)."""
    felt = locate_felt(POINTS, where="overhead")
    grid = Grid.of(*SIZE, felt.card_width_px(0, 500))
    detector = ChangeDetector(grid)
    for frame, _ in film(
        [(0, Moment()), (0.5, Moment((HOLE,))), (1, Moment(then, (FINGER,)))], 15, 1.5
    ):
        if frame.at_ns < 0.9e9:
            detector.accept(detector.due)
        detector.see(detector.evened(grid.reduce(frame.gray)), frame.at_ns)
    view = FeltView(felt, detector, Backdrop(grid, felt), (), int(1.5e9))
    assert view.unchanged(HOLE.pose, [UP_CARD.pose]) is lies_there


@pytest.mark.parametrize(("level", "free"), [(75, True), (55, True), (27, False)])
def test_grey_felt_shows_in_a_shadow_and_a_black_sleeve_is_none(level: int, *, free: bool) -> None:
    felt = locate_felt(POINTS, where="overhead")
    grid = Grid.of(*SIZE, felt.card_width_px(0, 500))
    detector, backdrop = ChangeDetector(grid), Backdrop(grid, felt)
    empty = np.full((SIZE[1], SIZE[0], 3), 75, np.uint8)
    still = np.ones_like(detector.settled)
    backdrop.show(empty, still)
    backdrop.learn([], 0, still)
    backdrop.show(np.full_like(empty, level), still)
    assert backdrop.free(KING.pose) is free
