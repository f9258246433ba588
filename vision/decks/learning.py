"""Learn a deck from unlabelled pictures: 52 photographs in any order, fans of cards, or a film.

A certain reading names most cards. The look of a doubtful card and the cards still missing name the
rest. Of a card that never lies open as a whole the index is learnt. Contradictions are reported,
never resolved by a guess: a wrongly learnt deck would give confident errors from then on.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card
from vision.decks.appearance import Appearance, appearance
from vision.decks.cover import open_cards
from vision.decks.matching import Templates, fit, right_hand_fits, whole_fits
from vision.decks.outline import outlined
from vision.decks.profile import DeckProfile, unlearnt
from vision.decks.reading import READING_WEIGHT, deck_evidence
from vision.sightings import CardReader, Sightings, for_session

FOUND_P: Final = 0.5
"""Probability. A find below it is not learnt from. Not measured."""
UNLIKE: Final = 0.72
"""Correlation, at least, of two looks at one card."""
# Correlations run from -1 to 1. Two snapshots of one card of a shipped deck reach 0.99 at least, of
# strangers 0.89 and of kin 0.92 at most, of cards that differ in the suit's shape alone 0.98.
# Correlation from which two cards without a common rank or suit are one.
STRANGERS_ALIKE: Final = 0.93
KIN_ALIKE: Final = 0.95  # the same of cards that share rank or suit
TWINS_ALIKE: Final = 0.995
"""Correlation. No two cards that differ in rank and suit, in one of them, or only in the suit's
shape look this much alike: above it one card was read as two."""
AGAIN_P: Final = 0.2
"""Prior probability that a doubtful card is one already known."""
FITS_ITSELF: Final = 10.0
"""Least evidence of a deck for a card that is present."""
BACK_P: Final = 0.7  # chance that a find is a back, to learn it
SAME_BACK: Final = 0.75  # correlation from which two backs are one
MOST_BACKS: Final = 2  # more different backs are reported as a contradiction
INDEX_THERE: Final = 0.6  # correlation of a card's two indices that shows they stand where supposed
_FINE_PX: Final = 127.0  # width of the pictures compared: two pixels a millimetre


@dataclass(frozen=True, slots=True)
class Look:
    """One card in one picture: its reading ``(52,)`` and its appearance.

    ``whole``: whether it lies uncovered; else an index of it alone is open, and its face is blank.
    ``learnt``: whether it is that of the profile learnt before.
    """

    picture: str
    card_p: NDArray[np.float64]
    shown: Appearance
    whole: bool = True
    learnt: bool = False

    @property
    def card(self) -> int:
        """Index of the most likely card."""
        return int(self.card_p.argmax())


@dataclass(frozen=True, slots=True)
class Learnt:
    """The result of a lesson.

    Attributes:
        profile: every certain card; complete when none is missing.
        contradictions: observations that cannot all be true, a line each; the profile leaves out
            the cards concerned.
        remained: cards named not by their own reading but by other evidence.
    """

    profile: DeckProfile
    contradictions: tuple[str, ...]
    remained: tuple[Card, ...]

    @property
    def finished(self) -> bool:
        """Whether the deck may be used."""
        return not self.contradictions and not self.profile.lacking


class Lesson:
    """A deck being learnt, picture by picture.

    Args:
        reader: reads cards of any deck.
        begun: the profile learnt before.
    """

    def __init__(self, reader: CardReader, begun: DeckProfile) -> None:
        self._reader, self._begun = for_session(reader), begun
        self._looks: list[Look] = [*_known_looks(begun)]
        self._backs: list[NDArray[np.uint8]] = list(begun.backs)

    @classmethod
    def new(cls, reader: CardReader, name: str) -> "Lesson":
        """Start to learn an unknown deck."""
        return cls(reader, unlearnt(name))

    def show(self, picture: str, image: NDArray[np.uint8]) -> int:
        """Process one picture ``(H, W, 3)`` BGR; return the number of usable cards."""
        seen = self._reader.read(image, card_width_px=None)
        size_px = (image.shape[1], image.shape[0])
        whole = uncovered(seen, size_px)
        sure = seen.card_p.max(1, initial=0.0) >= self._reader.confident_p
        usable = np.flatnonzero(whole | (sure & (seen.found_p >= FOUND_P)))
        found = seen.corners_px[usable]
        quads = [
            outlined(image, q) if one else q for q, one in zip(found, whole[usable], strict=True)
        ]
        shown = appearance(image, found, np.array(quads, np.float32).reshape(-1, 4, 2))
        for at, which in enumerate(usable):
            if seen.face_up[which]:
                row, is_whole = seen.card_p[which].astype(np.float64), bool(whole[which])
                own = shown[at] if is_whole else index_alone(shown[at])
                self._looks.append(Look(picture, row, own, is_whole))
            elif seen.found_p[which] >= BACK_P:
                self._see_back(shown.faces[at])
        return int(seen.face_up[usable].sum())

    def learnt(self) -> Learnt:
        """Return the present result."""
        sure = [look for look in self._looks if look.card_p.max() >= self._reader.confident_p]
        best, contradictions = _representatives(sure)
        certain = set(best)
        self._name_doubtful(best)
        alike = list(_alike(best))
        contradictions += tuple(what for _, _, what in alike)
        for card in {card for *pair, _ in alike for card in pair}:
            del best[card]
        if len(self._backs) > MOST_BACKS:
            contradictions += (f"{len(self._backs)} different backs were seen",)
        remained = tuple(DECK[card] for card in sorted(best) if card not in certain)
        return Learnt(self._profile(best), contradictions, remained)

    def _see_back(self, back: NDArray[np.uint8]) -> None:
        known = np.array(self._backs, np.uint8).reshape(-1, *back.shape)
        if not len(known) or whole_fits(back, known[:, 0]).max() < SAME_BACK:
            self._backs.append(back)

    def _name_doubtful(self, best: dict[int, Look]) -> None:
        """Name doubtful cards from the known ones, the most certain first, until none follows."""
        least_p = self._reader.confident_p
        waiting = [one for one in self._looks if one.whole and one.card_p.max() < least_p]
        while waiting and len(best) < len(DECK):
            chances = _inferred(waiting, best)
            at, card = (int(n) for n in np.unravel_index(chances.argmax(), chances.shape))
            if chances[at, card] < least_p:
                return
            look = waiting[at]
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
    """Return which sightings lie wholly in the picture and clear of all others, ``(N,)``.

    Finds below :data:`FOUND_P` are usually print on a card, and cover none.
    """
    whole = np.array([_inside(quad, size_px) for quad in seen.corners_px], np.bool_)
    found = seen.found_p >= FOUND_P
    whole[found] &= open_cards(seen.corners_px[found])
    return np.asarray(found & whole, np.bool_)


def index_alone(shown: Appearance) -> Appearance:
    """Return the appearance of a card by its surest index alone: a fan hides the rest."""
    indices = np.zeros_like(shown.indices)
    indices[:, 0] = shown.indices[:, 0]
    return Appearance(indices, np.zeros_like(shown.faces))


def _inside(quad: NDArray[np.float32], size_px: tuple[int, int]) -> bool:
    slack = 0.03 * float(np.linalg.norm(quad[2] - quad[0]))
    return bool((quad > -slack).all() and (quad < np.array(size_px) + slack).all())


def _known_looks(profile: DeckProfile) -> Iterator[Look]:
    for card in np.flatnonzero(profile.known):
        row = np.zeros(len(DECK))
        row[card] = 1.0
        whole = not profile.faceless[card]
        yield Look(profile.pictures[card], row, profile.cards[int(card)], whole, learnt=True)


def _likeness(looks: Sequence[Look]) -> NDArray[np.float64]:
    """Return the likeness of looks, ``(N, N)``: the mean of index and, of two whole cards, face."""
    shown, whole = _together(looks), np.array([look.whole for look in looks])
    fits = fit(shown, Templates.of(shown, _FINE_PX))
    index = fits.indices[:, :2].max(1)
    both = whole[:, None] & whole[None, :]
    mean = np.where(both, (index + fits.faces) / 2, index)
    return np.asarray(np.minimum(mean, mean.T), np.float64)


def _together(looks: Sequence[Look]) -> Appearance:
    return Appearance(
        np.concatenate([look.shown.indices for look in looks]),
        np.concatenate([look.shown.faces for look in looks]),
    )


def _representatives(sure: Sequence[Look]) -> tuple[dict[int, Look], tuple[str, ...]]:
    """Choose for each card the look that most others are like, of whole cards where there are any.

    Where as many looks are like one another and unlike it, nobody can say which show this card: it
    is left out, and reported where they show whole cards. A card that never lay open as a whole
    takes two indices that are alike.
    """
    best: dict[int, Look] = {}
    contradictions: tuple[str, ...] = ()
    for card in sorted({look.card for look in sure}):
        own = [look for look in sure if look.card == card]
        looks = [look for look in own if look.whole] or own
        like = _likeness(looks)
        agree = like >= UNLIKE
        middle = max(range(len(looks)), key=lambda at: (agree[at].sum(), like[at].mean()))
        odd = np.flatnonzero(~agree[middle])
        clear = agree[middle].sum() > agree[np.ix_(odd, odd)].sum(1).max(initial=0)
        if looks[middle].whole and not clear:
            where = f"{looks[middle].picture} and {looks[odd[0]].picture}"
            contradictions += (f"{DECK[card]} was read in {where}, which look different",)
        elif clear and (looks[middle].whole or looks[middle].learnt or agree[middle].sum() > 1):
            best[card] = looks[middle]
    return best, contradictions


def _inferred(looks: Sequence[Look], best: dict[int, Look]) -> NDArray[np.float64]:
    """Return the probabilities of doubtful cards, ``(N, 52)``, given the known cards' looks."""
    read = np.array([np.append(look.card_p, 1 - look.card_p.sum()) for look in looks])
    logs = READING_WEIGHT * np.log(np.clip(read, 1e-9, 1))
    if best:
        known = sorted(best)
        templates = Templates.of(_together([best[card] for card in known]), _FINE_PX)
        fits = fit(_together(looks), templates)
        deck = deck_evidence(replace(fits, indices=fits.indices[:, :2]))
        logs[:, known] += np.minimum(0.0, deck - FITS_ITSELF) + np.log(AGAIN_P)
    chances = np.exp(logs - logs.max(1, keepdims=True))
    return np.asarray((chances / chances.sum(1, keepdims=True))[:, :-1], np.float64)


def too_alike(profile: DeckProfile) -> tuple[str, ...]:
    """Name the pairs of a profile's cards that no reader could distinguish."""
    return tuple(what for _, _, what in _alike({o.card: o for o in _known_looks(profile)}))


def _alike(best: dict[int, Look]) -> Iterator[tuple[int, int, str]]:
    """Yield pairs of cards whose readings cannot both be right, with the words for it."""
    if not best:
        return
    cards = sorted(best)
    like = _likeness([best[card] for card in cards])
    whole = {card: best[card].whole for card in cards}
    bounds = np.array(
        [
            [_most_alike(DECK[a], DECK[b]) if whole[a] and whole[b] else TWINS_ALIKE for b in cards]
            for a in cards
        ]
    )
    np.fill_diagonal(like, -1.0)
    nearest = like.argmax(1)
    for a, b in zip(*np.nonzero(np.triu(like > bounds)), strict=True):
        if like[a, b] > max(
            _as_its_nearest(like, bounds, nearest, *pair) for pair in ((a, b), (b, a))
        ):
            one, other = DECK[cards[a]], DECK[cards[b]]
            where = f"{best[cards[a]].picture} and {best[cards[b]].picture}"
            yield cards[a], cards[b], f"{one} and {other} look the same, in {where}"


def _as_its_nearest(
    like: NDArray[np.float64],
    bounds: NDArray[np.float64],
    nearest: NDArray[np.int64],
    one: int,
    other: int,
) -> float:
    """Return how much alike two cards may look where the one was read for the card it is most like.

    A four of clubs read as a king looks like the four of spades too, as fours of clubs do.
    """
    true = int(nearest[one])
    mistaken = true != other and like[one, true] > bounds[one, true]
    return float(bounds[true, other] if mistaken else bounds[one, other])


def _most_alike(one: Card, other: Card) -> float:
    if one.rank == other.rank and (one.suit in "SC") == (other.suit in "SC"):
        return TWINS_ALIKE
    return KIN_ALIKE if one.rank == other.rank or one.suit == other.suit else STRANGERS_ALIKE


def _four_indices(looks: Iterable[Look]) -> bool:
    """Return whether the right-hand corners show the same index as the left-hand ones."""
    fits = [
        float(right_hand_fits(look.shown, Templates.of(look.shown, _FINE_PX))[0, 0])
        for look in looks
        if look.whole
    ]
    return bool(fits) and float(np.median(fits)) >= INDEX_THERE
