"""Convert the tracker's changes to events, only where they are new."""

import math
from collections.abc import Iterable
from typing import Final, TypeAlias

from models.cards import Card
from models.events import CardGone, CardSighted, Face, ForeignCardSighted
from models.layout import DEALER_POINT
from vision.change import Rect
from vision.decks.reading import FOREIGN_BACK_FIT, FOREIGN_FIT
from vision.felt import Felt, Pose
from vision.tracker import Change, Track

Reading: TypeAlias = tuple[Card | None, Card | None]

# Chosen, not measured, unless a line says otherwise.
_MOST: Final = 4  # candidates of a doubtful card in an event
_LEAST_P: Final = 0.01  # a less likely candidate is left out
_MARGIN_MM: Final = 8.0  # felt around a card in its evidence region
FOREIGN_LOOKS: Final = 2
"""Looks after which a card that fitted in none of them is called foreign."""


def foreign(track: Track) -> bool:
    """Return whether a card fitted no deck in use in any look so far; without a look, false."""
    return track.looks > 0 and track.deck_fit < (
        FOREIGN_FIT if track.face == "up" else FOREIGN_BACK_FIT
    )


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
        self._reported: dict[int, Reading] = {}
        self._foreign: set[tuple[int, Face]] = set()

    def report(self, changes: Iterable[Change], frame: int) -> tuple[CardSighted | CardGone, ...]:
        """Convert changes to events; a look that repeats the last report gives none."""
        return tuple(self._event(change, frame) for change in changes if self._news(change))

    def report_foreign(
        self, tracks: Iterable[Track], at_ns: int, frame: int
    ) -> tuple[ForeignCardSighted, ...]:
        """Return events, once each, for cards that fit no deck in use in any look."""
        strange = [
            track
            for track in tracks
            if foreign(track)
            and track.looks >= FOREIGN_LOOKS
            and (track.number, track.face) not in self._foreign
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
            card=self._reading(track)[0],
            deck_fit=round(min(max(track.deck_fit, 0.0), 1.0), 3),
            x_mm=round(track.pose.x_mm, 1),
            y_mm=round(track.pose.y_mm, 1),
            frame=frame,
            crop=self._crop(track),
        )

    def _news(self, change: Change) -> bool:
        before = self._reported.get(change.track.number)
        if change.kind == "gone":
            return self._reported.pop(change.track.number, None) is not None
        self._reported[change.track.number] = now = self._reading(change.track)
        return change.kind != "read" or now != before

    def _reading(self, track: Track) -> Reading:
        """Return the card where it is certain, and the most likely one."""
        if track.face == "down":
            return None, None
        best, p = track.evidence.best()
        return (best if p >= self._confident_p else None), best

    def _event(self, change: Change, frame: int) -> CardSighted | CardGone:
        track = change.track
        if change.kind == "gone":
            return CardGone(source=self._source, at=change.at_ns, track=track.number, frame=frame)
        up = track.face == "up"
        return CardSighted(
            source=self._source,
            at=change.at_ns,
            confidence=round(min(track.evidence.best()[1] if up else track.found_p, 1.0), 4),
            track=track.number,
            change=change.kind,
            face=track.face,
            card=self._reading(track)[0],
            candidates=track.evidence.candidates(_MOST, _LEAST_P) if up else {},
            x_mm=round(track.pose.x_mm, 1),
            y_mm=round(track.pose.y_mm, 1),
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


def _upright(pose: Pose) -> float:
    """Take the end nearer the dealer as the top of a card's two equal ends; -180 to 180."""
    away = math.radians(pose.angle_deg)
    x, y = pose.x_mm - DEALER_POINT[0], pose.y_mm - DEALER_POINT[1]
    towards = x * math.sin(away) - y * math.cos(away)
    turned = pose.angle_deg + (180.0 if towards > 0 else 0.0)
    return round((turned + 180.0) % 360.0 - 180.0, 1)
