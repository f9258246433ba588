"""How likely a card that is read looks as it does: again, at first, or as no card at all."""

from math import log

from models.cards import DECK
from settlement.reckoning.in_play import InPlay
from settlement.reckoning.meaning import Look, Room
from settlement.reckoning.odds import (
    DOUBTED,
    FAINT,
    FAINT_P,
    NO_BACK,
    NO_BACK_FAINT,
    NO_FACE,
    NO_FACE_DOUBTED,
    ZONE_MM2,
)
from settlement.reckoning.shoe import alike
from settlement.reckoning.story import Story
from settlement.reconcile.looks import MISREAD_P, Reading, meant_by
from settlement.reconcile.sightings import AGREED_P


def looks_alike(card: InPlay, look: Look) -> float:
    """Return how likely a card read so before looks so now; all faces alike would be 0."""
    if look.face == "down" or look.reading is None:
        return 0.0
    if card.reading is None:
        return alike(card.shoe_card, look.reading)
    mass = sum(p * card.reading.each(face) for face, p in look.reading.listed)
    return log(max(mass * len(DECK), MISREAD_P))


def doubted_again(card: InPlay, look: Look) -> bool:
    """Return whether a look in doubt repeats the last one: it would, whatever lies there."""
    if not look.doubted or look.afresh or look.seen.change != "read" or card.face != "up":
        return False
    if look.reading is None or look.reading.summed or card.reading is None:
        return False
    return look.reading.likeliest is card.reading.likeliest


def glimpsed(card: InPlay, look: Look) -> bool:
    """Return whether a back was only read as a face: not surely, and not as the shoe had it.

    The print of a back names the shoe's card first once in 52 times.
    """
    if card.shoe_card is None or look.reading is None:
        return False
    if look.reading.likeliest in meant_by(card.shoe_card):
        return False
    return max(look.reading.listed[0][1], look.reading.p(card.shoe_card)) < AGREED_P


def of_nothing(look: Look) -> float:
    """Return how likely a sighting is of no card, beside looking so as a card; per mm²."""
    if look.face == "up":
        share = NO_FACE_DOUBTED / DOUBTED if look.doubted else (1 - NO_FACE_DOUBTED) / (1 - DOUBTED)
        return log(NO_FACE * share / ZONE_MM2)
    sure = look.seen.confidence
    if sure is None:
        return log(NO_BACK / ZONE_MM2)
    faint = NO_BACK_FAINT / FAINT if sure < FAINT_P else (1 - NO_BACK_FAINT) / (1 - FAINT)
    return log(NO_BACK * faint / ZONE_MM2)


def fresh(story: Story, look: Look, room: Room) -> float:
    """Return how likely a card that was in the shoe looks so; all faces alike would be 0."""
    if look.reading is None:
        return 0.0
    face = look.reading.likeliest
    return 0.0 if room(face) - story.out(face) > 0 else log(MISREAD_P)


def held(story: Story, look: Reading | None, room: Room) -> Reading | None:
    """Return a first look at a card by what the decks can still hold."""
    if look is None:
        return None
    gone = {
        face: MISREAD_P
        for face, p in look.listed
        if p > MISREAD_P and room(face) - story.out(face) <= 0
    }
    return look.weighed(gone) if gone and len(look.listed) > len(gone) else look
