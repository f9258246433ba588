"""Read every card in a picture: find indices and backs, rectify, classify, vote, infer corners."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.backs import backs_of, not_backs
from vision.belief import believed, widths
from vision.change import Rect
from vision.corners import (
    CARD_WIDTH_MM,
    MIDDLE_MM,
    anchor_of,
    anchor_points,
    card_corners,
    card_to_picture,
)
from vision.faces import Faces, read_faces, unread
from vision.finder import NOMINAL_PX, Found, find, join
from vision.indices import Indices
from vision.joining import in_place, joined_map, joined_vote, unseen_corners
from vision.letters import NO_EVIDENCE, DeckEvidence, SessionReader, by_language, signs_of
from vision.merging import explained, group, with_hands_settled, without_duplicates, without_print
from vision.mirror import mirrored
from vision.networks import Network, load_network
from vision.patches import NUDGES_MM, read_indices, read_once
from vision.polarity import dark_card_in, inverted, joined, may_be_dark
from vision.sightings import CardReader, Sightings

RESCALE_BEYOND: Final = 1.15
"""Ratio. Pictures whose cards differ more from the nominal width are rescaled."""
SIZED: Final = (0.5, 2.0)
"""Nominal widths. Without a given width, finds of other sizes do not count."""
LEAST_CARD: Final = 0.5
"""Largest probability of "not an index" of a reported index."""
SURE_HEAT: Final = 0.7
"""Probability. A find above it is reported whatever its reading."""
FAINT: Final = 0.25
"""Otherwise, the least product of the probabilities of the find and of its best card."""
SEARCH_SIDES_PX: Final = (160, 320, 640, 1280)
"""Pixels. Without a given width, the picture's longer side is scaled to each of these in turn."""
SAME_INDEX: Final = 0.07
"""Card widths. Two anchors this close are one index."""
SAME_INDEX_ASLANT: Final = 0.12
"""The same for unknown size and view angle: finds at several scales scatter."""
HEAT_WEIGHT: Final = 0.3
"""Weight of the find's probability beside that of its card."""
PLAIN_NONE: Final = 0.3  # chance of no card, at most; chosen
PLAIN_CARD: Final = 0.8
"""An expected index that was not found counts when "not an index" has at most the one probability
and one card at least the other: half hidden, it proves nothing."""
NONE: Final = np.zeros(2, np.float32)  # no offset, in pixels


@dataclass(frozen=True)
class Reader:
    """Finds and reads cards; the same picture always gives the same sightings.

    Attributes:
        face: reads whole faces; ``None`` before it is trained.
        confident_p: probability from which a card is certain; below it only its candidates count.
        letters: tells the letters of the world apart; ``None`` where every deck is English.
        evidence: what is known of the decks' language before a picture is seen.
    """

    finder: Network
    classifier: Network
    face: Network | None
    confident_p: float
    letters: Network | None = None
    evidence: DeckEvidence = NO_EVIDENCE

    @classmethod
    def load(cls) -> "Reader":
        """Load the shipped networks.

        Raises:
            TechnicianError: a network is missing or damaged.
        """
        classifier = load_network("reader")
        finder, face, letters = (load_network(name) for name in ("finder", "face", "letters"))
        return cls(finder, classifier, face, classifier.manifest["confident_p"], letters)

    def in_languages(self, languages: Sequence[str]) -> "Reader":
        """Return a reader of decks whose letters are of these languages."""
        return replace(self, evidence=DeckEvidence(frozenset(languages)))

    def for_session(self) -> CardReader:
        """Return a reader of pictures of one table, which learns their language."""
        return SessionReader(self)

    def read(
        self,
        image_bgr: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        """Read the cards in a picture ``(H, W, 3)`` uint8 BGR.

        Args:
            image_bgr: the picture.
            card_width_px: the width of a card, where the table's layout is known; else the reader
                searches for cards of any size.
            region: ``x, y, w, h``, the part to read; sightings are placed in the whole picture.
        """
        return self.read_after(
            self.evidence, image_bgr, card_width_px=card_width_px, region=region
        )[0]

    def read_after(
        self,
        evidence: DeckEvidence,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> tuple[Sightings, DeckEvidence]:
        """Read a picture after others; return its cards, and what is known of the language then."""
        rect = region or (0, 0, image.shape[1], image.shape[0])
        x, y, width, height = rect
        if min(image[y : y + height, x : x + width].shape[:2]) < 2:
            return nothing(), evidence
        seen, evidence = self._read_light(evidence, image, card_width_px, rect)
        if not (evidence.dark or self._dark_possible(image, seen, card_width_px, rect)):
            return seen, evidence
        negative, after = self._read_light(evidence, inverted(image), card_width_px, rect)
        both = joined(seen, negative, self.confident_p)
        return both, evidence if both is seen else replace(after, dark=True)

    def _read_light(
        self,
        evidence: DeckEvidence,
        image_bgr: NDArray[np.uint8],
        card_width_px: float | None,
        region: Rect,
    ) -> tuple[Sightings, DeckEvidence]:
        """Read a picture for dark signs on light cards."""
        x, y, width, height = region
        part = image_bgr[y : y + height, x : x + width]
        found = self.find(part, card_width_px).moved(1.0, np.array([x, y], np.float32))
        looks = self.read_found(image_bgr, found, card_width_px)
        faces = self.faces(image_bgr, looks)
        votes = self.votes(looks, faces)
        if self.letters is not None and not evidence.english and len(votes):
            calibration = self.classifier.manifest["calibration"]
            overlap, weight = calibration["corner_overlap"], calibration["face_rank_weight"]
            signs = signs_of(self.letters, image_bgr, looks.indices, looks.cards, overlap)
            evidence = evidence.with_cards(signs, votes, looks.found_p)
            votes = by_language(votes, signs, faces.ranks[:, :13] * weight, evidence.kinds)
        return self.sightings(looks, votes), evidence

    def _dark_possible(
        self,
        picture: NDArray[np.uint8],
        seen: Sightings,
        card_width_px: float | None,
        region: Rect,
    ) -> bool:
        """Return whether cards may be those of a dark deck: a find that is no certain card is dark.

        Where no card is certain, something dark of a card's size has light signs. A photograph
        usually shows cards: one without a certain card is enough.
        """
        doubtful = seen.card_p.max(1, initial=0.0) < self.confident_p
        if doubtful.all():
            if card_width_px is None:
                return True
            x, y, width, height = region
            if dark_card_in(picture[y : y + height, x : x + width], card_width_px):
                return True
        return any(may_be_dark(picture, seen.corners_px[at]) for at in np.flatnonzero(doubtful))

    def faces(self, picture: NDArray[np.uint8], looks: "Looks") -> Faces:
        """Read the whole face of every card."""
        if self.face is None:
            return unread(len(looks.cards))
        return read_faces(self.face, picture, looks.maps)

    def votes(self, looks: "Looks", faces: Faces) -> NDArray[np.float64]:
        """Combine the votes of each card's indices and face, ``(N, 53)``: the 52, and none of them.

        Faces are in ``cards``' order. Letters count as those of an English deck.
        """
        calibration = self.classifier.manifest["calibration"]
        weighted = faces.weighted(calibration["face_rank_weight"], calibration["face_suit_weight"])
        overlap, beside = calibration["corner_overlap"], calibration["beside_face"]
        votes = [
            joined_vote(looks.indices, members, overlap, face, beside)
            for members, face in zip(looks.cards, weighted, strict=True)
        ]
        return np.array(votes, np.float64).reshape(-1, 53)

    def sightings(self, looks: "Looks", votes: NDArray[np.float64]) -> Sightings:
        """Return the cards and backs of a picture, each piece of print counting once."""
        return _sightings(looks, votes, self.confident_p)

    def weigh(self, looks: "Looks", faces: Faces) -> Sightings:
        """Return the cards and backs of a picture by the votes of indices and faces alone."""
        return self.sightings(looks, self.votes(looks, faces))

    def find(self, part: NDArray[np.uint8], card_width_px: float | None) -> Found:
        """Find indices and backs in a picture without reading them."""
        if card_width_px is not None:
            return self._find_at(part, NOMINAL_PX / card_width_px)
        longer = max(part.shape[:2])
        scales = sorted({min(side / longer, 1.0) for side in SEARCH_SIDES_PX})
        return _best_sized([_well_sized(self._find_at(part, scale), scale) for scale in scales])

    def _find_at(self, part: NDArray[np.uint8], scale: float) -> Found:
        """Find in a picture scaled by ``scale``; places refer to the picture as given."""
        if 1 / RESCALE_BEYOND < scale < RESCALE_BEYOND:
            return find(self.finder, part)
        way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        size = [max(16, round(side * scale)) for side in part.shape[1::-1]]
        sized = cv2.resize(part, size, interpolation=way)
        return find(self.finder, np.asarray(sized, np.uint8)).moved(1 / scale, NONE)

    def read_found(
        self, picture: NDArray[np.uint8], found: Found, card_width_px: float | None
    ) -> "Looks":
        """Read the found indices, and group them into cards.

        ``card_width_px``: how wide a card is; ``None`` where size and view angle are unknown.
        """
        aslant = card_width_px is None
        maps = card_to_picture(found.anchors, found.ups, found.rights, found.right_hand)
        read = read_indices(self.classifier, picture, maps, found.right_hand)
        worth = found.heat * np.exp(read.card_log.max(1, initial=-np.inf))
        real = (read.none_log < np.log(LEAST_CARD)) & ((found.heat >= SURE_HEAT) | (worth >= FAINT))
        indices = Indices(
            read.maps[real],
            read.right_hand[real],
            found.heat[real],
            read.card_log[real],
            read.none_log[real],
        )
        indices = _sharpest_once(indices) if aslant else _each_once(indices)
        indices, cards = self._with_other_corners(
            picture, with_hands_settled(indices), card_width_px
        )
        cards = without_print(indices, cards)
        maps = np.array([joined_map(indices, members) for members in cards], np.float32)
        says = mirrored(self.classifier, picture, indices, cards)
        return Looks(indices, cards, maps.reshape(-1, 2, 3), found, aslant, says)

    def _with_other_corners(
        self, picture: NDArray[np.uint8], indices: Indices, card_width_px: float | None
    ) -> tuple[Indices, list[list[int]]]:
        """Look where each card's other indices must lie, and add those that are there."""
        cards = group(indices, card_width_px)
        maps, right_hand, cards_of = unseen_corners(indices, cards)
        read = read_once(self.classifier, picture, maps, right_hand, NUDGES_MM[:1])
        there = (read.none_log < np.log(PLAIN_NONE)) & in_place(maps, read.maps, right_hand)
        there &= read.card_log.max(1, initial=-np.inf) > np.log(PLAIN_CARD)
        for at, looked in enumerate(np.flatnonzero(there), start=len(indices.heat)):
            cards[cards_of[looked]].append(at)
        more = Indices(
            read.maps[there],
            right_hand[there],
            np.zeros(int(there.sum()), np.float32),
            read.card_log[there],
            read.none_log[there],
        )
        return indices.with_more(more), cards


@dataclass(frozen=True, slots=True)
class Looks:
    """The finds in a picture with each index's reading.

    Attributes:
        cards: the numbers of each card's indices, the surest first.
        maps: from each card's frame to the picture, ``(cards, 2, 3)``.
        aslant: whether size and view angle of the cards are unknown.
        mirrored: what each card says of a mirrored picture, ``(cards,)``, from 1 to -1.
    """

    indices: Indices
    cards: list[list[int]]
    maps: NDArray[np.float32]
    found: Found
    aslant: bool
    mirrored: NDArray[np.float32]

    @property
    def found_p(self) -> NDArray[np.float64]:
        """The probability that each card lies there, by the finder."""
        heats = [float(1 - np.prod(1 - self.indices.heat[members])) for members in self.cards]
        return np.array(heats, np.float64)


def _each_once(indices: Indices) -> Indices:
    """Of several finds of one index, keep the one that reads most like an index."""
    return _best_of_each(indices, SAME_INDEX, -indices.none_log)


def _sharpest_once(indices: Indices) -> Indices:
    """Of finds of one index at several scales, keep one with a good reading and a good find.

    The reading alone would often misjudge its size.
    """
    found = HEAT_WEIGHT * np.log(indices.heat)
    return _best_of_each(
        indices, SAME_INDEX_ASLANT, found + indices.card_log.max(1, initial=-np.inf)
    )


def _best_of_each(indices: Indices, same_index: float, worth: NDArray[np.floating]) -> Indices:
    """Of indices that lie on each other, keep the one of most worth."""
    points = anchor_points(indices.maps, indices.right_hand)
    return indices.only(_sparse(points, _map_widths(indices.maps) * same_index, worth))


def _map_widths(maps: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the widths in the picture of cards with these maps ``(N, 2, 3)``, ``(N,)``."""
    return np.asarray(np.sqrt(np.abs(np.linalg.det(maps[:, :, :2]))) * CARD_WIDTH_MM, np.float32)


def nothing() -> Sightings:
    """Return no sightings."""
    return Sightings(
        np.zeros((0, 4, 2), np.float32),
        np.zeros(0, bool),
        np.zeros(0, np.float32),
        np.zeros((0, 52), np.float32),
    )


def _sightings(looks: Looks, votes: NDArray[np.float64], confident_p: float) -> Sightings:
    cards = votes[:, :52]
    certain = cards.max(1, initial=0.0) >= confident_p
    once = _each_card_once(looks, cards.argmax(1).tolist(), certain)
    faces, found_p = card_corners(looks.maps[once]), looks.found_p[once]
    face_p = np.where(certain[once], 1.0, found_p)
    backs, back_p = backs_of(looks.found, faces, face_p)
    shown = not_backs(faces, face_p, backs, back_p)
    once, faces, found_p = once[shown], faces[shown], found_p[shown]
    if looks.aslant:
        certain_px = widths(faces[certain[once]])
        kept = certain[once] | believed(found_p, widths(faces), certain_px, face_up=True)
        once, faces, found_p = once[kept], faces[kept], found_p[kept]
        kept = believed(back_p, widths(backs), certain_px, face_up=False)
        backs, back_p = backs[kept], back_p[kept]
    held_at, index_px = _held(looks.indices, [looks.cards[at] for at in once])
    no_backs = np.zeros((len(backs), 52), np.float32)
    return Sightings(
        np.concatenate([faces, backs]),
        np.repeat([True, False], [len(faces), len(backs)]),
        np.concatenate([found_p.astype(np.float32), back_p]),
        np.concatenate([cards[once].astype(np.float32), no_backs]),
        held_at=np.concatenate([held_at, np.full((len(backs), 2), 0.5, np.float32)]),
        index_px=np.concatenate([index_px, np.full(len(backs), np.nan, np.float32)]),
        mirrored=np.concatenate([looks.mirrored[once], np.zeros(len(backs), np.float32)]),
    )


def _held(
    indices: Indices, cards: list[list[int]]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return where cards are held, as shares ``(N, 2)``, and the width that their indices give."""
    held = [_held_at(indices, members) for members in cards]
    sizes = _map_widths(indices.maps)
    wide = [float(np.exp(np.log(sizes[members]).mean())) for members in cards]
    return np.array(held, np.float32).reshape(-1, 2), np.array(wide, np.float32)


def _held_at(indices: Indices, members: list[int]) -> NDArray[np.float64]:
    if len(members) > 1:
        return np.array([0.5, 0.5])
    share = anchor_of(bool(indices.right_hand[members[0]])) / (2 * MIDDLE_MM)
    return np.asarray(share, np.float64)


def _each_card_once(
    looks: Looks, read_as: list[int], certain: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return the numbers of the cards that no other card explains."""
    cards = looks.cards
    once = explained(looks.indices, cards, looks.maps, read_as, certain.tolist())
    if looks.aslant:
        different = without_duplicates(looks.indices, cards, looks.maps, read_as)
        once = [at for at in once if at in different]
    return np.array(once, np.int64)


def _widths(ups: NDArray[np.float32], rights: NDArray[np.float32]) -> NDArray[np.float32]:
    across = np.abs(ups[:, 0] * rights[:, 1] - ups[:, 1] * rights[:, 0])
    return np.asarray(np.sqrt(across), np.float32)


def _well_sized(found: Found, scale: float) -> Found:
    """Keep finds of a size that suits the detector, at their scale."""
    low, high = (limit * NOMINAL_PX / scale for limit in SIZED)
    index, back = _widths(found.ups, found.rights), _widths(found.back_ups, found.back_rights)
    return _only(found, (index > low) & (index < high), (back > low) & (back < high))


def _best_sized(parts: list[Found]) -> Found:
    """Join finds of several scales; of backs found at one place, keep the most certain.

    All indices stay: reading shows at which scale one was found best.
    """
    found = join(parts)
    back_widths = _widths(found.back_ups, found.back_rights)
    backs = _sparse(found.back_middles, back_widths * 0.3, found.back_heat)
    return _only(found, np.ones(len(found.heat), bool), backs)


def _sparse(
    points: NDArray[np.float32], reach: NDArray[np.float32], heat: NDArray[np.floating]
) -> NDArray[np.bool_]:
    keep = np.zeros(len(points), bool)
    for at in np.argsort(-heat, kind="stable"):
        far = np.hypot(*(points[keep] - points[at]).T)
        keep[at] = not (far < np.maximum(reach[keep], reach[at])).any()
    return keep


def _only(found: Found, index: NDArray[np.bool_], back: NDArray[np.bool_]) -> Found:
    fields = Found.__slots__
    chosen = [back if field.startswith("back") else index for field in fields]
    return Found(*(getattr(found, f)[c] for f, c in zip(fields, chosen, strict=True)))
