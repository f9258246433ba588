"""The plan of an independent film, what is rendered for it, and one small picture from Blender."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lab.independent import bodies, renderer
from lab.independent.bodies import Bend
from lab.independent.jobs import Job, Props, merged, touches
from lab.independent.plan import CardAt, Motion, stills
from lab.independent.room import MARGIN_PX, room
from lab.independent.session import Wanted, film_of
from models.cards import DECK
from simulation.session import Scene, Settings, prepare
from vision.felt import felt_of
from vision.scenes.performance import CardMove, Performance, Place

BENT: Bend = (0.5, 2.0, 0.3)


@pytest.fixture(scope="module")
def scene() -> Scene:
    return prepare(Settings(seed=5, rounds=1, spots=(1, 3)))


@pytest.fixture(scope="module")
def props(scene: Scene) -> Props:
    seen = room(4, scene.layout.width_mm, scene.layout.depth_mm)
    return Props(seen, scene.layout, Path("deck.png"))


def lying(performance: Performance, at_ns: int) -> dict[int, CardAt]:
    """The cards that lie at a time."""
    last = [still for still in stills(performance, lambda _: BENT) if still.from_ns <= at_ns][-1]
    return {one.card_id: one for one in last.lying if isinstance(one, CardAt)}


def test_a_card_lies_from_its_arrival_until_it_is_taken_up(scene: Scene) -> None:
    performance = scene.staged.performance
    dealt = [move for move in performance.cards if move.start is None and move.end is not None]
    assert dealt
    for move in dealt:
        following = [one for one in performance.cards if one.card_id == move.card_id]
        assert move.card_id not in lying(performance, move.until_ns - 1)
        assert lying(performance, move.until_ns)[move.card_id].place == move.end
        if len(following) > 1:
            assert move.card_id not in lying(performance, following[1].from_ns)


def test_no_card_lies_inside_another(scene: Scene) -> None:
    """A hole card is slid beneath the up card, and both are bent."""
    place = Place(0.0, 300.0, 10.0)
    up = CardMove(0, 1, 1, DECK[0], None, place, "up", "up", "dealer")
    hole_at = replace(place, x_mm=30.0)
    hole = CardMove(2, 3, 2, DECK[1], None, hole_at, "down", "down", "dealer", under=1)
    there = lying(Performance(5, (up, hole), (), ()), 4)
    assert list(there) == [2, 1]
    tall = bodies.card(BENT).points[:, 2].max()
    assert there[2].z_mm == 0
    assert 0.9 * tall < there[1].z_mm < 2 * tall


@pytest.mark.parametrize("turned_deg", [0.0, 12.0, 90.0])
def test_a_card_touches_the_one_beneath_where_it_is_lowest(turned_deg: float) -> None:
    under = CardMove(0, 1, 1, DECK[0], None, Place(0.0, 300.0), "up", "up", "dealer")
    over_at = Place(21.0, 311.0, turned_deg)
    over = CardMove(2, 3, 2, DECK[1], None, over_at, "up", "up", "dealer")
    there = lying(Performance(5, (under, over), (), ()), 4)
    share = np.linspace(-1, 1, 201)
    u, v = (part.ravel() for part in np.meshgrid(share, share))
    turn, half = np.deg2rad(turned_deg), np.array(bodies.CARD_MM) / 2
    x, y = u * half[0], v * half[1]
    below_u = (x * np.cos(turn) - y * np.sin(turn) + 21.0) / half[0]
    below_v = (x * np.sin(turn) + y * np.cos(turn) + 11.0) / half[1]
    both = (np.abs(below_u) <= 1) & (np.abs(below_v) <= 1)
    top = bodies.bent(BENT, below_u, -below_v)[both] + bodies.CARD_THICK_MM
    air = there[2].z_mm + bodies.bent(BENT, u, -v)[both] - top
    assert 0 <= air.min() < 0.25


def test_the_dealers_hand_is_at_every_card_that_comes_to_rest(scene: Scene) -> None:
    motion = Motion.of(scene.staged.performance, scene.layout)
    dealt = [move for move in scene.staged.performance.cards if move.start is None and move.end]
    for move in dealt:
        assert move.end is not None
        [hand] = [one for one in motion.hands(move.until_ns - 1) if one.by == move.by]
        far = np.hypot(hand.tip[0] - move.end.x_mm, hand.tip[1] - move.end.y_mm)
        assert far < 20


def test_a_collected_hand_moves_in_one_group(scene: Scene) -> None:
    performance = scene.staged.performance
    motion = Motion.of(performance, scene.layout)
    taken = [move for move in performance.cards if move.end is None]
    starts = Counter(move.from_ns for move in taken)
    start, count = starts.most_common(1)[0]
    assert count > 1
    assert len(motion.groups(start)[0].cards) == count


def test_the_camera_of_a_room_is_the_one_that_its_calibration_describes(props: Props) -> None:
    felt, seen = felt_of(props.room.pose()), props.room
    places = np.array([(-700.0, 200.0), (0.0, 560.0), (650.0, 900.0)])
    pixels = felt.to_px(places)
    canvas = seen.canvas_px(np.column_stack([places, np.zeros(3)]))
    x, y = seen.lens
    for (px, py), there in zip(pixels.round().astype(int), canvas, strict=True):
        assert np.hypot(x[py, px] - there[0], y[py, px] - there[1]) < 3
    assert abs(seen.radial[0]) > 0.01
    assert 0 < x.min() < 2 * MARGIN_PX


def test_a_rooms_films_differ_only_in_cards_and_hands(props: Props) -> None:
    other = Props(props.room, props.layout, Path("other.png"))
    assert props.empty() == other.empty()


def test_parts_that_touch_are_rendered_as_one() -> None:
    apart = (100, 100, 120, 120)
    assert merged([(0, 0, 10, 10), apart, (5, 5, 20, 20)]) == [(0, 0, 20, 20), apart]
    assert not touches((0, 0, 10, 10), (10, 0, 20, 10))


def test_a_card_has_the_size_and_thickness_of_a_card() -> None:
    flat = bodies.card((0.0, 0.0, 0.0))
    assert tuple(np.ptp(flat.points, axis=0).round(2)) == (63.5, 88.9, bodies.CARD_THICK_MM)
    edges = Counter(
        frozenset(pair)
        for face in flat.faces
        for pair in zip(face, (*face[1:], face[0]), strict=True)
    )
    assert set(edges.values()) == {2}, "the surface is closed"
    assert len(flat.uv) == sum(len(face) for face in flat.faces)


def test_a_hand_has_five_nails_and_reaches_to_its_fingertips() -> None:
    for posture in bodies.POSTURES:
        skin = bodies.hand(posture)
        assert skin.points[:, 1].max() > 0 > skin.points[:, 1].min()
        assert len(bodies.nails(posture)) == 5


@pytest.mark.slow
@pytest.mark.skipif(renderer.command() is None, reason=renderer.MISSING)
def test_blender_renders_a_card_on_the_cloth(tmp_path: Path) -> None:
    wanted = Wanted(room=4, seed=5, deck="casino-jumbo", rounds=1, spots=(1,))
    _, dealt = wanted.scene()
    seen = room(4, dealt.layout.width_mm, dealt.layout.depth_mm)
    film, started = film_of(wanted, dealt, seen, tmp_path)
    jobs = [job for job in film.jobs() if job.items and job.items[0]["what"] == "card"]
    still = replace(next(job for job in jobs if not job.over), samples=4)
    carried = replace(next(job for job in jobs if job.over), samples=2)
    cloth = Job(still.part, (), over=False, samples=4)
    with started:
        started.render([still, cloth, carried])
        shown, bare, over = (started.pixels(job) for job in (still, cloth, carried))
    left, top, right, bottom = still.part
    assert shown.shape == (bottom - top, right - left, 4)
    middle = np.s_[shown.shape[0] // 2 - 8 : shown.shape[0] // 2 + 8, shown.shape[1] // 2, :3]
    assert shown[middle].mean() > 2 * bare[middle].mean(), "paper is lighter than cloth"
    assert np.abs(shown[:3, :3].astype(float) - bare[:3, :3]).max() < 0.1
    assert over[..., 3].max() > 0.95
    assert over[..., 3].min() < 0.2
