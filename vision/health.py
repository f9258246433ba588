"""Check that a camera's picture is reliable, from the pictures and their times alone.

A fault is reported once it has lasted for some time, and again when it has passed. While any fault
is suspected, the picture is not read. Times are in nanoseconds, never in frames.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import TableLayout
from models.session import CameraPose
from vision.felt import Felt
from vision.landmarks import Compared, Landmarks
from vision.moved import (
    ALIKE,
    LEAST_LANDMARKS,
    Gone,
    Whole,
    gone_by,
    markers_gone,
    pose_of,
    proposed_pose,
)
from vision.wholeness import Wholeness

Kind: TypeAlias = Literal[
    "size_changed",
    "black",
    "overexposed",
    "incomplete",
    "frozen",
    "unfocused",
    "moved",
    "obstructed",
    "covered",
    "mirrored",
]

LOOK_NS: Final = 120_000_000
"""Nanoseconds between looks at the landmarks: short enough that no moved place has come to rest."""
MOVED_MM: Final = 2.0
"""Mm on the felt. A camera whose felt appears to have moved this far was knocked."""
SOFTER_MM: Final = 1.2
"""Mm on the felt, a Gaussian's sigma. A picture this much blurrier than before shows no readable
index."""
_SOFTER_PX: Final = 0.9
"""Pixels of sigma. Less cannot be distinguished from a picture sampled slightly aside."""
# Chosen on the first two films of lab/bench/camera_health.
BLURRED_MM: Final = 2.5  # sigma of a Gaussian: no index is read in such a picture
LINGERS_NS: Final = 8_000_000_000
"""Nanoseconds. An object that covers a card zone for this long is neither hand nor card."""

# A fault is reported after it has lasted this long; chosen.
_RAISE_NS: Final[dict[Kind, int]] = {
    "size_changed": 0,
    "black": 0,
    "overexposed": 0,
    "incomplete": 400_000_000,
    "frozen": 0,
    "unfocused": 400_000_000,
    "moved": 400_000_000,
    "obstructed": 600_000_000,
    "covered": LINGERS_NS,
    "mirrored": 0,
}
_CLEAR_NS: Final = 300_000_000  # a fault has passed after this long without it
_DARK: Final = 40.0  # of 255: a picture is black if 98% of its pixels are darker
_BRIGHT: Final = 226.0
"""Of 255. Video brightness runs from 16 to 235."""
_BLINDED: Final = 0.4  # share of white pixels
_STILL_WINDOW_NS: Final = 800_000_000  # time over which a picture must stand still to be frozen
_STILL: Final = 0.8  # share of frames without noise in that time
_HUM_NS: Final = 2_000_000_000  # time over which the usual noise is learned
_HUMS: Final = 0.75  # share of frames with noise before, else stillness proves nothing
_TILES: Final = (16, 9)  # tiles across and down in which noise is looked for
_TILE_NS: Final = 5_000_000_000  # time over which each tile's noise is learned
_IN_SIGHT: Final = 0.5  # share of landmarks; with fewer in sight the view is obstructed
_THUMB: Final = (64, 36)  # pixels across and down of the picture kept to compare
_LOOMS: Final = 0.9  # correlation with the kept picture that shows the same table
_AGAIN_NS: Final = 400_000_000  # time between two searches of the whole picture
_RENEW_NS: Final = 10_000_000_000  # a landmark out of sight for this long is chosen anew
_MEASURE_NS: Final = 1_000_000_000  # time between two measurements while nothing is suspected
_SAME: Final = 0.025
"""Unlikeness, 0 to 1. Landmarks below it have moved less than half a pixel."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that began or ended.

    Attributes:
        kind: what fails.
        detail: by how much, for people.
        over: whether it has passed.
        lasted_ns: how long it has lasted.
        proposed: the new pose of a camera that moved.
    """

    kind: Kind
    detail: str
    over: bool = False
    lasted_ns: int = 0
    proposed: CameraPose | None = None


class CameraHealth:
    """Watches one camera's picture for faults.

    Args:
        size: width and height that the camera is set up for.
        felt: where the felt lies in the picture.
        layout: the felt.
        pose: the camera's, where it is known.
    """

    def __init__(
        self,
        size: tuple[int, int],
        felt: Felt,
        layout: TableLayout,
        pose: CameraPose | None = None,
    ) -> None:
        self._size, self._felt, self._layout, self._pose = size, felt, layout, pose
        self._px_per_mm = felt.px_per_mm(0.0, layout.depth_mm / 2)
        self._alarms: dict[Kind, _Alarm] = {kind: _Alarm(kind) for kind in _RAISE_NS}
        self._hum = _Hum()
        self._wholeness = Wholeness()
        self._scene: _Scene | None = None

    @property
    def trusted(self) -> bool:
        """Return whether the last picture may be read: no fault is present or suspected."""
        passive = ("frozen", "covered", "mirrored")
        return not any(a.suspected for k, a in self._alarms.items() if k not in passive)

    def see(self, gray: NDArray[np.uint8], at_ns: int) -> tuple[Fault, ...]:
        """Process the next picture; return the faults that began or ended."""
        if (gray.shape[1], gray.shape[0]) != self._size:
            found = f"{gray.shape[1]}x{gray.shape[0]}"
            return self._report(
                "size_changed", f"{found} pixels, not {self._size[0]}x{self._size[1]}", at_ns
            )
        faults = self._report("size_changed", None, at_ns)
        sample = np.ascontiguousarray(gray[2::4, 3::8])
        faults += self._light(sample, at_ns)
        faults += self._report("frozen", self._hum.see(sample, at_ns), at_ns)
        if any(self._alarms[kind].suspected for kind in ("black", "overexposed")):
            return faults
        faults += self._report("incomplete", self._wholeness.see(gray), at_ns)
        if self._alarms["incomplete"].suspected:
            return faults
        return faults + self._look(gray, at_ns)

    def covered(self, where: str | None, at_ns: int) -> tuple[Fault, ...]:
        """Process the place of a foreign object in a card zone, if there is one."""
        detail = None if where is None else f"something lies {where} that is no card"
        return self._report("covered", detail, at_ns)

    def mirrored(self, detail: str | None, at_ns: int) -> tuple[Fault, ...]:
        """Process what the cards say of a mirrored picture."""
        return self._report("mirrored", detail, at_ns)

    def _report(
        self, kind: Kind, detail: str | None, at_ns: int, proposed: CameraPose | None = None
    ) -> tuple[Fault, ...]:
        fault = self._alarms[kind].update(detail, at_ns)
        if fault is None:
            return ()
        return (
            Fault(
                kind, fault.detail, fault.over, fault.lasted_ns, None if fault.over else proposed
            ),
        )

    def _light(self, sample: NDArray[np.uint8], at_ns: int) -> tuple[Fault, ...]:
        level = float(np.percentile(sample[::3, ::3], 98))
        blinded = float((sample[::2, ::2] >= _BRIGHT).mean())
        dark = f"98% of the picture is darker than {level:.0f} of 255" if level < _DARK else None
        white = f"{blinded:.0%} of the picture is white" if blinded > _BLINDED else None
        return self._report("black", dark, at_ns) + self._report("overexposed", white, at_ns)

    # --- evidence of the landmarks ----------------------------------------------------------

    def _look(self, gray: NDArray[np.uint8], at_ns: int) -> tuple[Fault, ...]:
        if self._scene is None:
            self._scene = _Scene(gray, self._felt, self._layout, at_ns)
            return self._first(gray, at_ns)
        if at_ns - self._scene.looked_ns < LOOK_NS:
            return ()
        if self._scene.unchanged(gray, at_ns):
            return tuple(
                fault
                for kind in ("unfocused", "moved", "obstructed")
                for fault in self._report(kind, None, at_ns)
            )
        seen = self._scene.look(gray, at_ns)
        if seen is None:
            return ()
        in_sight = float((seen.alike >= ALIKE).mean())
        gone = self._whereabouts(gray, seen, in_sight, at_ns)
        here = gone is None and (in_sight >= _IN_SIGHT or self._scene.looms(gray))
        softer = float(np.median(seen.softer_px))
        soft = here and self._is_soft(softer)
        faults = self._report("unfocused", self._soft(softer) if soft else None, at_ns)
        faults += self._moved(gray, gone, at_ns)
        lost = in_sight < _IN_SIGHT and not self._explained()
        hidden = f"{1 - in_sight:.0%} of the felt's fixed marks are out of sight" if lost else None
        faults += self._report("obstructed", hidden, at_ns)
        if self.trusted:
            self._scene.renew(gray, at_ns)
        return faults

    def _first(self, gray: NDArray[np.uint8], at_ns: int) -> tuple[Fault, ...]:
        """Compare the first picture with the layout; later ones are compared with it."""
        assert self._scene is not None
        soft_px = self._scene.softness(gray)
        self._scene.blurred = soft_px > BLURRED_MM * self._px_per_mm
        gone = markers_gone(gray, self._felt, self._layout)
        self._scene.stale = gone if gone is not None and gone.off_mm >= MOVED_MM else None
        faults = self._report(
            "unfocused", self._soft(soft_px) if self._scene.blurred else None, at_ns
        )
        return faults + self._moved(gray, self._scene.stale, at_ns)

    def _whereabouts(
        self, gray: NDArray[np.uint8], seen: Compared, in_sight: float, at_ns: int
    ) -> Gone | None:
        """Return the movement of the felt; ``None`` while it is in place or cannot be found."""
        assert self._scene is not None
        if self._scene.stale is not None:
            return markers_gone(gray, self._felt, self._layout) or self._scene.stale
        near = gone_by(self._felt, seen) if in_sight >= _IN_SIGHT else None
        gone = near or self._scene.search(gray, self._felt, at_ns)
        return gone if gone is not None and gone.off_mm >= MOVED_MM else None

    def _moved(self, gray: NDArray[np.uint8], gone: Gone | None, at_ns: int) -> tuple[Fault, ...]:
        off = f"the felt lies {gone.off_mm:.1f} mm from where it was" if gone else None
        due = gone is not None and self._alarms["moved"].due(at_ns)
        proposed = self._propose(gray, gone) if due and gone else None
        return self._report("moved", off, at_ns, proposed)

    def _propose(self, gray: NDArray[np.uint8], gone: Gone) -> CameraPose:
        pose = self._pose or pose_of(self._felt, self._layout, self._size)
        return proposed_pose(pose, markers_gone(gray, self._felt, self._layout) or gone)

    def _is_soft(self, softer_px: float) -> bool:
        """Return whether the picture is too much blurrier than the first, or was so already."""
        assert self._scene is not None
        limit_px = max(SOFTER_MM * self._px_per_mm, _SOFTER_PX)
        return softer_px > (-limit_px if self._scene.blurred else limit_px)

    def _soft(self, soft_px: float) -> str:
        return f"edges are {soft_px / self._px_per_mm:.1f} mm soft"

    def _explained(self) -> bool:
        return any(self._alarms[kind].suspected for kind in ("moved", "unfocused"))


class _Scene:
    """The reference picture for later ones."""

    def __init__(
        self, gray: NDArray[np.uint8], felt: Felt, layout: TableLayout, at_ns: int
    ) -> None:
        self._landmarks = Landmarks(gray, felt, layout)
        self._whole = Whole(gray)
        self._thumb = _thumb(gray)
        self._lost_ns = np.full(len(self._landmarks), at_ns, np.int64)
        self._searched_ns = 0
        self._found: Gone | None = None
        self.looked_ns = self._measured_ns = at_ns
        self.blurred = False
        """Whether it was out of focus itself."""
        self.stale: Gone | None = None
        """The distance of its markers from the pose's."""

    def unchanged(self, gray: NDArray[np.uint8], at_ns: int) -> bool:
        """Return whether most landmarks are so similar that no measurement is needed."""
        if self.blurred or self.stale or at_ns - self._measured_ns >= _MEASURE_NS:
            return False
        unlike = self._landmarks.unlike(gray)
        if len(unlike) < LEAST_LANDMARKS or float(np.median(unlike)) > _SAME:
            return False
        self.looked_ns = at_ns
        return True

    def look(self, gray: NDArray[np.uint8], at_ns: int) -> Compared | None:
        self.looked_ns = self._measured_ns = at_ns
        if len(self._landmarks) < LEAST_LANDMARKS:
            return None
        seen = self._landmarks.compare(gray)
        there = seen.alike >= ALIKE
        self._lost_ns[there] = at_ns
        if there.any() and float(np.hypot(*np.median(seen.shift_px[there], axis=0))) > 1.0:
            return self._landmarks.compare(gray, seen.shift_px * there[:, None])
        return seen

    def search(self, gray: NDArray[np.uint8], felt: Felt, at_ns: int) -> Gone | None:
        """Search for the reference picture elsewhere, not at every frame."""
        if at_ns - self._searched_ns >= _AGAIN_NS or self._found is None:
            self._searched_ns = at_ns
            self._found = self._whole.gone(gray, felt)
        return self._found

    def renew(self, gray: NDArray[np.uint8], at_ns: int) -> None:
        """Accept the picture as sound, and replace landmarks that are covered for good."""
        self._thumb = _thumb(gray)
        lost = at_ns - self._lost_ns > _RENEW_NS
        if lost.any() and lost.mean() < _IN_SIGHT:
            self._landmarks.renew(gray, lost)
            self._lost_ns = np.full(len(self._landmarks), at_ns, np.int64)

    def looms(self, gray: NDArray[np.uint8]) -> bool:
        """Return whether the rough shapes match the last sound picture, however blurred."""
        alike = cv2.matchTemplate(_thumb(gray), self._thumb, cv2.TM_CCOEFF_NORMED)
        return float(np.asarray(alike)[0, 0]) >= _LOOMS

    def softness(self, gray: NDArray[np.uint8]) -> float:
        return self._landmarks.softness(gray)


class _Hum:
    """Distinguishes a frozen picture from a still one by the noise of every live camera.

    A recording without noise repeats itself wherever nothing moves; a camera never does. Only a
    picture that had noise, even where it moved least, and has none now is frozen.
    """

    def __init__(self) -> None:
        self._before: NDArray[np.uint8] | None = None
        self._before_ns = 0
        self._rate = np.ones((_TILES[1], _TILES[0]), np.float64)
        self._hums = 0.0
        self._recent: deque[tuple[int, bool]] = deque()
        self._frozen = False

    def see(self, sample: NDArray[np.uint8], at_ns: int) -> str | None:
        before, self._before = self._before, sample
        passed_ns, self._before_ns = at_ns - self._before_ns, at_ns
        if before is None or before.shape != sample.shape or passed_ns <= 0:
            return None
        changed = _changed(before, sample)
        self._recent.append((passed_ns, not changed.any()))
        known_ns = sum(ns for ns, _ in self._recent)
        while known_ns - self._recent[0][0] >= _STILL_WINDOW_NS:
            known_ns -= self._recent.popleft()[0]
        still = sum(ns for ns, silent in self._recent if silent) / known_ns
        self._frozen = still >= (1 - _STILL if self._frozen else _STILL) and (
            self._frozen or (self._hums >= _HUMS and known_ns >= _STILL_WINDOW_NS)
        )
        if changed.any():
            self._learn(changed, passed_ns)
        return "the picture is frozen: not even its noise changes" if self._frozen else None

    def _learn(self, changed: NDArray[np.bool_], passed_ns: int) -> None:
        quiet = self._rate <= np.median(self._rate)
        weight = min(1.0, passed_ns / _HUM_NS)
        self._hums += weight * (float(changed[quiet].any()) - self._hums)
        self._rate += min(1.0, passed_ns / _TILE_NS) * (changed - self._rate)


def _thumb(gray: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.asarray(cv2.resize(gray, _THUMB, interpolation=cv2.INTER_AREA), np.uint8)


def _changed(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Mark the tiles with any difference."""
    differs = (one != other).astype(np.float32)
    return np.asarray(cv2.resize(differs, _TILES, interpolation=cv2.INTER_AREA) > 0, np.bool_)


@dataclass(slots=True)
class _Alarm:
    """An alarm that starts after a fault has lasted for a while, and ends likewise."""

    kind: Kind
    raised: bool = False
    suspected: bool = False
    _detail: str = ""
    _since_ns: int = 0
    _sound_ns: int = 0

    def due(self, at_ns: int) -> bool:
        """Return whether the alarm would be on if the fault were present now."""
        began_ns = self._since_ns if self.suspected else at_ns
        return not self.raised and at_ns - began_ns >= _RAISE_NS[self.kind]

    def update(self, detail: str | None, at_ns: int) -> Fault | None:
        if detail is None:
            return self._sound(at_ns)
        if not self.suspected:
            self._since_ns = at_ns
        due = self.due(at_ns)
        self.suspected, self._detail, self._sound_ns = True, detail, at_ns
        if not due:
            return None
        self.raised = True
        return Fault(self.kind, detail, lasted_ns=at_ns - self._since_ns)

    def _sound(self, at_ns: int) -> Fault | None:
        if not self.raised:
            self.suspected = False
            return None
        if at_ns - self._sound_ns < _CLEAR_NS:
            return None
        self.raised = self.suspected = False
        return Fault(self.kind, self._detail, over=True, lasted_ns=self._sound_ns - self._since_ns)
