"""Watch a felt through one camera: frames in, observations out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card
from models.events import (
    HELD_BACK,
    CameraFault,
    CameraRecovered,
    CardGone,
    CardSighted,
    ForeignCardSighted,
)
from models.layout import TableLayout, inside
from models.session import CameraPose, ReferencePoint
from vision.backdrop import STEADY_NS, Backdrop
from vision.change import ChangeDetector, Grid, Mask, Rect, portion, regions
from vision.deck_index import DeckIndex
from vision.felt import Pose, locate
from vision.ground import card_blocks, watched_blocks
from vision.health import CameraHealth, Fault
from vision.held_back import WAIT_NS, WORDS, Held, HeldBack
from vision.mirror import Mirror
from vision.observer import Observer, foreign, misfit
from vision.repeats import Repeats
from vision.screening import Screened, Screening
from vision.sightings import CardReader, Sightings, for_session
from vision.tracker import Change, Seen, Track, Tracker
from vision.view import FeltView

# Chosen, not measured, unless a line says otherwise.
_PAD_MM: Final = 60.0  # felt read around what changed: a card may reach beyond it
_AT_ONCE: Final = 0.08
"""The largest share of the picture that one frame has read: the first is read in strips."""
_LEAST_STRANGE: Final = 3  # blocks: a smaller strange piece is not looked at again
_NEVER: Final = 2**63 - 1
_COVERING_MM2: Final = 10_000.0
"""What lies on a card zone and is larger than this is not a card that was overlooked."""

Observed: TypeAlias = CardSighted | CardGone | ForeignCardSighted | CameraFault | CameraRecovered
"""What a watcher tells."""


class Picture(Protocol):
    """One frame of a camera."""

    @property
    def index(self) -> int:
        """Frame number, from 0."""

    @property
    def at_ns(self) -> int:
        """When it was taken, nanoseconds since the Unix epoch, UTC."""

    @property
    def gray(self) -> NDArray[np.uint8]:
        """``(H, W)`` uint8, cheap."""

    @property
    def image(self) -> NDArray[np.uint8]:
        """``(H, W, 3)`` uint8 BGR, made when asked for."""


@dataclass(slots=True)
class Spent:
    """Nanoseconds and how often, by what they went into."""

    frames: int = 0
    reads: int = 0
    health_ns: int = 0
    change_ns: int = 0
    read_ns: int = 0
    track_ns: int = 0


class Watcher:
    """Watches one camera's felt.

    Args:
        reader: reads the cards.
        layout: the felt, for the places where cards are not in play.
        view: how the felt lies in the picture: the camera's pose, or points clicked.
        camera_name: goes into ``source`` as ``camera:<name>``.
        stopwatch_ns: a running clock, where the time spent is asked for.

    Raises:
        InstallerError: where ``view`` fixes no felt.
    """

    def __init__(
        self,
        reader: CardReader,
        layout: TableLayout,
        view: CameraPose | Sequence[ReferencePoint],
        camera_name: str,
        *,
        stopwatch_ns: Callable[[], int] = lambda: 0,
    ) -> None:
        self.spent = Spent()
        self._reader, self._layout = for_session(reader), layout
        self._source, self._stopwatch_ns = f"camera:{camera_name}", stopwatch_ns
        self._tracker, self._held_back = Tracker(), HeldBack()
        self._index, self._mirror = DeckIndex(), Mirror()
        self._frame, self._now_ns = 0, 0
        self.recalibrate(view)

    def recalibrate(self, view: CameraPose | Sequence[ReferencePoint]) -> None:
        """Go on with the camera where it hangs now; the cards on the felt keep their identity.

        Raises:
            InstallerError: where ``view`` fixes no felt.
        """
        self.felt = locate(view, where=self._source.replace(":", " "))
        self._pose = view if isinstance(view, CameraPose) else None
        self._screening = Screening(self.felt, self._layout, self._reader.confident_p, self._index)
        self._eye: _Eye | None = None

    def see(self, frame: Picture) -> tuple[Observed, ...]:
        """Take in the next frame; returns what is news, in order of time.

        An observation's ``at`` is when the card came to rest or was taken up. It lies before
        the frame's own time by up to half a second, for a card taken up by a second and more.
        """
        eye = self._eye = self._eye or self._open(frame.gray)
        self._frame, self._now_ns = frame.index, frame.at_ns
        self.spent.frames += 1
        started = self._stopwatch_ns()
        faults = eye.health.see(frame.gray, frame.at_ns)
        self.spent.health_ns += self._stopwatch_ns() - started
        if not eye.health.trusted or not self._follow(eye, frame):
            return self._reports(faults, frame)
        looks = eye.detector.due.any() or frame.at_ns >= eye.learns_ns
        changes = self._look(eye, frame) if looks else ()
        faults += eye.health.mirrored(self._mirror.detail, frame.at_ns)
        # Cards that a mirror hides are no foreign object.
        faults += eye.health.covered(None if self._mirror.detail else eye.covered, frame.at_ns)
        changes += self._tracker.advance(frame.at_ns)
        news = self._reports(faults, frame) + eye.observer.report(changes, frame.index)
        news += self._held(frame.at_ns)
        lying = self._tracker.lying
        return news + eye.observer.report_foreign(lying, frame.at_ns, frame.index)

    def finish(self) -> tuple[Observed, ...]:
        """There is no later frame; returns what was held back for one."""
        if self._eye is None:
            return ()
        held = self._held(self._now_ns + WAIT_NS)
        return self._eye.observer.report(self._tracker.finish(), self._frame) + held

    def _open(self, gray: NDArray[np.uint8]) -> "_Eye":
        size = gray.shape[1], gray.shape[0]
        x_mm, y_mm = 0.0, self._layout.depth_mm / 2
        grid = Grid.of(*size, self.felt.card_width_px(x_mm, y_mm))
        return _Eye(
            pad_px=round(_PAD_MM * self.felt.px_per_mm(x_mm, y_mm)),
            repeats=Repeats(),
            health=CameraHealth(size, self.felt, self._layout, self._pose),
            detector=ChangeDetector(grid, watched_blocks(grid, self.felt, self._layout)),
            backdrop=Backdrop(grid, self.felt),
            ground=card_blocks(grid, self.felt, self._layout),
            observer=Observer(self._source, self._reader.confident_p, self.felt, size),
        )

    def _reports(self, faults: Sequence[Fault], frame: Picture) -> tuple[Observed, ...]:
        return tuple(self._event(fault, frame) for fault in faults)

    def _held(self, at_ns: int) -> tuple[CameraFault, ...]:
        """Report the sure faces that are no card on the felt for good."""
        lying = self._tracker.lying
        told = [(face, t.pose) for t in lying if (face := self._told(t)) is not None]
        return tuple(
            CameraFault(
                source=self._source,
                at=self._now_ns,
                kind=f"{HELD_BACK}{one.why}",
                detail=f"a face at ({one.pose.x_mm:.0f}, {one.pose.y_mm:.0f}) mm: {WORDS[one.why]}",
                frame=self._frame,
            )
            for one in self._held_back.due(told, at_ns)
        )

    def _told(self, track: Track) -> Card | None:
        return self._certain(track.evidence.card_p) if track.face == "up" else None

    def _certain(self, card_p: NDArray[np.float64]) -> Card | None:
        best = int(card_p.argmax())
        return DECK[best] if card_p[best] >= self._reader.confident_p else None

    def _event(self, fault: Fault, frame: Picture) -> CameraFault | CameraRecovered:
        if fault.over:
            return CameraRecovered(
                source=self._source,
                at=frame.at_ns,
                kind=fault.kind,
                lasted_ns=fault.lasted_ns,
                frame=frame.index,
            )
        return CameraFault(
            source=self._source,
            at=frame.at_ns,
            kind=fault.kind,
            detail=fault.detail,
            frame=frame.index,
            proposed=fault.proposed,
        )

    def _follow(self, eye: "_Eye", frame: Picture) -> bool:
        """Compare a picture that is surely new with the earlier ones; return whether it is."""
        started = self._stopwatch_ns()
        small = eye.detector.evened(eye.detector.grid.reduce(frame.gray))
        new = not eye.repeats.possible(eye.detector.change(small))
        if new:
            eye.detector.see(small, frame.at_ns)
        self.spent.change_ns += self._stopwatch_ns() - started
        return new

    def _look(self, eye: "_Eye", frame: Picture) -> tuple[Change, ...]:
        """Read what is due and not bare felt, and let the tracker make sense of it."""
        image, started = frame.image, self._stopwatch_ns()
        due = portion(eye.detector.due, round(_AT_ONCE * eye.ground.size))
        at_rest = eye.detector.settled & (due | ~eye.detector.due)
        eye.backdrop.show(image, at_rest, eye.detector.gains)
        rects = regions(eye.detector.grid, due & ~eye.backdrop.bare(), eye.pad_px)
        begun = self._stopwatch_ns()
        found = [self._mirror.see(self._read(image, rect)) for rect in rects]
        read = self._stopwatch_ns()
        view = FeltView(self.felt, eye.detector, eye.backdrop, rects, frame.at_ns)
        seen, held = self._screened(image, found, view)
        changes = self._tracker.look(seen, view)
        held += [
            Held(card, one.pose, why)
            for one, why in self._tracker.left_out
            if (card := self._certain(one.card_p)) is not None
        ]
        self._held_back.look(held, frame.at_ns)
        cards = [*(t.pose for t in self._tracker.lying), *(s.pose for s in seen)]
        steady = frame.at_ns - eye.detector.since_ns >= STEADY_NS
        unknown = eye.backdrop.learn(cards, frame.at_ns, steady)
        eye.learns_ns = frame.at_ns + STEADY_NS if unknown else _NEVER
        doubtful = self._doubtful(eye, due, view, changes)
        for one in held:
            doubtful |= view.blocks(one.pose)
        doubtful &= due
        eye.detector.accept(due)
        eye.detector.doubt(doubtful, frame.at_ns)
        eye.covered = self._covered(eye, [track.pose for track in self._tracker.lying])
        self.spent.reads += len(rects)
        self.spent.read_ns += read - begun
        self.spent.track_ns += self._stopwatch_ns() - read + begun - started
        return changes

    def _screened(
        self, image: NDArray[np.uint8], found: Sequence[Sightings], view: FeltView
    ) -> tuple[list[Seen], list[Held]]:
        """Return the cards of a look that lie in play, and the sure faces that are held back."""
        screened = Screened()
        for sightings in found:
            self._screening.take(image, sightings, view, screened)
        return screened.seen, screened.held

    def _doubtful(
        self, eye: "_Eye", due: Mask, view: FeltView, changes: tuple[Change, ...]
    ) -> Mask:
        """Where a card is not read beyond doubt, or a change is not accounted for."""
        accounted = [change.track.pose for change in changes if change.kind != "read"]
        strange = due & eye.ground & eye.backdrop.strange(accounted)
        _, pieces, stats, _ = cv2.connectedComponentsWithStats(strange.astype(np.uint8))
        where = strange & (stats[:, cv2.CC_STAT_AREA] >= _LEAST_STRANGE)[pieces]
        for track in self._tracker.lying:
            if self._read_in_doubt(track) or (misfit(track) and not foreign(track)):
                where |= view.blocks(track.pose)
        for pose in self._tracker.unsettled:
            where |= view.blocks(pose)
        return np.asarray(where, np.bool_)

    def _read_in_doubt(self, track: Track) -> bool:
        return track.face == "up" and track.evidence.best()[1] < self._reader.confident_p

    def _covered(self, eye: "_Eye", cards: Sequence[Pose]) -> str | None:
        """Say where something large lies on a card zone that is none of ``cards``."""
        strange = (eye.ground & eye.backdrop.strange(cards)).astype(np.uint8)
        _, _, stats, middles = cv2.connectedComponentsWithStats(strange)
        largest = int(stats[1:, cv2.CC_STAT_AREA].argmax()) + 1 if len(stats) > 1 else 0
        across, down = eye.detector.grid.block_px
        middle = (np.asarray(middles[largest], np.float64) + 0.5) * (across, down)
        x, y = self.felt.to_mm(middle.reshape(1, 2))[0]
        block_mm2 = across * down / self.felt.px_per_mm(float(x), float(y)) ** 2
        if not largest or stats[largest, cv2.CC_STAT_AREA] * block_mm2 < _COVERING_MM2:
            return None
        zones = {f"before spot {spot.spot}": spot.cards for spot in self._layout.spots}
        return next((n for n, z in zones.items() if inside((x, y), z)), "before the dealer")

    def _read(self, image: NDArray[np.uint8], rect: Rect) -> Sightings:
        centre = np.array([(rect[0] + rect[2] / 2, rect[1] + rect[3] / 2)])
        x_mm, y_mm = self.felt.to_mm(centre)[0]
        width_px = self.felt.card_width_px(float(x_mm), float(y_mm))
        return self._reader.read(image, card_width_px=width_px, region=rect)


@dataclass(slots=True)
class _Eye:
    """What hangs on the size of the picture, known with the first frame."""

    pad_px: int
    repeats: Repeats
    health: CameraHealth
    detector: ChangeDetector
    backdrop: Backdrop
    ground: Mask
    observer: Observer
    learns_ns: int = _NEVER
    """When felt that was not steady at the last look will be."""
    covered: str | None = None
    """Where something other than cards lay on a card zone at the last look."""
