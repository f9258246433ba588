"""Dark decks are read in the negative of a picture, and what is certain stays."""

import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card
from vision.polarity import dark_card_in, inverted, joined, may_be_dark
from vision.sightings import Sightings

CONFIDENT_P = 0.99
OUTLINE = np.array([[-30, -42], [30, -42], [30, 42], [-30, 42]], np.float32)


def sightings(*cards: tuple[str | None, float, float]) -> Sightings:
    """Sightings: a card or ``None`` for a back, its probability, and how far right it lies."""
    card_p = np.zeros((len(cards), 52), np.float32)
    for at, (card, p, _) in enumerate(cards):
        if card is not None:
            card_p[at, DECK.index(Card(card))] = p
    quads = [OUTLINE + np.array([x, 100], np.float32) for _, _, x in cards]
    return Sightings(
        np.array(quads, np.float32).reshape(-1, 4, 2),
        np.array([card is not None for card, _, _ in cards], bool),
        np.full(len(cards), 0.8, np.float32),
        card_p,
    )


def names(seen: Sightings) -> list[str]:
    rows = zip(seen.face_up, seen.card_p, strict=True)
    return sorted(str(DECK[int(row.argmax())]) if up else "back" for up, row in rows)


def test_a_certain_card_of_the_negative_replaces_the_back_it_was_taken_for() -> None:
    seen, negative = sightings((None, 0, 100), (None, 0, 300)), sightings(("5H", 0.999, 102))
    assert names(joined(seen, negative, CONFIDENT_P)) == ["5H", "back"]


def test_a_card_that_is_certain_in_the_picture_itself_stays() -> None:
    seen, negative = sightings(("KC", 0.999, 100)), sightings(("5H", 0.999, 102))
    assert names(joined(seen, negative, CONFIDENT_P)) == ["KC"]


def test_a_doubt_of_the_negative_alone_changes_nothing() -> None:
    seen = sightings((None, 0, 100))
    assert joined(seen, sightings(("5H", 0.6, 100)), CONFIDENT_P) is seen
    assert joined(seen, sightings(), CONFIDENT_P) is seen


def test_a_doubt_beside_a_certain_dark_card_is_of_the_same_deck() -> None:
    seen = sightings((None, 0, 100), (None, 0, 300))
    negative = sightings(("5H", 0.999, 100), ("6H", 0.6, 300))
    assert names(joined(seen, negative, CONFIDENT_P)) == ["5H", "6H"]


def printed(ground: int, signs: int) -> NDArray[np.uint8]:
    """A felt with a card of 60 px whose print takes an eighth of it."""
    picture = np.full((200, 200, 3), (60, 130, 40), np.uint8)
    picture[58:142, 70:130] = ground
    picture[66:84, 76:90] = picture[116:134, 110:124] = picture[92:108, 90:110] = signs
    return picture


def test_light_signs_on_a_dark_ground_may_be_a_dark_deck() -> None:
    quad = OUTLINE + np.array([100, 100], np.float32)
    assert may_be_dark(printed(25, 220), quad)
    assert not may_be_dark(printed(220, 25), quad)
    assert not may_be_dark(printed(25, 25), quad), "a sleeve"


def test_a_dark_card_that_nothing_was_found_of_is_noticed() -> None:
    assert dark_card_in(printed(25, 220), 60.0)
    assert not dark_card_in(printed(220, 25), 60.0)
    assert not dark_card_in(printed(25, 25), 60.0), "a sleeve"
    assert not dark_card_in(printed(25, 220), 240.0), "far smaller than a card"


def test_the_negative_of_the_negative_is_the_picture() -> None:
    picture = printed(25, 220)
    assert (inverted(inverted(picture)) == picture).all()
