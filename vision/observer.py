"""What the tracker found, told as events: only what is news."""

import math
from collections.abc import Iterable
from typing import Final, TypeAlias

from models.cards import Card
from models.events import CardGone, CardSighted
from vision.change import Rect
from vision.felt import Felt, Pose
from vision.tracker import Change, Track

Told: TypeAlias = tuple[Card | None, Card | None]

_MOST: Final = 4
_LEAST_P: Final = 0.01
_MARGIN_MM: Final = 8.0
_DEALER_Y_MM: Final = 40.0


class Observer:
    """Writes the observations of one camera.

    Args:
        source: ``camera:<name>``.
        confident_p: from which probability on a reading is beyond doubt.
        felt: where the felt lies in the picture, for the crops.
        picture: width and height of the picture in pixels.
    """

    def __init__(
        self, source: str, confident_p: float, felt: Felt, picture: tuple[int, int]
    ) -> None:
        self._source, self._confident_p = source, confident_p
        self._felt, self._picture = felt, picture
        self._told: dict[int, Told] = {}

    def tell(self, changes: Iterable[Change], frame: int) -> tuple[CardSighted | CardGone, ...]:
        """Put changes into events; another look that says what was told before is no event."""
        return tuple(self._event(change, frame) for change in changes if self._news(change))

    def _news(self, change: Change) -> bool:
        before = self._told.get(change.track.number)
        if change.kind == "gone":
            return self._told.pop(change.track.number, None) is not None
        self._told[change.track.number] = now = self._reading(change.track)
        return change.kind != "read" or now != before

    def _reading(self, track: Track) -> Told:
        """The card where it is beyond doubt, and the likeliest one."""
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
    """Of a card's two like ends, call the one nearer the dealer its top; -180 to 180."""
    away = math.radians(pose.angle_deg)
    towards = pose.x_mm * math.sin(away) - (pose.y_mm - _DEALER_Y_MM) * math.cos(away)
    turned = pose.angle_deg + (180.0 if towards > 0 else 0.0)
    return round((turned + 180.0) % 360.0 - 180.0, 1)
