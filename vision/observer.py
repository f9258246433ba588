"""Convert the tracker's changes to events, only where they are new.

Each look at a face is reported by itself. What several looks say together is for whoever reads the
events: they know of every camera. A certain look that names what the one before it named is
reported once, so that the reader learns whether an error would last. Further ones, and doubtful
ones that repeat, say nothing new.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card
from models.events import CardGone, CardSighted, Face, ForeignCardSighted
from models.layout import DEALER_POINT
from vision.change import Rect
from vision.decks.reading import FOREIGN_BACK_FIT, FOREIGN_FIT
from vision.evidence import candidates
from vision.felt import Felt, Pose
from vision.tracker import Change, Track

# Chosen, not measured, unless a line says otherwise.
_MOST: Final = 4  # candidates of a doubtful card in an event
_LEAST_P: Final = 0.01  # a less likely candidate is left out
_MARGIN_MM: Final = 8.0  # felt around a card in its evidence region
MOST_LOOKS: Final = 12
"""Looks reported of a card while it lies as it lies: a card that cannot be read is looked at again
and again. The first look that names a face surely is reported after them, too."""
SURER: Final = 0.5
"""A look that is still in doubt is reported where it leaves so much of the doubt at most."""
_PLACE_PX: Final = 1.5
"""Standard error of a place on each axis, in pixels."""
FOREIGN_FOR_NS: Final = 300_000_000
"""A card that fitted in no look for so long, two at least, is called foreign: the hand that lays it
covers a part of it before. At once one of 205 backs of the deck in use was, after 0.1 s none."""


def misfit(track: Track) -> bool:
    """Return whether a card fitted no deck in use in any look so far; without a look, false."""
    return track.looks > 0 and track.deck_fit < (
        FOREIGN_FIT if track.face == "up" else FOREIGN_BACK_FIT
    )


def foreign(track: Track) -> bool:
    """Return whether a card has fitted no deck in use for long enough."""
    first_ns, last_ns = track.fitted_ns
    return misfit(track) and last_ns - first_ns >= FOREIGN_FOR_NS


@dataclass(slots=True)
class _Reported:
    """What was reported of a card since it came to lie as it lies."""

    best: Card | None
    doubt: float
    """What the surest look at this face left to others."""
    sure: bool
    repeated: bool = False
    looks: int = 1
    surely: set[Card | None] = field(default_factory=set)
    """The faces that a look named surely."""

    def __post_init__(self) -> None:
        self.surely |= {self.best} if self.sure else set()

    def is_news(self, best: Card | None, doubt: float, *, sure: bool) -> bool:
        """Take in a look; return whether it is reported."""
        same, surer = best is self.best, sure and not self.sure
        surer |= not sure and doubt <= SURER * self.doubt
        repeats = same and sure and not self.repeated
        named = sure and best not in self.surely
        if (self.looks >= MOST_LOOKS and not named) or (same and not surer and not repeats):
            return False
        self.surely |= {best} if sure else set()
        self.repeated = same and not surer
        self.best, self.doubt, self.sure, self.looks = best, doubt, sure, self.looks + 1
        return True


class Observer:
    """Writes the observations of one camera.

    Args:
        source: ``camera:<name>``.
        confident_p: probability from which a reading is certain.
        felt: where the felt lies in the picture, for the crops.
        picture: width and height of the picture in pixels.
    """

    def __init__(
        self, source: str, confident_p: float, felt: Felt, picture: tuple[int, int]
    ) -> None:
        self._source, self._confident_p = source, confident_p
        self._felt, self._picture = felt, picture
        self._reported: dict[int, _Reported] = {}
        self._foreign: set[tuple[int, Face]] = set()

    def report(self, changes: Iterable[Change], frame: int) -> tuple[CardSighted | CardGone, ...]:
        """Convert changes to events; a look that was repeated already gives none."""
        return tuple(self._event(change, frame) for change in changes if self._news(change))

    def report_foreign(
        self, tracks: Iterable[Track], at_ns: int, frame: int
    ) -> tuple[ForeignCardSighted, ...]:
        """Return events, once each, for cards that fit no deck in use in any look."""
        strange = [
            track
            for track in tracks
            if foreign(track) and (track.number, track.face) not in self._foreign
        ]
        self._foreign |= {(track.number, track.face) for track in strange}
        return tuple(self._foreign_event(track, at_ns, frame) for track in strange)

    def _foreign_event(self, track: Track, at_ns: int, frame: int) -> ForeignCardSighted:
        return ForeignCardSighted(
            source=self._source,
            at=at_ns,
            confidence=round(min(track.found_p, 1.0), 4),
            track=track.number,
            face=track.face,
            card=self._certain(track.evidence.card_p) if track.face == "up" else None,
            deck_fit=round(min(max(track.deck_fit, 0.0), 1.0), 3),
            x_mm=round(track.pose.x_mm, 1),
            y_mm=round(track.pose.y_mm, 1),
            frame=frame,
            crop=self._crop(track),
        )

    def _news(self, change: Change) -> bool:
        track = change.track
        if change.kind == "gone":
            return self._reported.pop(track.number, None) is not None
        best, p = self._best(track)
        sure = p >= self._confident_p
        reported = self._reported.get(track.number)
        if change.kind == "read" and reported is not None:
            return track.face == "up" and reported.is_news(best, 1.0 - p, sure=sure)
        self._reported[track.number] = _Reported(best, 1.0 - p, sure)
        return True

    def _best(self, track: Track) -> tuple[Card | None, float]:
        """Return the face that the last look names first, and its probability."""
        card_p = _face_of(track)
        if card_p is None:
            return None, 0.0
        best = int(card_p.argmax())
        return DECK[best], float(card_p[best])

    def _certain(self, card_p: NDArray[np.float64]) -> Card | None:
        best = int(card_p.argmax())
        return DECK[best] if card_p[best] >= self._confident_p else None

    def _event(self, change: Change, frame: int) -> CardSighted | CardGone:
        track = change.track
        if change.kind == "gone":
            return CardGone(source=self._source, at=change.at_ns, track=track.number, frame=frame)
        card_p = None if change.kind == "squared" else _face_of(track)
        x_mm, y_mm = track.pose.x_mm, track.pose.y_mm
        return CardSighted(
            source=self._source,
            at=change.at_ns,
            confidence=round(min(_sure_p(track), 1.0), 4),
            track=track.number,
            change=change.kind,
            face=track.face,
            card=None if card_p is None else self._certain(card_p),
            candidates={} if card_p is None else candidates(card_p, _MOST, _LEAST_P),
            single_look=True,
            x_mm=round(x_mm, 1),
            y_mm=round(y_mm, 1),
            spread_mm=round(_PLACE_PX / self._felt.px_per_mm(x_mm, y_mm), 1),
            angle_deg=_upright(track.pose),
            frame=frame,
            crop=self._crop(track),
        )

    def _crop(self, track: Track) -> Rect:
        corners = self._felt.to_px(track.pose.outline_mm(_MARGIN_MM)).round().astype(int)
        left, top = (max(0, int(side)) for side in corners.min(axis=0))
        right = min(self._picture[0], int(corners[:, 0].max()))
        bottom = min(self._picture[1], int(corners[:, 1].max()))
        return left, top, max(0, right - left), max(0, bottom - top)


def _face_of(track: Track) -> NDArray[np.float64] | None:
    """Return what the last look says of a face, ``(52,)``; ``None`` where it says nothing."""
    look = track.look
    if track.face == "down" or look is None or look.card_p.sum() <= 0:
        return None
    return look.card_p


def _sure_p(track: Track) -> float:
    """Return the probability of the face of the last look; of a back, that it is one."""
    card_p = _face_of(track)
    if card_p is not None:
        return float(card_p.max())
    return track.found_p if track.look is None else track.look.found_p


def _upright(pose: Pose) -> float:
    """Take the end nearer the dealer as the top of a card's two equal ends; -180 to 180."""
    away = math.radians(pose.angle_deg)
    x, y = pose.x_mm - DEALER_POINT[0], pose.y_mm - DEALER_POINT[1]
    towards = x * math.sin(away) - y * math.cos(away)
    turned = pose.angle_deg + (180.0 if towards > 0 else 0.0)
    return round((turned + 180.0) % 360.0 - 180.0, 1)
