"""A card is compared where its indices are, however aslant it is seen."""

import numpy as np
import pytest

from models.cards import Card
from tests.vision.snapshots import aslant
from vision.decks.appearance import appearance
from vision.decks.matching import Templates, fit
from vision.scenes.decks import load_deck


@pytest.mark.parametrize("name", ["casino-standard", "anglo_poker"])
@pytest.mark.parametrize("card", ["8S", "QH", "AC"])
def test_a_card_seen_aslant_is_compared_where_its_indices_are(name: str, card: str) -> None:
    deck = load_deck(name)
    picture, corners = aslant(deck, Card(card))
    art = deck.faces[Card(card)]
    height, width = art.shape[:2]
    flat = np.array([[[0, 0], [width, 0], [width, height], [0, height]]], np.float32) - 0.5
    known = Templates.of(appearance(np.ascontiguousarray(art[..., :3]), flat), 200.0)
    fits = fit(appearance(picture, corners[None]), known)
    assert fits.indices[0, :2, 0].min() > 0.85
    assert fits.faces[0, 0] > 0.85
