"""A sure face that never becomes a card on the felt counts once, with why."""

from models.cards import Card
from vision.felt import Pose
from vision.held_back import PAST_NS, WAIT_NS, Held, HeldBack

HERE, BESIDE, AWAY = Pose(0, 300, 0), Pose(30, 310, 5), Pose(400, 300, 0)
ACE = Held(Card.AS, HERE, "misfit")
SECOND_NS = 1_000_000_000


def test_a_face_that_stays_held_back_counts_once() -> None:
    held = HeldBack()
    for at_ns in range(0, 3 * WAIT_NS, SECOND_NS // 2):
        held.look([ACE], at_ns)
        assert held.due([], at_ns) == ((ACE,) if at_ns == WAIT_NS else ())


def test_a_face_that_one_look_held_back_counts_though_no_look_follows() -> None:
    held = HeldBack()
    held.look([ACE], 0)
    assert held.due([], WAIT_NS - 1) == ()
    assert held.due([], WAIT_NS) == (ACE,)
    assert held.due([], WAIT_NS + PAST_NS) == ()


def test_a_face_told_of_meanwhile_was_not_dropped() -> None:
    held = HeldBack()
    held.look([ACE], 0)
    assert held.due([(Card.AS, BESIDE)], SECOND_NS) == ()
    assert held.due([], WAIT_NS) == ()


def test_an_equal_face_elsewhere_or_another_one_here_does_not_account_for_it() -> None:
    held = HeldBack()
    held.look([ACE], 0)
    assert held.due([(Card.AS, AWAY), (Card.KS, HERE)], WAIT_NS) == (ACE,)


def test_a_card_in_the_hand_that_takes_it_up_was_told_of_before() -> None:
    held = HeldBack()
    held.due([(Card.AS, AWAY)], 0)
    held.look([Held(Card.AS, HERE, "moving")], SECOND_NS)
    assert held.due([], SECOND_NS + WAIT_NS) == ()


def test_the_reason_is_that_of_the_last_look() -> None:
    held = HeldBack()
    held.look([Held(Card.AS, BESIDE, "moving")], 0)
    held.look([ACE], SECOND_NS)
    assert held.due([], WAIT_NS) == (ACE,)
