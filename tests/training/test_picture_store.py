"""Pieces kept on disk, and the batches drawn from them."""

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("ultralytics", reason="the training extra is not installed")

from models.errors import OperatorError
from vision.corners import unbent
from vision.training import decks, picture_store
from vision.training.loop import Recipe, loader
from vision.training.picture_store import (
    Drawn,
    PictureStore,
    Pieces,
    corner_store,
    misplaced,
    upright,
)
from vision.training.samples import NOT_AN_INDEX

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PictureStore, Pieces]]:
    if not decks.SHEETS.is_dir() or not decks.TYPEFACES.is_dir():
        pytest.skip("gnome-cards-data or the typefaces are not installed")
    try:
        decks.typefaces(False)
    except OperatorError:
        pytest.skip("the typefaces are not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(picture_store, "SHARD", 60)
        whole = corner_store(
            tmp_path_factory.mktemp("pictures"), decks.train_deck_ids(0)[:2], 256, seed=3
        )
        yield whole, whole.pieces(100, workers=1)


def test_every_corner_shows_an_index_or_is_marked_as_showing_none(
    kept: tuple[PictureStore, Pieces],
) -> None:
    _, corners = kept
    assert len(corners.rooms) == 120  # two whole files
    index = corners.ranks != NOT_AN_INDEX
    assert 0.6 < index.mean() < 1
    assert (corners.suits[index] >= 0).all()
    assert (corners.hands[index] >= 0).all()
    assert (corners.suits[~index] == -1).all()
    assert (corners.hands[~index] == -1).all()


def test_what_was_rendered_is_not_rendered_again(kept: tuple[PictureStore, Pieces]) -> None:
    whole, corners = kept
    before = {file: file.stat().st_mtime_ns for file in whole.folder.iterdir()}
    again = whole.pieces(100, workers=1)
    assert {file: file.stat().st_mtime_ns for file in whole.folder.iterdir()} == before
    assert np.array_equal(again.rooms, corners.rooms)


def test_a_seed_and_a_step_give_the_same_batch(kept: tuple[PictureStore, Pieces]) -> None:
    _, corners = kept
    first, second = (next(iter(Drawn(corners, None, 16, 1, start=4))) for _ in range(2))
    assert bool((first.patches == second.patches).all())
    other = next(iter(Drawn(corners, None, 16, 1, start=5)))
    assert not bool((first.patches == other.patches).all())


def test_several_workers_share_one_stream_of_batches(kept: tuple[PictureStore, Pieces]) -> None:
    drawn = Drawn(kept[1], None, 16, 1, start=4)
    alone = islice(drawn, 5)
    together = islice(loader(drawn, Recipe(workers=2)), 5)
    for one, other in zip(alone, together, strict=True):
        assert bool((one.patches == other.patches).all())


@pytest.mark.parametrize("right_hand", [False, True])
def test_the_bend_of_a_misplaced_patch_puts_it_right(right_hand: bool) -> None:
    rng, true = np.random.default_rng(2), upright(right_hand)
    ways = [misplaced(rng, right_hand) for _ in range(60)]
    assert {right for _, right, _ in ways} == {True, False}
    for onto, right, bend in ways:
        if right == right_hand:
            patch = onto[None].astype(np.float32)
            assert np.allclose(unbent(patch, bend[None], np.array([right]))[0], true, atol=0.02)
