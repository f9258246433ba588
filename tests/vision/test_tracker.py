"""Which card is which: situations at a table, told to the tracker by hand."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

from models.cards import DECK, Card
from vision.backdrop import Print
from vision.felt import Pose
from vision.tracker import Change, Seen, Tracker

S = 1_000_000_000


@dataclass
class HandMadeView:
    """Says of every place what the test says: which are free, show a strip, and last moved."""

    at_ns: int
    bare: Sequence[Pose] = ()
    moved_at_ns: int = 0
    strips: Sequence[Pose] = ()
    as_before: float = 0.0

    def free(self, pose: Pose, under: Sequence[Pose]) -> bool:
        return pose in self.bare

    def unchanged(self, pose: Pose, under: Sequence[Pose]) -> bool:
        return pose in self.strips

    def print_of(self, pose: Pose) -> Print:
        return Print((0, 0, 1, 1), np.zeros((1, 1, 3), np.uint8), np.ones((1, 1), np.bool_))

    def explained(self, pose: Pose, prints: Sequence[Print]) -> float:
        return self.as_before

    def moved_ns(self, pose: Pose) -> int:
        return self.moved_at_ns

    def rested_ns(self, pose: Pose) -> int:
        return self.moved_at_ns


def up(
    card: str, x: float, y: float, angle: float = 0.0, at_s: float = 0.0, p: float = 0.995
) -> Seen:
    row = np.zeros(52)
    row[DECK.index(Card(card))] = p
    return Seen(Pose(x, y, angle), "up", 0.99, row, round(at_s * S))


def back(x: float, y: float, at_s: float = 0.0) -> Seen:
    return Seen(Pose(x, y, 0.0), "down", 0.95, np.zeros(52), round(at_s * S))


def strip(x: float, y: float, at_s: float) -> Seen:
    return replace(back(x, y, at_s), found_p=0.35)


def kinds_of(changes: Sequence[Change]) -> list[tuple[str, int]]:
    return [(change.kind, change.track.number) for change in changes]


def at(seconds: float, *, bare: Sequence[Seen] = (), moved_s: float | None = None) -> HandMadeView:
    moved_at = seconds - 0.2 if moved_s is None else moved_s
    return HandMadeView(round(seconds * S), [seen.pose for seen in bare], round(moved_at * S))


def test_a_card_is_new_once() -> None:
    tracker, ace = Tracker(), up("AS", 0, 0, at_s=0.8)
    assert kinds_of(tracker.look([ace], at(1))) == [("new", 1)]
    assert kinds_of(tracker.look([ace], at(2))) == [("read", 1)]
    assert tracker.advance(10 * S) == ()


def test_a_card_keeps_its_identity_through_a_readers_jitter() -> None:
    tracker = Tracker()
    tracker.look([up("AS", 0, 0), up("KD", 20, -8)], at(1))
    again = tracker.look([up("KD", 16, -6, 3), up("AS", -3, 3, -4)], at(2))
    assert sorted(kinds_of(again)) == [("read", 1), ("read", 2)]
    assert [str(t.evidence.best()[0]) for t in tracker.lying] == ["AS", "KD"]


def test_twins_in_a_cascade_are_two_cards() -> None:
    tracker = Tracker()
    tracker.look([up("8H", 0, 0)], at(1))
    changes = tracker.look([up("8H", 0, 0), up("8H", 18, -8)], at(2))
    assert sorted(kinds_of(changes)) == [("new", 2), ("read", 1)]


def test_a_covered_card_stays() -> None:
    tracker = Tracker()
    tracker.look([up("AS", 0, 0)], at(1))
    assert kinds_of(tracker.look([up("KD", 10, 14)], at(2))) == [("new", 2)]
    assert tracker.advance(60 * S) == ()
    assert len(tracker.lying) == 2


def test_a_card_is_gone_when_its_place_is_free() -> None:
    tracker, ace = Tracker(), up("AS", 0, 0)
    tracker.look([ace], at(1))
    assert tracker.look([], at(3, bare=[ace])) == ()
    assert tracker.advance(round(3.5 * S)) == ()
    (gone,) = tracker.advance(round(3.6 * S))
    assert (gone.kind, gone.at_ns) == ("gone", round(2.8 * S))
    assert tracker.advance(9 * S) == ()


def test_cards_swept_up_by_the_handful_are_gone_at_once() -> None:
    tracker = Tracker()
    hand = [up("AS", 0, 0), up("9D", 18, -8), up("6C", 36, -16)]
    tracker.look(hand, at(1))
    assert tracker.look([], at(3, bare=hand)) == ()
    assert sorted(kinds_of(tracker.advance(3 * S))) == [("gone", 1), ("gone", 2), ("gone", 3)]


def test_what_was_lifted_when_the_film_ends_is_gone() -> None:
    tracker, ace = Tracker(), up("AS", 0, 0)
    tracker.look([ace], at(1))
    tracker.look([], at(3, bare=[ace]))
    assert kinds_of(tracker.finish()) == [("gone", 1)]
    assert tracker.finish() == ()


def test_a_split_card_moved_apart_is_the_same_card() -> None:
    tracker = Tracker()
    eight, other = up("8H", 0, 0), up("8C", 18, -8)
    tracker.look([eight, other], at(1))
    tracker.look([eight], at(3, bare=[other]))
    (moved,) = tracker.look([up("8C", 70, 72, at_s=3.3)], at(3.5))
    assert (moved.kind, moved.track.number, moved.at_ns) == ("moved", 2, round(3.3 * S))
    assert tracker.advance(60 * S) == ()


def test_a_card_lifted_and_laid_within_one_look_has_moved() -> None:
    tracker, eight = Tracker(), up("8H", 0, 0)
    tracker.look([eight], at(1))
    assert kinds_of(tracker.look([up("8H", 90, 60)], at(3, bare=[eight]))) == [("moved", 1)]


def test_two_like_cards_taken_and_one_laid_are_not_guessed() -> None:
    tracker = Tracker()
    twins = [up("8H", 0, 0), up("8H", 18, -8)]
    tracker.look(twins, at(1))
    changes = tracker.look([up("8H", 120, 0)], at(3, bare=twins))
    assert kinds_of(changes) == [("new", 3)]
    assert sorted(kinds_of(tracker.advance(5 * S))) == [("gone", 1), ("gone", 2)]


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(up("8H", 700, 0), id="too-far"),
        pytest.param(up("8D", 100, 0), id="another-face"),
        pytest.param(up("8H", 100, 0, p=0.5), id="not-surely-read"),
        pytest.param(back(100, 0), id="face-down"),
    ],
)
def test_what_need_not_be_the_lifted_card_is_new(later: Seen) -> None:
    tracker, eight = Tracker(), up("8H", 0, 0)
    tracker.look([eight], at(1))
    tracker.look([], at(3, bare=[eight]))
    assert kinds_of(tracker.look([later], at(3.5))) == [("new", 2)]
    assert kinds_of(tracker.advance(5 * S)) == [("gone", 1)]


def test_a_card_laid_long_after_is_new() -> None:
    tracker, eight = Tracker(), up("8H", 0, 0)
    tracker.look([eight], at(1))
    tracker.look([], at(3, bare=[eight]))
    assert kinds_of(tracker.advance(5 * S)) == [("gone", 1)]
    assert kinds_of(tracker.look([eight], at(6))) == [("new", 2)]


def test_the_hole_card_turned_beside_its_place_is_the_same_card() -> None:
    tracker = Tracker()
    hole = back(-120, 285)
    tracker.look([up("TS", -150, 285), hole], at(1))
    changes = tracker.look([up("TS", -150, 285), up("7C", -80, 285, at_s=8.7)], at(9, moved_s=8.7))
    assert ("turned", 2) in kinds_of(changes)
    assert len(tracker.lying) == 2
    assert str(tracker.lying[1].evidence.best()[0]) == "7C"


def test_a_hit_beside_a_back_that_nothing_touched_turns_nothing() -> None:
    tracker = Tracker()
    tracker.look([back(0, 0)], at(1))
    untouched = HandMadeView(9 * S, moved_at_ns=round(0.5 * S))
    assert kinds_of(tracker.look([up("7C", 70, 0)], untouched)) == [("new", 2)]


def test_a_back_still_seen_is_not_turned() -> None:
    tracker = Tracker()
    tracker.look([back(0, 0)], at(1))
    assert sorted(kinds_of(tracker.look([back(0, 0), up("7C", 70, 0)], at(9)))) == [
        ("new", 2),
        ("read", 1),
    ]


def test_a_card_laid_upon_a_back_of_which_a_strip_shows_is_another_card() -> None:
    tracker, hole = Tracker(), back(0, 300)
    tracker.look([hole], HandMadeView(S))
    laid = up("5S", -26, 302, at_s=2)
    changes = tracker.look([laid], HandMadeView(2 * S, moved_at_ns=2 * S, strips=[hole.pose]))
    assert kinds_of(changes) == [("new", 2)]
    assert kinds_of(tracker.look([laid, hole], HandMadeView(3 * S))) == [("read", 1), ("read", 2)]


def test_a_card_turned_where_it_lies_is_the_same_card() -> None:
    tracker = Tracker()
    tracker.look([back(0, 0), back(20, -8)], at(1))
    changes = tracker.look([up("7C", 1, 1), up("9H", 21, -7)], at(5))
    assert kinds_of(changes) == [("turned", 1), ("turned", 2)]
    assert [str(t.evidence.best()[0]) for t in tracker.lying] == ["7C", "9H"]


def test_a_card_pushed_aside_has_moved() -> None:
    tracker, eight = Tracker(), up("8H", 0, 0)
    tracker.look([eight], at(1))
    assert kinds_of(tracker.look([up("8H", 25, 10)], at(2, bare=[eight]))) == [("moved", 1)]
    assert len(tracker.lying) == 1


def test_a_twin_laid_on_a_card_that_is_overlooked_is_not_taken_for_a_push() -> None:
    tracker = Tracker()
    tracker.look([up("8H", 0, 0)], at(1))
    assert kinds_of(tracker.look([up("8H", 18, -8)], at(2))) == [("new", 2)]
    assert len(tracker.lying) == 2


@pytest.mark.parametrize(
    ("p", "as_before", "reported"),
    [(0.5, 0.96, []), (0.5, 0.44, [("new", 2)]), (0.995, 0.99, []), (0.995, 0.83, [("new", 2)])],
)
def test_a_face_where_everything_looks_as_before_is_print_of_the_cards_there(
    p: float, as_before: float, reported: list[tuple[str, int]]
) -> None:
    """Of 1,132 faces of 23 films none looked more as before than 0.89 as it came to lie there."""
    tracker = Tracker()
    tracker.look([up("3S", 0, 0)], at(1))
    view = replace(at(2), as_before=as_before)
    assert kinds_of(tracker.look([up("AS", 27, 2, p=p)], view)) == reported


def test_a_card_whose_place_was_taken_for_free_under_an_arm_lies_there_still() -> None:
    tracker, two = Tracker(), up("2H", 0, 0)
    tracker.look([two], at(1))
    tracker.look([], at(2, bare=[two]))
    assert kinds_of(tracker.look([up("2H", 2, 1)], at(2.3))) == [("read", 1)]
    assert tracker.advance(4 * S) == ()


def test_a_misread_card_falls_into_doubt() -> None:
    tracker = Tracker()
    tracker.look([up("AS", 0, 0)], at(1))
    assert kinds_of(tracker.look([up("4S", 1, 0)], at(2))) == [("read", 1)]
    assert tracker.lying[0].evidence.best()[1] < 0.6


def test_another_sure_face_a_little_off_is_another_card() -> None:
    tracker = Tracker()
    tracker.look([up("AS", 0, 0)], at(1))
    assert kinds_of(tracker.look([up("4S", 9, 4)], at(2))) == [("new", 2)]


def test_a_card_read_by_both_its_corners_is_one() -> None:
    tracker = Tracker()
    assert kinds_of(tracker.look([up("AS", 0, 0), up("AS", 3, 2, 178)], at(1))) == [("new", 1)]


def test_a_card_that_crept_is_told_to_have_moved() -> None:
    tracker, kinds = Tracker(), []
    for i in range(12):
        kinds += [kind for kind, _ in kinds_of(tracker.look([up("AS", 3.0 * i, 0)], at(1 + i)))]
    assert kinds.count("new") == 1
    assert kinds.count("moved") == 1
    assert kinds.count("read") == 10


def test_a_cards_place_is_the_mean_of_several_looks() -> None:
    tracker = Tracker()
    for x, angle in ((-3, 176), (3, 0), (-2, 180), (2, 4)):
        tracker.look([up("AS", x, 0, angle)], at(1))
    assert tracker.lying[0].pose.x_mm == pytest.approx(0)
    assert tracker.lying[0].pose.angle_deg % 180 == pytest.approx(0)


def test_a_card_told_from_its_two_ends_is_one() -> None:
    tracker = Tracker()
    assert kinds_of(tracker.look([up("AS", 0, 0), up("AS", 14, 12, 175)], at(1))) == [("new", 1)]


def test_a_back_found_in_two_parts_of_the_picture_is_one() -> None:
    tracker = Tracker()
    up_card, one, other = up("5S", -150, 285), back(-123, 283), back(-119, 286)
    tracker.look([up_card, one, other], at(1))
    assert [track.face for track in tracker.lying] == ["up", "down"]
    assert kinds_of(tracker.look([up_card, other], at(2))) == [("read", 1), ("read", 2)]


def test_two_cards_of_a_hand_dealt_face_down_are_two() -> None:
    tracker = Tracker()
    tracker.look([back(0, 0)], at(1))
    assert kinds_of(tracker.look([back(18, 8)], at(2))) == [("new", 2)]
    assert len(tracker.lying) == 2


def test_two_backs_of_one_look_that_lie_almost_squared_up_are_two() -> None:
    tracker = Tracker()
    tracker.look([back(0, 0)], at(1))
    assert sorted(kinds_of(tracker.look([back(0, 0), back(9, 2)], at(2)))) == [
        ("new", 2),
        ("read", 1),
    ]


def test_two_backs_that_are_found_half_a_turn_apart_are_two() -> None:
    tracker = Tracker()
    upper, strip = back(0, 0), back(20, 2)
    strip = replace(strip, pose=replace(strip.pose, angle_deg=178.0))
    assert sorted(kinds_of(tracker.look([upper, strip], at(1)))) == [("new", 1), ("new", 2)]


def test_cards_squared_up_into_a_pile_stay_on_the_felt() -> None:
    tracker = Tracker()
    ace, king = up("AS", 0, 0), up("KD", 18, -8)
    tracker.look([ace, king], at(1))
    pile = up("KD", -12, 10, at_s=2.9)
    assert kinds_of(tracker.look([pile], at(3, bare=[ace, king]))) == [("moved", 2)]
    assert kinds_of(tracker.advance(round(4.1 * S))) == [("squared", 1)]
    assert {t.number for t in tracker.lying} == {1, 2}
    assert kinds_of(tracker.look([pile], at(5))) == [("read", 2)]
    tracker.look([], at(6, bare=[pile]))
    assert sorted(kinds_of(tracker.advance(round(7.1 * S)))) == [("gone", 1), ("gone", 2)]


def test_a_card_pushed_over_the_one_beneath_it_is_not_that_one_misread() -> None:
    tracker = Tracker()
    ace, king = up("AS", 0, 0), up("KD", 18, -8)
    tracker.look([ace, king], at(1))
    pile = up("KD", -2, 2, at_s=2.9)
    assert kinds_of(tracker.look([pile], at(3, bare=[king]))) == [("moved", 2)]
    assert tracker.advance(60 * S) == ()
    assert {str(t.evidence.best()[0]) for t in tracker.lying} == {"AS", "KD"}


def test_a_card_taken_from_a_hand_that_stays_is_gone() -> None:
    tracker = Tracker()
    ace, king = up("AS", 0, 0), up("KD", 18, -8)
    tracker.look([ace, king], at(1))
    tracker.look([king], at(3, bare=[ace]))
    assert kinds_of(tracker.advance(round(4.1 * S))) == [("gone", 1)]


def test_a_card_taken_while_its_hand_is_laid_apart_is_gone() -> None:
    tracker = Tracker()
    eight, other = up("8H", 0, 0), up("8C", 18, -8)
    tracker.look([eight, other], at(1))
    moved = tracker.look([up("8C", 90, 0, at_s=2.9)], at(3, bare=[eight, other]))
    assert kinds_of(moved) == [("moved", 2)]
    assert kinds_of(tracker.advance(round(4.1 * S))) == [("gone", 1)]


def test_the_strip_of_a_back_counts_at_once_with_the_card_that_came_with_it() -> None:
    """Two cards that were laid down together and turned up 2 s later (filmed session 9124)."""
    tracker = Tracker()
    found = tracker.look([back(0, 0, at_s=0.8), strip(20, 8, at_s=0.9)], at(1))
    assert kinds_of(found) == [("new", 1), ("new", 2)]
    assert tracker.unsettled == ()


def test_a_finger_upon_cards_is_no_back_before_it_lies_there_long() -> None:
    """The finder took a finger that rested upon a hand's backs for one (filmed session 9127)."""
    tracker, lying, finger = Tracker(), back(0, 0, at_s=0.8), strip(20, 8, at_s=3)
    tracker.look([lying], at(1))
    assert kinds_of(tracker.look([lying, finger], at(3.7))) == [("read", 1)]
    assert tracker.unsettled == (finger.pose,), "it is to be looked at again"
    assert kinds_of(tracker.look([lying, finger], at(4.2))) == [("new", 2), ("read", 1)]
    assert not tracker.unsettled


def test_a_sleeve_that_is_read_as_a_card_counts_no_sooner() -> None:
    """A sleeve that lay still for 0.8 s was a ten of diamonds, in doubt (filmed session 9124)."""
    tracker = Tracker()
    sleeve = replace(up("TD", 0, 0, at_s=1, p=0.8), found_p=0.37)
    assert tracker.look([sleeve], at(1.6)) == ()
    assert tracker.unsettled == (sleeve.pose,)


def test_a_face_that_is_read_surely_counts_at_once_however_faint() -> None:
    tracker = Tracker()
    four = replace(up("4C", 0, 0, at_s=1), found_p=0.49)
    assert kinds_of(tracker.look([four], at(1.1))) == [("new", 1)]


def test_a_hole_card_half_under_the_up_card_counts_at_once() -> None:
    tracker, up_card = Tracker(), up("5S", 0, 0, at_s=0.8)
    tracker.look([up_card], at(1))
    hole = replace(back(26, 0, at_s=3), found_p=0.47)
    assert ("new", 2) in kinds_of(tracker.look([up_card, hole], at(3.1)))


def among_known(seconds: float, share: float) -> HandMadeView:
    """A look in which a share of every place looks as the cards that lie there did."""
    return replace(at(seconds), as_before=share)


def test_a_doubt_among_known_cards_counts_once_it_has_lasted() -> None:
    """Strips of two cards beside an arm were a third one; their places had long been still."""
    tracker, strip_of_two = Tracker(), replace(up("TS", 20, 4, at_s=2, p=0.7), found_p=0.73)
    tracker.look([up("8S", 0, 0, at_s=2), up("TD", 40, 8, at_s=2)], at(2.2))
    for seconds in (20, 20.4, 20.9):
        assert tracker.look([strip_of_two], among_known(seconds, 0.6)) == ()
        assert tracker.unsettled == (strip_of_two.pose,)
    assert kinds_of(tracker.look([strip_of_two], among_known(21, 0.6))) == [("new", 3)]


def test_a_doubt_among_known_cards_that_comes_and_goes_does_not_count() -> None:
    tracker, strip_of_two = Tracker(), replace(up("TS", 20, 4, at_s=2, p=0.7), found_p=0.73)
    tracker.look([up("8S", 0, 0, at_s=2), up("TD", 40, 8, at_s=2)], at(2.2))
    for seconds in (20, 24, 28):
        assert tracker.look([strip_of_two], among_known(seconds, 0.6)) == ()


@pytest.mark.parametrize(("p", "share"), [(0.995, 0.6), (0.7, 0.41)])
def test_a_sure_face_among_known_cards_and_a_doubt_elsewhere_count_at_once(
    p: float, share: float
) -> None:
    tracker = Tracker()
    tracker.look([up("8S", 0, 0, at_s=2)], at(2.2))
    seen = tracker.look([up("TS", 20, 4, at_s=20, p=p)], among_known(20.2, share))
    assert kinds_of(seen) == [("new", 2)]
