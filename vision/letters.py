"""Which language a deck's letters are of, and what its cards then are.

An English deck has A, J, Q and K in its corners; others have B, D, V and more. One letter can name
two ranks, and a letter can look like another rank's sign. So a picture's cards are explained by one
kind of deck: each kind is as likely as the signs seen are possible in it. A card counts by every
kind of deck, as likely as that kind is. While the language is open, a card that hangs on it stays
in doubt.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from models.cards import RANKS, SUITS
from vision.change import Rect
from vision.indices import Indices
from vision.languages import LANGUAGES, LETTERED, NO_SIGN, NUMBERS, SIGNS
from vision.networks import Network
from vision.patches import NUDGES_MM, RANK_OF, SUIT_OF, cut_patches, log_softmax, mean_answers
from vision.sightings import CardReader, Sightings

KINDS: Final = tuple(
    (language, letters) for language, alphabet in LANGUAGES.items() for letters in alphabet.decks
)
"""Every kind of deck: its language and its signs of ace, jack, queen and king. The first is the
usual English one."""
ENGLISH_P: Final = 0.5
"""Chance of the usual English deck before a card is seen. With 0.5, 0.95 and 0.99 the same of 371
cards on photographs held out for decisions are called, with 0.5 and 0.95 the same of plain decks at
a table; the lower it is the fewer foreign letters tell a deck."""
LEAST_RATIO: Final = 1e-4
"""Likelihood. No single sign makes a kind of deck less likely than this, beside the likeliest: a
sign may be misread, and so may every further look at it. Of 3,968 corners of decks in typefaces
that the network never saw, none made its own kind a thousandth as likely as another; a tenth of
that is chosen"""
NONE_SHARE: Final = 0.5
"""Share of the index's evidence that a find is a card, beside the finder's: they look at the same
print. Chosen."""
_COURTS: Final = tuple(RANKS.index(rank) for rank in "JQK")
_BLACK: Final = tuple(SUITS.index(suit) for suit in "SC")
SETTLED_P: Final = 0.9999  # chance of a kind of deck from which on it needs no further look; chosen

Chances = NDArray[np.float64]
"""Probabilities, a row for each card."""


def _named() -> NDArray[np.int64]:
    """Return the rank that each sign names in each kind of deck, -1 for none, ``(K, 25)``."""
    ranks = np.full((len(KINDS), len(SIGNS)), -1)
    for at, (_, letters) in enumerate(KINDS):
        for rank, sign in (
            *zip(NUMBERS, NUMBERS, strict=True),
            *zip(LETTERED, letters, strict=True),
        ):
            ranks[at, SIGNS.index(sign)] = RANKS.index(rank)
    return ranks


NAMED: Final = _named()
POSSIBLE: Final = (NAMED >= 0).astype(np.float64).T
"""Whether a sign is one of a kind of deck, ``(25, K)``."""
_PRIOR: Final = np.array([ENGLISH_P, *[(1 - ENGLISH_P) / (len(KINDS) - 1)] * (len(KINDS) - 1)])


@dataclass(frozen=True, slots=True)
class DeckEvidence:
    """What the cards seen so far say of the deck: its language, and whether it is dark.

    Attributes:
        known: the languages that the decks in use may have; all where it is empty.
        signs: for each sign seen, by its number and whether it is black, how surely it was read,
            and how likely it is in each kind of deck. Looks at one sign share its errors: the
            surest counts.
        dark: whether one of its cards was certain in the negative of a picture.
    """

    known: frozenset[str] = frozenset()
    signs: Mapping[tuple[int, bool], tuple[float, NDArray[np.float64]]] = field(
        default_factory=dict
    )
    dark: bool = False

    def with_cards(
        self, signs: Chances, votes: Chances, found_p: NDArray[np.float64]
    ) -> "DeckEvidence":
        """Add what cards show.

        Args:
            signs: ``(N, 25)``, their signs.
            votes: ``(N, 53)``, their reading as cards of the usual English deck, and as none.
            found_p: ``(N,)``, the probability that a card lies there.
        """
        seen = dict(self.signs)
        black = votes[:, :52][:, np.isin(SUIT_OF, _BLACK)].sum(1) > votes[:, :52].sum(1) / 2
        real = _is_card(found_p, _none(votes, signs))
        for row, is_black, is_card in zip(signs, black, real, strict=True):
            which, sure = (int(row.argmax()), bool(is_black)), float(row.max() * is_card)
            if which[0] != NO_SIGN and sure > (seen[which][0] if which in seen else 0.0):
                seen[which] = sure, _likely(row, float(is_card))
        return replace(self, signs=seen)

    @property
    def kinds(self) -> NDArray[np.float64]:
        """The probability of each kind of deck, ``(K,)``."""
        logs = np.log(self._prior)
        for _, likely in self.signs.values():
            logs = logs + np.log(likely)
        chances = np.exp(logs - logs.max())
        return np.asarray(chances / chances.sum(), np.float64)

    @property
    def english(self) -> bool:
        """Whether the deck is the usual English one beyond doubt."""
        return bool(self.kinds[0] >= SETTLED_P)

    @property
    def _prior(self) -> NDArray[np.float64]:
        allowed = [not self.known or language in self.known for language, _ in KINDS]
        prior = np.where(allowed, _PRIOR, 1e-12)
        return np.asarray(prior / prior.sum(), np.float64)


NO_EVIDENCE: Final = DeckEvidence()


def _is_card(found_p: NDArray[np.float64], none_p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the probability that each find is a card, by its finder and by its reading."""
    not_found = (1 - found_p) / np.maximum(found_p, 1e-6)
    return np.asarray((1 - none_p) / (1 + not_found * none_p**NONE_SHARE), np.float64)


def _none(votes: Chances, signs: Chances) -> NDArray[np.float64]:
    """Return the probability that no card's corner stands there, ``(N,)``.

    The index's reading knows no foreign letters and takes some for none; the network of signs knows
    them. Both look at the same print: of the two their geometric mean counts, where a sign is seen.
    """
    none, no_sign = votes[:, 52], signs[:, NO_SIGN]
    return np.asarray(np.where(no_sign < none, np.sqrt(none * no_sign), none), np.float64)


def _likely(signs: NDArray[np.float64], is_card: float) -> NDArray[np.float64]:
    """Return how likely a corner is in each kind of deck, beside the likeliest, ``(K,)``."""
    possible = (signs @ POSSIBLE) / max(1.0 - float(signs[NO_SIGN]), 1e-9)
    likely = is_card * possible + (1 - is_card) * possible.mean()
    return np.asarray(np.clip(likely / likely.max(), LEAST_RATIO, 1.0), np.float64)


def signs_of(
    network: Network,
    picture: NDArray[np.uint8],
    indices: Indices,
    cards: Sequence[Sequence[int]],
    overlap: float,
) -> Chances:
    """Read the sign of every card, ``(N, 25)``; ``overlap`` as in ``vision.joining``."""
    patches = cut_patches(picture, indices.maps, indices.right_hand, NUDGES_MM)
    answers = mean_answers(network, patches, len(SIGNS))
    logs = log_softmax(answers / network.manifest["calibration"]["temperature"])
    joint = [logs[list(members)].sum(0) / len(members) ** overlap for members in cards]
    return np.exp(log_softmax(np.array(joint).reshape(-1, len(SIGNS))))


def by_language(
    votes: Chances,
    signs: Chances,
    faces: NDArray[np.float64],
    kinds: NDArray[np.float64],
) -> Chances:
    """Return what cards are, the language not being known.

    Args:
        votes: ``(N, 53)``, each card read as one of the usual English deck, and none of them.
        signs: ``(N, 25)``, the signs in their corners.
        faces: ``(N, 13)``, what the whole face says of each rank, in weighted logarithms.
        kinds: ``(K,)``, the probability of each kind of deck.
    """
    every = kinds[0] * votes
    suits, alike = _suits(votes[:, :52]), _courts_alike(faces)
    none = _none(votes, signs)[:, None]
    for at in np.flatnonzero(kinds[1:] > 0) + 1:
        ranks = _ranks(votes[:, :52], signs, alike, NAMED[at])
        shown = ranks[:, RANK_OF] * suits[:, SUIT_OF] * (1 - none)
        every = every + kinds[at] * np.hstack([shown, none])
    return np.asarray(every, np.float64)


def _suits(votes: Chances) -> Chances:
    """Return the probability of each suit, ``(N, 4)``."""
    sums = np.stack([votes[:, suit == SUIT_OF].sum(1) for suit in range(4)], axis=1)
    return np.asarray(sums / np.maximum(sums.sum(1, keepdims=True), 1e-12), np.float64)


def _courts_alike(faces: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the evidence of whole faces where each court counts as any.

    Which court a face shows hangs on its letters, too: the network reads Kn as a king.
    """
    alike = faces.copy()
    of_any = np.logaddexp.reduce(faces[:, _COURTS], axis=1, keepdims=True)
    alike[:, _COURTS] = of_any
    return alike


def _ranks(
    votes: Chances, signs: Chances, faces: NDArray[np.float64], named: NDArray[np.int64]
) -> Chances:
    """Return the probability of each rank in a kind of deck, ``(N, 13)``.

    Its letters are read by their signs and the whole face; which number a number is, as in every
    deck. A sign that it does not have was misread: the votes tell what stands there.
    """
    voted = np.stack([votes[:, rank == RANK_OF].sum(1) for rank in range(len(RANKS))], axis=1)
    read = LEAST_RATIO * voted + np.finfo(float).tiny
    for sign in np.flatnonzero(named >= 0):
        read[:, named[sign]] += signs[:, sign]
    ranks = np.exp(log_softmax(np.log(read) + faces))
    numbers = [RANKS.index(number) for number in NUMBERS]
    share = voted[:, numbers] / np.maximum(voted[:, numbers].sum(1, keepdims=True), 1e-12)
    ranks[:, numbers] = share * ranks[:, numbers].sum(1, keepdims=True)
    return ranks


class SessionReader:
    """A reader that learns from picture to picture which language the decks in use have.

    Args:
        reader: reads single pictures.
    """

    def __init__(self, reader: "LanguageReader") -> None:
        self._reader, self._evidence = reader, reader.evidence

    @property
    def confident_p(self) -> float:
        """Probability from which a card is certain."""
        return self._reader.confident_p

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        """Read a picture with what the earlier ones showed of the decks' language."""
        seen, self._evidence = self._reader.read_after(
            self._evidence, image, card_width_px=card_width_px, region=region
        )
        return seen


class LanguageReader(CardReader, Protocol):
    """A reader of cards that learns which language a deck has."""

    @property
    def evidence(self) -> DeckEvidence:
        """What is known before the first picture."""

    def read_after(
        self,
        evidence: DeckEvidence,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> tuple[Sightings, DeckEvidence]:
        """Read a picture after others; return its cards, and what is known of the language then."""
