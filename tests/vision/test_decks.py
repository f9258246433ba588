"""The shipped decks are whole, cut to the card's outline, and refused by a wrong name plainly."""

import pytest

from models.cards import DECK
from models.errors import OperatorError
from vision.scenes.decks import FACE_PX, deck_ids, load_deck


@pytest.mark.parametrize("name", deck_ids())
def test_a_shipped_deck_has_every_face_and_a_back_at_four_pixels_a_millimetre(name: str) -> None:
    deck = load_deck(name)
    assert set(deck.faces) == set(DECK)
    assert deck.use == "test"
    for picture in [*deck.faces.values(), deck.back]:
        assert picture.shape == (FACE_PX[1], FACE_PX[0], 4)


@pytest.mark.parametrize("name", deck_ids())
def test_faces_differ_and_corners_are_cut_away(name: str) -> None:
    deck = load_deck(name)
    assert len({face.tobytes() for face in deck.faces.values()}) == 52
    for picture in [*deck.faces.values(), deck.back]:
        assert picture[0, 0, 3] == 0
        assert picture[178, 127, 3] == 255


def test_an_unknown_deck_is_refused_with_the_names_of_the_known_ones() -> None:
    with pytest.raises(OperatorError, match="casino-jumbo"):
        load_deck("tarot")
