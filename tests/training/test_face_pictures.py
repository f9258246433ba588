"""Whole cards kept on disk, and the batches drawn from them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import cv2
import numpy as np
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from numpy.typing import NDArray

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("ultralytics", reason="the training extra is not installed")

from models.cards import RANKS, Card
from models.errors import OperatorError
from vision.faces import FACE_PX
from vision.training import decks, face_pictures, picture_store
from vision.training.drawn import draw_face, rank_mask, usable
from vision.training.face_pictures import DrawnFaces
from vision.training.picture_store import PictureStore, Pieces
from vision.training.samples import NOT_AN_INDEX
from vision.training.scenes import render
from vision.training.signs import suit_mask
from vision.training.style import Style

pytestmark = pytest.mark.slow

STYLE = Style(font=Path("of no use"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PictureStore, Pieces]]:
    if not decks.SHEETS.is_dir() or not decks.TYPEFACES.is_dir():
        pytest.skip("gnome-cards-data or the typefaces are not installed")
    try:
        decks.typefaces(False)
    except OperatorError:
        pytest.skip("the typefaces are not installed")
    with pytest.MonkeyPatch.context() as patch:
        # Not all 22: rasterising them takes 70 s, and half of it goes into one of the decks.
        patch.setattr(decks, "TRAIN_SHEETS", {"neoclassical": "A23456789TJQK", "berlin": "A2"})
        patch.setattr(decks, "TRAIN_KDE", ())
        patch.setattr(picture_store, "SHARD", 60)
        patch.setattr(face_pictures, "FRESH", 2)
        whole = face_pictures.face_store(tmp_path_factory.mktemp("faces"), drawn=4, seed=3)
        yield whole, whole.pieces(100, workers=1)


def test_most_that_is_kept_is_a_card_and_the_rest_is_marked_as_none(
    kept: tuple[PictureStore, Pieces],
) -> None:
    _, faces = kept
    assert len(faces.rooms) == 120  # two whole files
    card = faces.ranks != NOT_AN_INDEX
    assert 0.75 < card.mean() < 1
    assert (faces.suits[card] >= 0).all()
    assert (faces.suits[~card] == -1).all()


def test_a_seed_and_a_step_give_the_same_batch(kept: tuple[PictureStore, Pieces]) -> None:
    _, faces = kept
    first, second = (next(iter(DrawnFaces(faces, None, 16, 1, start=4))) for _ in range(2))
    assert bool((first.patches == second.patches).all())
    assert tuple(first.patches.shape[2:]) == FACE_PX[::-1]
    other = next(iter(DrawnFaces(faces, None, 16, 1, start=5)))
    assert not bool((first.patches == other.patches).all())


def test_photographed_faces_are_mixed_in(kept: tuple[PictureStore, Pieces]) -> None:
    _, faces = kept
    photos = Pieces(faces.rooms[:2], np.array([3, 3]), np.array([1, 1]), np.array([0, 1]))
    plain = Pieces(faces.rooms, np.full(120, 5), np.full(120, 2), faces.hands)
    batch = next(iter(DrawnFaces(plain, photos, 300, 1, start=0)))
    assert 0.05 < float((batch.ranks == 3).float().mean()) < 0.2
    assert bool(((batch.ranks == 3) == (batch.suits == 1)).all())


@pytest.mark.parametrize("right_hand", [False, True])
def test_a_card_laid_over_a_face_hides_part_of_it_and_seldom_its_index(right_hand: bool) -> None:
    white = np.full((*face_pictures.ROOM_PX[::-1], 3), 255, np.uint8)
    grey = np.full_like(white, 90)
    grey[:4], grey[:, :4] = 0, 0  # felt beside the card is not laid with it
    rng = np.random.default_rng(5)
    laid = [face_pictures.overlaid(rng, white, grey, right_hand) for _ in range(200)]
    assert not any((room < 90).any() for room in laid)
    hidden = np.array([(room == 90).all(2) for room in laid])
    left, top = face_pictures.upright_face()[:, 2].astype(int)
    index = hidden[:, top + 4 : top + 20, left + 3 : left + 11]
    if right_hand:
        index = hidden[:, top + 4 : top + 20, -left - 11 : -left - 3]
    assert (hidden.mean((1, 2)) > 0.03).mean() > 0.9
    assert (index.mean((1, 2)) > 0.5).mean() < 0.1


def test_some_faces_are_turned_by_half() -> None:
    room = np.zeros((1, *face_pictures.ROOM_PX[::-1], 3), np.uint8)
    room[0, :64] = 255
    pieces = Pieces(room, np.array([3]), np.array([1]), np.array([0]))
    batch = next(iter(DrawnFaces(pieces, None, 300, 1, start=0)))
    level = batch.patches.float().mean(1)
    upside_down = level[:, :30].mean((1, 2)) < level[:, -30:].mean((1, 2))
    assert 0.1 < float(upside_down.float().mean()) < 0.3


def test_a_deck_drawn_anew_has_other_ornaments_signs_and_lettering() -> None:
    if not decks.SHEETS.is_dir() or not decks.TYPEFACES.is_dir():
        pytest.skip("gnome-cards-data or the typefaces are not installed")
    usual, anew = decks.open_deck("drawn:0").faces, decks.redrawn("drawn:0", 77).faces
    assert set(anew) == set(usual)
    differ = {card: np.abs(anew[card].astype(int) - usual[card]).max(-1) > 60 for card in anew}
    assert differ[Card("QH")][80:-80, 80:-80].mean() > 0.2
    assert 0 < differ[Card("9C")].mean() < 0.1
    assert 0 < differ[Card("9C")][:40, :30].mean() < 0.3


def test_the_pip_beside_a_court_figure_shows_its_suit() -> None:
    if not decks.TYPEFACES.is_dir():
        pytest.skip("the typefaces are not installed")
    found = []
    for seed in range(6):
        style = replace(decks.drawn_style("drawn", seed), court=seed, figures=True)
        for card in (Card("JS"), Card("QH"), Card("KC")):
            face = np.asarray(draw_face(card, style).convert("RGB")).astype(int)
            ink = np.abs(face - style.colours["SHDC".index(card.suit)]).max(-1) < 40
            panel = ink[: len(ink) // 2, ink.shape[1] // 5 : -ink.shape[1] // 5]
            likest = {
                suit: max(_fit(panel, suit, size_px, style) for size_px in range(60, 150, 9))
                for suit in "SHDC"
            }
            found.append(max(likest, key=lambda suit: likest[suit]) == card.suit)
    assert np.mean(found) >= 0.8


def _fit(panel: NDArray[np.bool_], suit: str, height_px: int, style: Style) -> float:
    """How like a suit's sign the likest place of a court's panel is, from -1 to 1."""
    sign = np.pad(np.asarray(suit_mask(suit, height_px, style)), 2)
    seen = panel.astype(np.uint8) * 255
    if sign.shape[1] > seen.shape[1]:
        return -1.0
    return float(cv2.matchTemplate(seen, sign, cv2.TM_CCOEFF_NORMED).max())


def test_courts_are_dealt_oftener_where_asked_and_their_lot_is_known() -> None:
    if not decks.SHEETS.is_dir():
        pytest.skip("gnome-cards-data is not installed")
    shares = np.exp(face_pictures.OFTENER) / 13
    assert shares.sum() == pytest.approx(1)
    assert shares[RANKS.index("Q")] == pytest.approx(0.6 * (0.7 / 3 + 0.3 / 13) + 0.4 / 13)
    assert shares[RANKS.index("9")] < 1 / 13
    ranks = dict.fromkeys((0.0, 0.7, 1.0), "")
    for seed in range(25):
        for courts in ranks:
            scene = render(np.random.default_rng(seed), ["sheet:tango"], 256, courts=courts)
            ranks[courts] += "".join(card.face.rank for card in scene.cards if card.face)
    shares_dealt = {
        courts: sum(r in "JQK" for r in dealt) / len(dealt) for courts, dealt in ranks.items()
    }
    assert shares_dealt[1.0] == 1
    assert shares_dealt[0.0] == pytest.approx(3 / 13, abs=0.12)
    assert shares_dealt[0.7] == pytest.approx(0.7 + 0.3 * 3 / 13, abs=0.12)


def test_ranks_drawn_anew_are_lettered_otherwise_and_stay_apart() -> None:
    if not decks.TYPEFACES.is_dir():
        pytest.skip("the typefaces are not installed")
    ranks = [rank.replace("T", "10") for rank in RANKS]
    style = decks.drawn_style("drawn", 3)

    def sized(rank: str, seed: int) -> NDArray[np.int64]:
        ink = np.asarray(rank_mask(rank, replace(style, ranks=seed)))
        return np.asarray(cv2.resize(ink, (40, 60)), np.int64)

    for seed in range(1, 12):
        anew = {rank: sized(rank, seed) for rank in ranks}
        assert min(np.abs(a - b).mean() for a, b in combinations(anew.values(), 2)) > 12
        assert all(np.abs(anew[rank] - sized(rank, 0)).mean() > 1 for rank in ranks)
        assert np.array_equal(anew["Q"], sized("Q", seed))


def test_decks_to_draw_anew_are_chosen_by_the_file_and_have_its_weights() -> None:
    first, second = (decks.decks_anew(np.random.default_rng(n), 20, 4, weigh=3) for n in (1, 2))
    real = set(decks.train_deck_ids(0))
    assert real < set(first)
    ours = [name for name in first if name not in real]
    assert len(ours) == 12
    assert len(set(ours)) == 4
    assert {name.partition("+")[0] for name in ours} <= set(decks.train_deck_ids(20))
    assert not set(ours) & set(second)


def test_a_typeface_of_many_weights_prints_no_more_decks_than_another() -> None:
    if not decks.TYPEFACES.is_dir():
        pytest.skip("the typefaces are not installed")
    families = decks.typeface_families()
    assert sorted(font for family in families for font in family) == sorted(decks.typefaces(False))
    number = {font: at for at, family in enumerate(families) for font in family}
    each = 30
    printed = Counter(
        number[decks.drawn_style("drawn", n).font] for n in range(each * len(families))
    )
    assert len(printed) == len(families)
    assert max(printed.values()) < 2.5 * each


def test_a_typeface_that_leaves_a_sign_empty_is_not_used(tmp_path: Path) -> None:
    if not decks.TYPEFACES.is_dir():
        pytest.skip("the typefaces are not installed")
    font = decks.typefaces(held_out=False)[0]
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder([".notdef", "A"])
    builder.setupCharacterMap({ord("A"): "A"})
    pen = TTGlyphPen(None)
    builder.setupGlyf({name: pen.glyph() for name in (".notdef", "A")})
    builder.setupHorizontalMetrics(dict.fromkeys((".notdef", "A"), (500, 0)))
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupPost()
    builder.save(tmp_path / "empty.ttf")
    assert usable(font, "A")
    assert not usable(tmp_path / "empty.ttf", "A")


def test_suits_drawn_anew_stay_apart() -> None:
    for seed in range(1, 150):
        _stay_apart(replace(STYLE, suits=seed))


def test_a_typefaces_suits_stay_apart_and_are_its_own() -> None:
    if not decks.TYPEFACES.is_dir():
        pytest.skip("the typefaces are not installed")
    fonts = decks.sign_typefaces(False)
    if not fonts:
        pytest.skip("no typeface with the suits' signs is installed")
    for seed, font in enumerate(fonts):
        _stay_apart(replace(STYLE, signs=font))
        _stay_apart(replace(STYLE, signs=font, suits=seed + 1))
    own, other = (
        np.asarray(suit_mask("S", 60, replace(STYLE, signs=font)).resize((60, 60)), np.int64)
        for font in (fonts[0], None)
    )
    assert np.abs(own - other).mean() > 2


def _stay_apart(style: Style) -> None:
    signs = [np.asarray(suit_mask(suit, 60, style)) for suit in "SHDC"]
    sized = [cv2.resize(sign, (60, 60)).astype(int) for sign in signs]
    pairs = [np.abs(one - other).mean() for one, other in combinations(sized, 2)]
    assert min(pairs) > 12, style


def test_ink_is_even_or_pales_across_a_sign() -> None:
    if not decks.TYPEFACES.is_dir():
        pytest.skip("the typefaces are not installed")
    style = replace(decks.drawn_style("drawn", 0), paper=(255, 255, 255))
    black = style.colours[0][0]
    spreads = []
    for seed in range(30):
        face = np.asarray(draw_face(Card("AS"), replace(style, shading=seed)).convert("L"))
        middle = face[
            len(face) * 2 // 5 : len(face) * 3 // 5, face.shape[1] // 4 : -face.shape[1] // 4
        ]
        inked = middle[middle < 200]
        assert inked.min() >= black
        spreads.append(np.percentile(inked, 95) - np.percentile(inked, 5))
    assert spreads[0] < 8
    assert min(spreads[1:]) > 15


def test_some_decks_drawn_anew_are_printed_in_paler_black_and_reds_stay() -> None:
    if not decks.TYPEFACES.is_dir():
        pytest.skip("the typefaces are not installed")
    style = decks.drawn_style("drawn", 0)
    printed = [decks.printed_anew(style, held_out=False, seed=seed) for seed in range(300)]
    paler = [one for one in printed if one.colours != style.colours]
    assert 0.2 < len(paler) / 300 < 0.4
    assert all(one.colours[1:3] == style.colours[1:3] for one in printed)
    assert all(one.colours[0] == one.colours[3] for one in paler)
    assert all(max(one.colours[0]) - min(one.colours[0]) < 60 for one in paler)
    assert 0.15 < sum(one.shading > 0 for one in printed) / 300 < 0.35
    set_in_type = {one.signs for one in printed} - {None}
    assert not set_in_type or set_in_type <= set(decks.sign_typefaces(False))
