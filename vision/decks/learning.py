"""Learn a deck from pictures that nobody has labelled: 52 photographs in any order, or a film.

What the reader is sure of names most cards. A doubtful one is told by what it looks like and
by which cards are still lacking. Whatever contradicts itself is told and nothing is guessed:
a deck learnt wrongly would be wrong with confidence ever after.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card
from vision.decks.appearance import Appearance, appearance
from vision.decks.matching import Templates, fit, right_hand_fits, whole_fits
from vision.decks.profile import DeckProfile, unlearnt
from vision.decks.reading import READING_SAYS, PictureReader, deck_says
from vision.sightings import Sightings

FOUND_P: Final = 0.5
"""What is found with less is not learnt from."""
COVERED: Final = 0.02
"""A card of which another one may cover more than this share is not learnt from."""
WITHIN: Final = (0.6, 0.7)
"""What lies with so much of it within a card, and is no larger than so much of it, is print on
the card: cards in one picture are about one size."""
UNLIKE: Final = 0.6
"""Two looks at one card fit at least so well; one that does not is of another card."""
OUTVOTED: Final = 3
"""So many looks that agree set one aside that does not."""
TOO_ALIKE: Final = 0.975
"""No two cards fit each other so well, by index and as a whole, but those below."""
TWINS_TOO_ALIKE: Final = 0.995
"""Likewise two cards of one rank and one colour."""
AGAIN_P: Final = 0.2
"""How likely a doubtful card is one already known, before it is looked at."""
FITS_ITSELF: Final = 10.0
"""What a deck says, at least, of a card that is there."""
BACK_P: Final = 0.7
SAME_BACK: Final = 0.75
MOST_BACKS: Final = 2
INDEX_THERE: Final = 0.6
_FINE_PX: Final = 127.0


@dataclass(frozen=True, slots=True)
class Look:
    """One uncovered card in one picture: its reading ``(52,)`` and how it looks."""

    picture: str
    card_p: NDArray[np.float64]
    shown: Appearance

    @property
    def card(self) -> int:
        """The likeliest card's number."""
        return int(self.card_p.argmax())


@dataclass(frozen=True, slots=True)
class Learnt:
    """What came of a lesson.

    Attributes:
        profile: every card that is beyond doubt; complete when it lacks none.
        contradictions: what was seen that cannot all be true, a line each; none in a profile
            that may be used.
        remained: cards told not by their own reading but by what else was seen.
    """

    profile: DeckProfile
    contradictions: tuple[str, ...]
    remained: tuple[Card, ...]

    @property
    def finished(self) -> bool:
        """Whether the deck may be used."""
        return not self.contradictions and not self.profile.lacking


class Lesson:
    """A deck being shown, picture by picture.

    Args:
        reader: reads cards of any deck.
        begun: what was learnt of the deck before.
    """

    def __init__(self, reader: PictureReader, begun: DeckProfile) -> None:
        self._reader, self._begun = reader, begun
        self._looks: list[Look] = [*_known_looks(begun)]
        self._backs: list[NDArray[np.uint8]] = list(begun.backs)

    @classmethod
    def new(cls, reader: PictureReader, name: str) -> "Lesson":
        """Begin to learn a deck of which nothing is known."""
        return cls(reader, unlearnt(name))

    def show(self, picture: str, image: NDArray[np.uint8]) -> int:
        """Take in one picture ``(H, W, 3)`` BGR; returns how many cards could be learnt from."""
        seen = self._reader.read(image, card_width_px=None)
        whole = np.flatnonzero(uncovered(seen, (image.shape[1], image.shape[0])))
        shown = appearance(image, seen.corners_px[whole])
        for at, which in enumerate(whole):
            if seen.face_up[which]:
                row = seen.card_p[which].astype(np.float64)
                self._looks.append(Look(picture, row, shown[at]))
            elif seen.found_p[which] >= BACK_P:
                self._see_back(shown.faces[at])
        return int(seen.face_up[whole].sum())

    def learnt(self) -> Learnt:
        """Say what is known by now."""
        sure = [look for look in self._looks if look.card_p.max() >= self._reader.confident_p]
        best, contradictions = _representatives(sure)
        told = set(best)
        self._tell_doubtful(best)
        contradictions += tuple(_alike(best))
        if len(self._backs) > MOST_BACKS:
            contradictions += (f"{len(self._backs)} different backs were seen",)
        remained = tuple(DECK[card] for card in sorted(best) if card not in told)
        return Learnt(self._profile(best), contradictions, remained)

    def _see_back(self, back: NDArray[np.uint8]) -> None:
        known = np.array(self._backs, np.uint8).reshape(-1, *back.shape)
        if not len(known) or whole_fits(back, known[:, 0]).max() < SAME_BACK:
            self._backs.append(back)

    def _tell_doubtful(self, best: dict[int, Look]) -> None:
        """Name doubtful cards by what is known, the surest first, until nothing follows."""
        waiting = [look for look in self._looks if look.card_p.max() < self._reader.confident_p]
        while waiting and len(best) < len(DECK):
            told = [(_told(look, best), look) for look in waiting]
            chances, look = max(told, key=lambda one: float(one[0].max()))
            card = int(chances.argmax())
            if chances[card] < self._reader.confident_p:
                return
            waiting = [other for other in waiting if other is not look]
            best.setdefault(card, look)

    def _profile(self, best: dict[int, Look]) -> DeckProfile:
        profile = unlearnt(self._begun.name)
        indices, faces = profile.cards.indices.copy(), profile.cards.faces.copy()
        pictures = list(profile.pictures)
        for card, look in best.items():
            indices[card], faces[card] = look.shown.indices[0], look.shown.faces[0]
            pictures[card] = look.picture
        return DeckProfile(
            name=self._begun.name,
            cards=Appearance(indices, faces),
            pictures=tuple(pictures),
            backs=np.array(self._backs, np.uint8).reshape(-1, *profile.backs.shape[1:]),
            four_indices=_four_indices(best.values()),
        )


def uncovered(seen: Sightings, size_px: tuple[int, int]) -> NDArray[np.bool_]:
    """Which sightings lie whole in the picture and clear of every other one, ``(N,)``."""
    quads = [np.asarray(quad, np.float32) for quad in seen.corners_px]
    found = seen.found_p >= FOUND_P
    return np.array(
        [
            bool(found[at])
            and _inside(quad, size_px)
            and not any(_covers(other, quad) for k, other in enumerate(quads) if k != at)
            for at, quad in enumerate(quads)
        ],
        np.bool_,
    )


def _inside(quad: NDArray[np.float32], size_px: tuple[int, int]) -> bool:
    slack = 0.03 * float(np.linalg.norm(quad[2] - quad[0]))
    return bool((quad > -slack).all() and (quad < np.array(size_px) + slack).all())


def _covers(other: NDArray[np.float32], quad: NDArray[np.float32]) -> bool:
    if _shared(quad, other) < COVERED:
        return False
    smaller = cv2.contourArea(other) < WITHIN[1] * cv2.contourArea(quad)
    return not (smaller and _shared(other, quad) > WITHIN[0])


def _shared(quad: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    area, _ = cv2.intersectConvexConvex(quad, other)
    return float(area) / max(float(cv2.contourArea(quad)), 1.0)


def _known_looks(profile: DeckProfile) -> Iterator[Look]:
    for card in np.flatnonzero(profile.known):
        row = np.zeros(len(DECK))
        row[card] = 1.0
        yield Look(profile.pictures[card], row, profile.cards[int(card)])


def _likeness(looks: Sequence[Look]) -> NDArray[np.float64]:
    """How well looks fit each other, ``(N, N)``: by an index or as a whole, the better."""
    shown = _together(looks)
    fits = fit(shown, Templates.of(shown, _FINE_PX))
    either = np.maximum(fits.indices[:, :2].max(1), fits.faces)
    return np.asarray(np.minimum(either, either.T), np.float64)


def _together(looks: Sequence[Look]) -> Appearance:
    return Appearance(
        np.concatenate([look.shown.indices for look in looks]),
        np.concatenate([look.shown.faces for look in looks]),
    )


def _representatives(sure: Sequence[Look]) -> tuple[dict[int, Look], tuple[str, ...]]:
    """Choose the look that is most like the others of its card; tell those that differ."""
    best: dict[int, Look] = {}
    contradictions: tuple[str, ...] = ()
    for card in sorted({look.card for look in sure}):
        looks = [look for look in sure if look.card == card]
        like = _likeness(looks)
        middle = int(like.mean(1).argmax())
        best[card] = looks[middle]
        odd = np.flatnonzero(like[middle] < UNLIKE)
        if len(odd) * (OUTVOTED + 1) > len(looks):
            where = f"{looks[middle].picture} and {looks[odd[0]].picture}"
            contradictions += (f"{DECK[card]} was read in {where}, which look different",)
    return best, contradictions


def _told(look: Look, best: dict[int, Look]) -> NDArray[np.float64]:
    """The chances of a doubtful card, ``(52,)``, given how the cards known by now look."""
    logs = READING_SAYS * np.log(np.clip(np.append(look.card_p, 1 - look.card_p.sum()), 1e-9, 1))
    if best:
        known = sorted(best)
        fits = fit(look.shown, Templates.of(_together([best[card] for card in known]), _FINE_PX))
        says = deck_says(replace(fits, indices=fits.indices[:, :2]))[0]
        logs[known] += np.minimum(0.0, says - FITS_ITSELF) + np.log(AGAIN_P)
    chances = np.exp(logs - logs.max())
    return np.asarray((chances / chances.sum())[:-1], np.float64)


def too_alike(profile: DeckProfile) -> tuple[str, ...]:
    """Name the pairs of a profile's cards that no reader could keep apart."""
    return tuple(_alike({look.card: look for look in _known_looks(profile)}))


def _alike(best: dict[int, Look]) -> Iterator[str]:
    if not best:
        return
    cards = sorted(best)
    shown = _together([best[card] for card in cards])
    fits = fit(shown, Templates.of(shown, _FINE_PX))
    both = np.minimum(fits.indices[:, :2].max(1), fits.faces)
    for a, b in zip(*np.nonzero(np.triu(np.minimum(both, both.T), 1) > TOO_ALIKE), strict=True):
        one, other = DECK[cards[a]], DECK[cards[b]]
        if not _twins(one, other) or both[a, b] > TWINS_TOO_ALIKE:
            where = f"{best[cards[a]].picture} and {best[cards[b]].picture}"
            yield f"{one} and {other} look the same, in {where}"


def _twins(one: Card, other: Card) -> bool:
    return one.rank == other.rank and (one.suit in "SC") == (other.suit in "SC")


def _four_indices(looks: Iterable[Look]) -> bool:
    """Whether the right-hand corners show the very index that the left-hand ones do."""
    fits = [
        float(right_hand_fits(look.shown, Templates.of(look.shown, _FINE_PX))[0, 0])
        for look in looks
    ]
    return bool(fits) and float(np.median(fits)) >= INDEX_THERE
