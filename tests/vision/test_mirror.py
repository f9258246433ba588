"""A mirrored picture is noticed by its cards, and none of them is stated."""

import numpy as np
import pytest
from numpy.typing import NDArray

from models.cards import DECK, Card
from tests.vision.test_reader import felt, read
from vision.mirror import Mirror
from vision.sightings import Sightings

CARDS = ("3H", "5C", "7D", "JS", "2S", "9D")


def table(deck: str) -> NDArray[np.uint8]:
    """Six cards, each turned a little."""
    places = [(90 + 140 * (at % 3), 90 + 170 * (at // 3), 7.0 * at) for at in range(len(CARDS))]
    return felt(*((name, *place) for name, place in zip(CARDS, places, strict=True)), deck=deck)


def certain(seen: Sightings) -> list[str]:
    found = np.flatnonzero(seen.card_p.max(1, initial=0.0) >= 0.98)
    return sorted(str(DECK[int(seen.card_p[at].argmax())]) for at in found)


@pytest.mark.parametrize("deck", ["casino-jumbo", "casino-standard", "anglo_poker"])
def test_the_cards_of_a_mirrored_picture_are_not_stated(deck: str) -> None:
    mirror = Mirror()
    seen = mirror.see(read(np.ascontiguousarray(table(deck)[:, ::-1])))
    assert mirror.detail == "the picture is mirrored: its cards are not read"
    assert certain(seen) == []


@pytest.mark.parametrize("deck", ["casino-jumbo", "casino-standard", "anglo_poker"])
def test_the_cards_of_a_sound_picture_all_are(deck: str) -> None:
    mirror, seen = Mirror(), read(table(deck))
    assert mirror.see(seen) is seen
    assert mirror.detail is None
    assert certain(seen) == sorted(CARDS)


def one_card(name: str, says: float | None) -> Sightings:
    card_p = np.zeros((1, 52), np.float32)
    card_p[0, DECK.index(Card(name))] = 1.0
    return Sightings(
        np.zeros((1, 4, 2), np.float32),
        np.ones(1, np.bool_),
        np.ones(1, np.float32),
        card_p,
        mirrored=None if says is None else np.array([says], np.float32),
    )


def test_the_first_cards_are_held_back_until_one_speaks_against_a_mirror() -> None:
    mirror = Mirror()
    assert len(mirror.see(one_card("8H", 0.5))) == 0
    assert len(mirror.see(one_card("3S", -1.0))) == 1
    assert len(mirror.see(one_card("8H", 0.5))) == 1


def test_one_card_seen_again_and_again_is_no_mirror() -> None:
    mirror = Mirror()
    for _ in range(20):
        mirror.see(one_card("8H", 1.0))
    assert mirror.detail is None


def test_a_mirror_that_was_switched_off_is_told() -> None:
    mirror = Mirror()
    told = []
    for says in (1.0, -1.0):
        for name in CARDS:
            mirror.see(one_card(name, says))
        told.append(mirror.detail is not None)
    assert told == [True, False]
    assert len(mirror.see(one_card("8H", 0.0))) == 1


def test_a_reader_that_does_not_tell_is_believed() -> None:
    mirror, seen = Mirror(), one_card("8H", None)
    assert mirror.see(seen) is seen
