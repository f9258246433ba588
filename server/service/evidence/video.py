"""Find recordings beside the journals, and take a session's pictures and clips from them."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import av
import numpy as np
from numpy.typing import NDArray

from devices.cameras.footage import Footage
from devices.cameras.frame import Frame
from models.errors import PitwatchError, TechnicianError
from models.events import CardSighted, ForeignCardSighted
from models.layout import CARD_HEIGHT_MM, CARD_WIDTH_MM, TableLayout
from models.session import CameraRecord
from models.session import Session as Description
from server.archive.clips import Clip, Clips
from server.archive.lying import free_times, patches
from server.service.evidence.footage import CameraView, ClipView, Lens
from server.service.evidence.kept import Kept
from server.service.http.turns import Turns
from stream.clock import elapsed_ns
from stream.recording import SESSION_FILE, read_layout, video_files
from vision.crops import in_surroundings, jpeg
from vision.felt import Felt, Pose, locate

FOUND_AGAIN_NS: Final = 5_000_000_000
"""Nanoseconds that the list of recordings stays valid."""
CARD_WIDTH_PX: Final = 132
WHOLE_WIDTH_PX: Final = 420
"""Pixels. Width of a card's picture with surroundings, large enough for a person's decision."""
_MARK_MM: Final = 4.0
"""Mm between a card's edge and its mark, so that the mark hides nothing."""
_AROUND: Final = 32
"""Points of a drawn circle."""
_PLACES: Final = (SESSION_FILE, f"*/{SESSION_FILE}", f"recordings/*/{SESSION_FILE}")
"""Where recordings lie; the last is beside a table's journal, as with `pitwatch simulate
--live`."""
_MARGIN_NS: Final = 1_000_000_000
_LATEST_LOOK_NS: Final = 1_000_000_000
_LIES_NS: Final = 1_200_000_000
"""Nanoseconds after its rest within which a card is looked for: the hand withdraws in half of that,
and no other card covers it yet."""

Sighting: TypeAlias = CardSighted | ForeignCardSighted
Cut: TypeAlias = Callable[[NDArray[np.uint8], Sighting], bytes]


@dataclass(frozen=True, slots=True)
class Found:
    """The recording of a table at a time."""

    clips: Clips
    layout: TableLayout
    folder: Path

    @property
    def description(self) -> Description:
        """The content of its ``session.toml``."""
        return self.clips.session


class Recordings:
    """The session folders in ``folder``, or in its ``recordings``, kept up to date.

    It only reads files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._found: tuple[Found, ...] = ()
        self._stamps: dict[Path, tuple[int, Found | None]] = {}
        self._looked_ns = -FOUND_AGAIN_NS

    def of(self, table: str, at_ns: int, name: str) -> Found | None:
        """Return the recording of a table that was running at a time.

        Args:
            table: the table's id.
            at_ns: when.
            name: the journal's; a folder of that name has precedence over others of the table.
        """
        self._look()
        begun = [
            one
            for one in self._found
            if one.description.table == table and one.description.at <= at_ns
        ]
        return max(
            begun, key=lambda one: (one.folder.name == name, one.description.at), default=None
        )

    def currencies(self) -> Mapping[str, str]:
        """Return the currency of each recorded table, from its latest recording."""
        self._look()
        latest = sorted(self._found, key=lambda one: one.description.at)
        return {one.description.table: one.description.currency for one in latest}

    def _look(self) -> None:
        if elapsed_ns() - self._looked_ns < FOUND_AGAIN_NS:
            return
        self._looked_ns = elapsed_ns()
        stamps = {}
        for file in (file for place in _PLACES for file in self.folder.glob(place)):
            stamp = file.stat().st_mtime_ns
            known = self._stamps.get(file)
            stamps[file] = known if known and known[0] == stamp else (stamp, _opened(file.parent))
        self._stamps = stamps
        self._found = tuple(one for _, one in stamps.values() if one is not None)


def _opened(folder: Path) -> Found | None:
    """Open a recording; ignore an unsound one."""
    try:
        clips = Clips(folder)
        return Found(clips, read_layout(folder / clips.session.layout), folder)
    except PitwatchError:
        return None


def span_of(opened_ns: int, closed_ns: int | None, last_ns: int) -> tuple[int, int]:
    """Return the time span of a round's clip, with a margin."""
    return opened_ns - _MARGIN_NS, (last_ns if closed_ns is None else closed_ns) + _MARGIN_NS


def camera_view(
    found: Found, name: str, urls: tuple[str, str | None], clip: ClipView | None
) -> CameraView:
    """Return a camera's data for the console.

    Args:
        found: the recording.
        name: the camera's.
        urls: of its pictures, and of its video during recording.
        clip: the round's, where one is requested.

    Raises:
        PitwatchError: its video cannot be read, or its view determines no felt.
    """
    record = next(one for one in found.description.cameras if one.name == name)
    felt = locate(record.view, where=name)
    width, height = _size_px(video_files(found.folder, record)[0])
    return CameraView(
        name=name,
        width_px=width,
        height_px=height,
        flat_from_mm=tuple(tuple(map(float, row)) for row in felt.flat_from_mm),
        lens=_lens(felt),
        pictures=urls[0],
        start_ns=found.description.at,
        live=urls[1],
        clip=clip,
    )


def card_pictures(found: Found, camera: str, sightings: Iterable[Sighting]) -> Mapping[int, bytes]:
    """Return the crop of each sighting's picture, as JPEG, by its ``seq``.

    One pass over the video serves all, so a round's cards cost little more than one.
    """
    return _pieces(found, camera, sightings, _read_piece)


def whole_cards(found: Found, camera: str, sightings: Iterable[Sighting]) -> Mapping[int, bytes]:
    """Return each whole card, marked, with its surroundings, as JPEG by the sighting's ``seq``.

    It shows the card without a hand over it where there is such a picture, for a person to decide.

    Raises:
        InstallerError: the camera's description determines no felt.
    """
    record = _record(found, camera)
    if record is None:
        return {}
    felt = locate(record.view, where=camera)

    def whole(image: NDArray[np.uint8], one: Sighting) -> bytes:
        corners = [(float(x), float(y)) for x, y in felt.outline_px(mark_mm(one))]
        return in_surroundings(image, corners, WHOLE_WIDTH_PX)

    return _pieces(found, camera, sightings, whole, free=True)


def mark_mm(one: Sighting) -> NDArray[np.float64]:
    """Return a line around a card on the felt, ``(N, 2)``.

    It follows the card's edges; a foreign card's angle is unknown, so it gets a circle.
    """
    if isinstance(one, CardSighted):
        return Pose(one.x_mm, one.y_mm, one.angle_deg).outline_mm(_MARK_MM)
    radius_mm = math.hypot(CARD_WIDTH_MM, CARD_HEIGHT_MM) / 2 + _MARK_MM
    turns = np.linspace(0, 2 * np.pi, _AROUND, endpoint=False)
    middle = np.array((one.x_mm, one.y_mm))
    return middle + radius_mm * np.stack((np.cos(turns), np.sin(turns)), axis=1)


def _record(found: Found, camera: str) -> CameraRecord | None:
    return next((one for one in found.description.cameras if one.name == camera), None)


def _pieces(
    found: Found, camera: str, sightings: Iterable[Sighting], cut: Cut, *, free: bool = False
) -> Mapping[int, bytes]:
    record = _record(found, camera)
    if record is None:
        return {}
    pieces: dict[int, bytes] = {}
    for look in _looks(found, record, sightings):
        _keep_piece(look.free() if free else look.seen(), look.sighting, cut, pieces)
    return pieces


def card_seen_ns(found: Found, camera: str, sighting: CardSighted) -> int | None:
    """Return when the camera shows a sighting's card, uncovered where possible.

    ``None`` where the camera is not recorded, or has no picture of that time.
    """
    record = _record(found, camera)
    looks = () if record is None else _looks(found, record, (sighting,))
    frame = next((look.seen() for look in looks), None)
    return None if frame is None else max(frame.at_ns, sighting.at or 0)


@dataclass(slots=True)
class _Look:
    """A sighting, with the pictures of its place since its card came to rest."""

    sighting: Sighting
    looked_ns: int
    pictures: list[Frame] = field(default_factory=list)

    @property
    def rested_ns(self) -> int:
        return self.sighting.at or 0

    @property
    def until_ns(self) -> int:
        return self.rested_ns + _LIES_NS

    @property
    def _is_doubtful(self) -> bool:
        one = self.sighting
        return isinstance(one, ForeignCardSighted) or (one.face == "up" and one.card is None)

    def seen(self) -> Frame | None:
        """Return the picture in which the camera saw it.

        For a doubtful sighting it is the picture as read, for any other as :meth:`free`.
        """
        looked = self._looked()
        is_as_it_was = self._is_doubtful and self.looked_ns > self.rested_ns
        return looked[-1] if looked and is_as_it_was else self.free()

    def _looked(self) -> list[Frame]:
        return [frame for frame in self.pictures if frame.at_ns <= self.looked_ns]

    def free(self) -> Frame | None:
        """Return the picture as read, or the next one with the card uncovered.

        Where a recording lacks pictures, their numbers do not give the time, and the hand may still
        cover the card.
        """
        looked = self._looked()
        if not looked:
            return None
        left, top, width, height = self.sighting.crop
        rect = (max(0, left), max(0, top), width + min(0, left), height + min(0, top))
        free = set(free_times(patches(self.pictures, rect)))
        later = self.pictures[len(looked) - 1 :]
        return next((frame for frame in later if frame.at_ns in free), looked[-1])


def _looks(found: Found, record: CameraRecord, sightings: Iterable[Sighting]) -> Iterator[_Look]:
    """Read the video once; yield each sighting once its pictures are complete."""
    start_ns = found.description.at
    due = sorted(
        (_Look(one, _looked_at_ns(one, record, start_ns)) for one in sightings),
        key=lambda look: look.rested_ns,
    )
    footage = Footage(
        video_files(found.folder, record), start_ns, closed=record.segments is not None
    )
    latest: Frame | None = None
    begun: deque[_Look] = deque()
    waiting = deque(due)
    span = (due[0].rested_ns - _MARGIN_NS, due[-1].until_ns + _MARGIN_NS)
    for frame in footage.frames(*span):
        while waiting and frame.at_ns > waiting[0].rested_ns:
            begun.append(waiting.popleft())
            begun[-1].pictures += [] if latest is None else [latest]
        while begun and frame.at_ns > begun[0].until_ns:
            yield begun.popleft()
        for look in begun:
            look.pictures.append(frame)
        latest = frame
    for look in waiting:
        look.pictures += [] if latest is None else [latest]
    yield from (*begun, *waiting)


def _looked_at_ns(sighting: Sighting, record: CameraRecord, start_ns: int) -> int:
    """Return the picture's time: from its number, where that is close to the card's rest."""
    rested_ns = sighting.at or 0
    by_number_ns = start_ns + round(sighting.frame / record.fps * 1e9)
    return by_number_ns if 0 <= by_number_ns - rested_ns <= _LATEST_LOOK_NS else rested_ns


def _keep_piece(
    frame: Frame | None, sighting: Sighting, cut: Cut, pieces: dict[int, bytes]
) -> None:
    """Store a sighting's crop; there is none where it lies outside the picture."""
    if frame is not None and sighting.seq is not None:
        with suppress(ValueError):
            pieces[sighting.seq] = cut(frame.image, sighting)


def _read_piece(image: NDArray[np.uint8], sighting: Sighting) -> bytes:
    return jpeg(image, sighting.crop, CARD_WIDTH_PX)


def _size_px(video: Path) -> tuple[int, int]:
    """Read a video's size without decoding a picture."""
    try:
        with av.open(str(video)) as container:
            stream = container.streams.video[0]
            return stream.width, stream.height
    except (OSError, av.error.FFmpegError, IndexError) as fault:
        raise TechnicianError(
            "the video cannot be read", where=str(video), way_out="Copy the recording again"
        ) from fault


def _lens(felt: Felt) -> Lens | None:
    if felt.optics is None:
        return None
    camera = felt.optics.camera
    centre = (float(camera[0, 2]), float(camera[1, 2]))
    return Lens(float(camera[0, 0]), centre, felt.optics.radial)


CLIPS_BYTES: Final = 192 << 20
PICTURES_BYTES: Final = 32 << 20
MOMENTS_KEPT: Final = 10_000
_LOOKED_NS: Final = 60_000_000_000


class Video:
    """The routes' shared state: the recordings, the last clips and pictures, the viewers."""

    def __init__(self, recordings: Recordings) -> None:
        self.recordings = recordings
        self.clips = Kept[Clip](CLIPS_BYTES, lambda clip: len(clip.mp4))
        self.pictures = Kept[bytes](PICTURES_BYTES, len)
        self.moments = Kept[int](MOMENTS_KEPT, lambda _: 1)
        self.turns = Turns()
        """Of all heavy work: pictures, clips, reports, exports."""
        self._looked: dict[tuple[str, str], int] = {}

    def is_new_look(self, person: str, session: str, now_ns: int) -> bool:
        """Return whether a person's look at a session's pictures must be recorded again."""
        self._looked = {key: at for key, at in self._looked.items() if now_ns - at < _LOOKED_NS}
        return self._looked.setdefault((person, session), now_ns) == now_ns
