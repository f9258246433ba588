"""What a picture tells of a place on the felt, by a painted table."""

from models.cards import Card
from tests.vision.painted import LAYOUT, POINTS, SIZE, Lying, Moment, film
from vision.backdrop import Backdrop
from vision.change import ChangeDetector, Grid
from vision.felt import Pose, locate_felt
from vision.ground import watched_blocks
from vision.view import FeltView

KING = Lying(Card.KD, Pose(-82, 292, 0))
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
