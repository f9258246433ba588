"""Which sightings of one look are cards that lie in play, and why sure ones are held back."""

from dataclasses import dataclass, field
from math import nan
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.cards import DECK
from models.events import Face
from models.layout import TableLayout
from vision.deck_index import MIDDLE, USUAL_AT, DeckIndex, shape_of
from vision.decks.cover import open_cards
from vision.decks.outline import on_own_edges
from vision.felt import Felt, Pose
from vision.ground import in_play
from vision.held_back import Held, Why
from vision.sightings import Sightings
from vision.tracker import Seen
from vision.view import FeltView

# Chosen, not measured, unless a line says otherwise.
_FOUND_P: Final = 0.25  # a find below this chance is no card, unless it is read surely
_MISFIT_MM: Final = 14.0  # corners that fit a card's size no better are none
_MISFIT_CERTAIN_MM: Final = 20.0
"""Of a certain face: an index beside a finger misjudges its card's size, and still tells its place.
Three such faces at rest on six films, with misfits of 12.9 to 17.8 mm, lay within 3 mm."""
_EDGES_MM: Final = 4.0  # edges that fit a card's size no better teach nothing


@dataclass(slots=True)
class Screened:
    """What one look shows: cards that lie in play, and sure faces that are held back."""

    seen: list[Seen] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)


class Screening:
    """Screens one camera's sightings.

    Args:
        felt: where the felt lies in the picture.
        layout: the felt, for the places where cards are not in play.
        confident_p: probability from which a reading is certain.
        index: the index of the decks in use; it learns from what is screened.
    """

    def __init__(
        self, felt: Felt, layout: TableLayout, confident_p: float, index: DeckIndex
    ) -> None:
        self._felt, self._layout = felt, layout
        self._confident_p, self._index = confident_p, index

    def take(
        self, image: NDArray[np.uint8], sightings: Sightings, view: FeltView, into: Screened
    ) -> None:
        """Add the sightings of one read part of a picture."""
        self._learn(image, sightings)
        for at in range(len(sightings)):
            certain = self._is_certain(sightings, at)
            pose, misfit_mm = self._pose(sightings, at)
            if not in_play((pose.x_mm, pose.y_mm), self._layout):
                continue
            if certain and misfit_mm > _MISFIT_CERTAIN_MM:
                pose, misfit_mm = self._by_edges(image, pose) or (pose, misfit_mm)
            if not certain and (sightings.found_p[at] < _FOUND_P or misfit_mm > _MISFIT_MM):
                continue
            face: Face = "up" if sightings.face_up[at] else "down"
            why = _held_back(pose, misfit_mm, face, view)
            if why is None:
                into.seen.append(_seen(sightings, at, pose, face, view))
            elif certain:
                card = DECK[int(sightings.card_p[at].argmax())]
                into.held.append(Held(card, pose, why))

    def _is_certain(self, sightings: Sightings, at: int) -> bool:
        sure = sightings.card_p[at].max() >= self._confident_p
        return bool(sightings.face_up[at] and sure)

    def _pose(self, sightings: Sightings, at: int) -> tuple[Pose, float]:
        corners_mm = self._felt.to_mm(sightings.corners_px[at].astype(np.float64))
        return self._index.pose(corners_mm, _held_at(sightings, at))

    def _by_edges(self, image: NDArray[np.uint8], pose: Pose) -> tuple[Pose, float] | None:
        """Return where a card lies by its edges, if there are a card's at about a pose."""
        quad = self._felt.to_px(pose.corners_mm).astype(np.float32)
        width_px = self._felt.card_width_px(pose.x_mm, pose.y_mm)
        (edged,), (own,) = on_own_edges(image, quad[None], width_px)
        return self._felt.pose(edged.astype(np.float64)) if own else None

    def _learn(self, image: NDArray[np.uint8], sightings: Sightings) -> None:
        """Learn the deck's index by cards that lie alone and show both ends and all edges."""
        if not (self._index.learns and sightings.index_px is not None):
            return
        alone = open_cards(sightings.corners_px)
        for at in map(int, np.flatnonzero(alone & sightings.face_up)):
            if self._is_certain(sightings, at) and _held_at(sightings, at) == MIDDLE:
                corners_mm = self._felt.to_mm(sightings.corners_px[at].astype(np.float64))
                pose, misfit_mm = self._index.pose(corners_mm, MIDDLE)
                edged = self._by_edges(image, pose) if misfit_mm <= _MISFIT_MM else None
                if edged is not None and edged[1] <= _EDGES_MM:
                    width_px = self._felt.card_width_px(pose.x_mm, pose.y_mm)
                    size = float(sightings.index_px[at]) / width_px
                    self._index.learn(shape_of(corners_mm, edged[0].corners_mm, size))


def _held_at(sightings: Sightings, at: int) -> tuple[float, float]:
    if sightings.held_at is not None:
        return float(sightings.held_at[at, 0]), float(sightings.held_at[at, 1])
    return USUAL_AT if sightings.face_up[at] else MIDDLE


def _held_back(pose: Pose, misfit_mm: float, face: Face, view: FeltView) -> Why | None:
    """Return why a sighting is no card that lies in play; ``None`` where it is one."""
    if misfit_mm > _MISFIT_CERTAIN_MM:
        return "misfit"
    if not view.at_rest(pose):
        return "moving"
    if not view.supports(pose, face):
        return "cut"
    return "felt" if view.free(pose, ()) else None


def _seen(sightings: Sightings, at: int, pose: Pose, face: Face, view: FeltView) -> Seen:
    return Seen(
        pose=pose,
        face=face,
        found_p=float(sightings.found_p[at]),
        card_p=sightings.card_p[at].astype(np.float64),
        at_ns=view.rested_ns(pose),
        deck_fit=nan if sightings.deck_fit is None else float(sightings.deck_fit[at]),
    )
