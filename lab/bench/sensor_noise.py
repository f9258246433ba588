"""What a real sensor, its exposure and its stream cost: ``python -m lab.bench.sensor_noise``.

Replays the shipped session, or another, with its film as other cameras would show it: sensor noise,
lamps that flicker, bands of a rolling shutter, automatic exposure, a stream of 4 Mbit/s. Of each
film counts the pictures in which something was read, the parts read, what of the clean film's
sightings is missing or late, sightings that the clean film does not give, and the rounds that come
out exactly; and compares the time a picture takes.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final

import av
import numpy as np
from numpy.typing import NDArray

from devices.cameras.file import FileCamera
from devices.cameras.frame import Frame
from lab.bench.record import NETWORKS, Claim, add_option, record
from models.events import CameraFault, CardSighted
from models.session import CameraRecord
from server.process.stopwatch import Stopwatch
from server.table.comparison import tally
from server.table.replay import Replayed, ReplayOptions, replay
from server.table.sources import Recording, open_recording
from stream.clock import elapsed_ns
from stream.journal import Journal
from vision.change import Rect
from vision.reader import Reader
from vision.sightings import CardReader, Sightings

DEMO: Final = Path("server/demo/session")
LAMP_HZ: Final = 100.3
"""Flicker of lamps on a mains of 50 Hz that is a little off."""
READOUT_S: Final = 0.025  # from the first line of a rolling shutter to the last
EXPOSURE_S: Final = 0.4  # time constant of the automatic exposure
NEAR_MM: Final = 20.0
NEAR_NS: Final = 1_500_000_000
"""A sighting this close to one of the clean film, in place and time, is the same."""
LATE_NS: Final = 350_000_000  # later than on the clean film by more than this counts as late
_SPARE: Final = 128  # rows and columns by which a field of noise is larger than a picture
BASE: Final = Fraction(1, 90_000)


@dataclass(frozen=True, slots=True)
class Sensor:
    """How a camera differs from the one that filmed.

    Attributes:
        noise: standard deviation of each pixel's noise, in grey levels.
        flicker: share by which a lamp's light goes up and down, all lines at once.
        bands: the same where each line is exposed at its own time.
        exposure: how far automatic exposure evens out the picture's mean: 0 not at all, 1 wholly.
        bit_rate: of the stream, bits a second; 0 without another encoder.
    """

    name: str
    noise: float = 0.0
    flicker: float = 0.0
    bands: float = 0.0
    exposure: float = 0.0
    bit_rate: int = 0


CLEAN: Final = Sensor("clean")
SENSORS: Final = (
    Sensor("noise of 3 levels", noise=3),
    Sensor("noise of 8 levels", noise=8),
    Sensor("flicker of 4%", flicker=0.04),
    Sensor("rolling bands of 4%", bands=0.04),
    Sensor("automatic exposure", exposure=0.7),
    Sensor("4 Mbit/s", bit_rate=4_000_000),
    Sensor("noise of 3 levels, 4 Mbit/s", noise=3, bit_rate=4_000_000),
    Sensor("noise of 3, bands, exposure, 4 Mbit/s", 3, 0.0, 0.02, 0.7, 4_000_000),
)


class OtherCamera(FileCamera):
    """A recorded camera whose pictures look as another sensor's, by a seed."""

    def __init__(self, path: Path, start_ns: int, sensor: Sensor, seed: int = 1) -> None:
        super().__init__(path, start_ns)
        self._sensor, self._seed, self._start_ns = sensor, seed, start_ns

    def frames(self) -> Iterator[Frame]:
        """Yield the pictures as the sensor gives them."""
        seen = Exposed(self._sensor, self._seed)
        for frame in super().frames():
            shown = frame.encodable(frame.index, BASE)
            planes = np.asarray(shown.to_ndarray(), np.uint8)
            height = shown.height
            planes[:height] = seen.luma(planes[:height], (frame.at_ns - self._start_ns) / 1e9)
            changed = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            changed.colorspace, changed.color_range = shown.colorspace, shown.color_range
            yield Frame(frame.index, frame.at_ns, changed)


class Exposed:
    """Lights, exposes and reads out the luma of one picture after another."""

    def __init__(self, sensor: Sensor, seed: int) -> None:
        self._sensor, self._random = sensor, np.random.default_rng([seed, 1])
        self._fields: NDArray[np.int16] | None = None
        self._gain, self._at_s, self._wanted = 1.0, 0.0, 0.0

    def luma(self, clean: NDArray[np.uint8], at_s: float) -> NDArray[np.uint8]:
        """Return ``(H, W)`` uint8 as the sensor gives it, ``at_s`` seconds after the start."""
        sensor, lit = self._sensor, clean.astype(np.float32)
        rows = np.arange(len(clean), dtype=np.float32)[:, None] / len(clean)
        phase = 2 * np.pi * LAMP_HZ * at_s
        if sensor.flicker:
            lit *= np.float32(1 + sensor.flicker * np.sin(phase))
        if sensor.bands:
            lit *= 1 + sensor.bands * np.sin(phase + 2 * np.pi * LAMP_HZ * READOUT_S * rows)
        if sensor.exposure:
            lit *= np.float32(self._exposure(float(lit.mean()), at_s))
        if sensor.noise:
            lit += self._noise(clean.shape)
        return np.asarray(np.clip(lit + 0.5, 0, 255), np.uint8)

    def _exposure(self, mean: float, at_s: float) -> float:
        """Follow the picture's mean as a camera does, with a delay."""
        self._wanted = self._wanted or mean
        goal = float((self._wanted / max(mean, 1.0)) ** self._sensor.exposure)
        self._gain += (goal - self._gain) * min(1.0, (at_s - self._at_s) / EXPOSURE_S)
        self._at_s = at_s
        return self._gain

    def _noise(self, shape: tuple[int, ...]) -> NDArray[np.int16]:
        height, width = shape
        if self._fields is None:
            field = self._random.normal(0, self._sensor.noise, (height + _SPARE, width + _SPARE))
            self._fields = np.rint(field).astype(np.int16)
        y, x = self._random.integers(0, _SPARE, 2)
        return self._fields[y : y + height, x : x + width]


class Counting:
    """A reader that counts what it is given to read."""

    def __init__(self, reader: CardReader) -> None:
        self._reader = reader
        self.parts = 0
        self.pictures = 0
        self._last: NDArray[np.uint8] | None = None

    @property
    def confident_p(self) -> float:
        """Probability from which a reading is certain."""
        return self._reader.confident_p

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        """Read as the other reader does."""
        self.parts += 1
        self.pictures += image is not self._last
        self._last = image
        return self._reader.read(image, card_width_px=card_width_px, region=region)


@dataclass(frozen=True, slots=True)
class Watched:
    """What came of one film."""

    replayed: Replayed
    parts: int
    pictures: int
    ms: float
    """Milliseconds a picture, of looking for change and reading."""

    @property
    def placed(self) -> list[CardSighted]:
        """The sightings that say that a card came to lie somewhere."""
        events = self.replayed.events
        return [e for e in events if isinstance(e, CardSighted) and e.change != "read"]

    @property
    def faults(self) -> int:
        """How often the camera was reported as faulty."""
        return sum(isinstance(e, CameraFault) for e in self.replayed.events)


def watched(sensor: Sensor, folder: Path, scratch: Path) -> Watched:
    """Replay a session with its film as a sensor gives it."""
    counting, stopwatch = Counting(Reader.load()), Stopwatch(elapsed_ns)
    with Journal.in_memory() as journal:
        found = replay(
            ReplayOptions(folder),
            journal,
            lambda: counting,
            stopwatch,
            opened=partial(_opened, sensor, scratch),
        )
    spent_ns = sum(stopwatch.spent_ns.get(stage, 0) for stage in ("detecting", "reading"))
    return Watched(
        found, counting.parts, counting.pictures, spent_ns / 1e6 / max(1, found.recording.frames)
    )


def _opened(sensor: Sensor, scratch: Path, folder: Path) -> Recording:
    recording = open_recording(folder)
    cameras = tuple(
        (camera, _filmed(sensor, scratch, folder, camera, recording.session.at))
        for camera, _ in recording.cameras
    )
    return replace(recording, cameras=cameras)


def _filmed(
    sensor: Sensor, scratch: Path, folder: Path, camera: CameraRecord, start_ns: int
) -> FileCamera:
    file = folder / camera.file
    if sensor == CLEAN:
        return FileCamera(file, start_ns)
    if not sensor.bit_rate:
        return OtherCamera(file, start_ns, sensor)
    streamed = scratch / f"film-{SENSORS.index(sensor)}.mp4"
    _encode(OtherCamera(file, 0, sensor), streamed, sensor.bit_rate)
    return FileCamera(streamed, start_ns)


def _encode(camera: FileCamera, file: Path, bit_rate: int) -> None:
    frames = camera.frames()
    encode((f.encodable(round(f.at_ns * 90_000 / 1e9), BASE) for f in frames), file, bit_rate)


def encode(pictures: Iterable[av.VideoFrame], file: Path, bit_rate: int) -> None:
    """Write pictures as a network camera streams them: a constant rate, no look-ahead.

    Their times count 90,000ths of a second.
    """
    rate = str(bit_rate)
    how = {"b": rate, "maxrate": rate, "bufsize": rate, "preset": "superfast"}
    how |= {"tune": "zerolatency", "g": "30"}
    with av.open(str(file), "w", format="mp4") as container:
        stream = None
        for picture in pictures:
            if stream is None:
                stream = container.add_stream("libx264", 15, how)
                stream.width, stream.height = picture.width, picture.height
                stream.pix_fmt, stream.codec_context.time_base = "yuv420p", BASE
            container.mux(stream.encode(picture))
        assert stream is not None
        container.mux(stream.encode(None))


@dataclass(frozen=True, slots=True)
class Beside:
    """The sightings of one film beside those of the clean one."""

    missed: int
    late: int
    more: int


def beside(clean: Sequence[CardSighted], other: Sequence[CardSighted]) -> Beside:
    """Pair two films' sightings by place and time, each once."""
    left, missed, late = list(other), 0, 0
    for one in clean:
        near = [each for each in left if _apart(one, each) < 1]
        if not near:
            missed += 1
            continue
        same = min(near, key=lambda each: _apart(one, each))
        left.remove(same)
        late += _told_ns(same) - _told_ns(one) > LATE_NS
    return Beside(missed, late, len(left))


def _apart(one: CardSighted, other: CardSighted) -> float:
    far = ((one.x_mm - other.x_mm) ** 2 + (one.y_mm - other.y_mm) ** 2) ** 0.5 / NEAR_MM
    late = abs(_told_ns(one) - _told_ns(other)) / NEAR_NS
    return float(max(far, late, one.face != other.face))


def _told_ns(sighted: CardSighted) -> int:
    """When it was told, from the start of the film: the time of its picture."""
    return round((sighted.frame or 0) * 1e9 / 15)


def claims(sensor: Sensor, found: Watched, clean: Watched) -> Iterator[Claim]:
    """Print what came of one film, and yield its figures."""
    frames, name = found.replayed.recording.frames, sensor.name
    counted = tally(found.replayed.comparisons or ())
    pairs, cards = beside(clean.placed, found.placed), len(clean.placed)
    print(
        f"{name:38} {counted.exact} of {counted.rounds} exact, {counted.wrong} wrong;"
        f" {found.pictures} of {frames} pictures looked at, {found.parts} parts;"
        f" of {cards} sightings {pairs.missed} missed, {pairs.late} late, {pairs.more} more;"
        f" {found.faults} faults; {found.ms:.1f} ms a picture",
        flush=True,
    )
    yield Claim(f"{name}: rounds exact", counted.exact, of=counted.rounds)
    yield Claim(f"{name}: wrong without a flag", counted.wrong, of=counted.rounds, most=0)
    yield Claim(f"{name}: pictures looked at", found.pictures, of=frames)
    if sensor != CLEAN:
        yield Claim(f"{name}: sightings missed", pairs.missed, of=cards)
        yield Claim(f"{name}: sightings late", pairs.late, of=cards)
        yield Claim(f"{name}: sightings that the clean film does not give", pairs.more)
        cost = f"{name}: time a picture, times that of the clean film"
        yield Claim(cost, round(found.ms / clean.ms, 2))


def main() -> None:
    """Replay every film, compare, print; leave with 1 where a round was wrong without a flag."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("session", nargs="?", type=Path, default=DEMO)
    parser.add_argument("--only", nargs="+", default=[""], help="parts of the sensors' names")
    add_option(parser)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        clean = watched(CLEAN, asked.session, Path(place))
        kept = [*claims(CLEAN, clean, clean)]
        for sensor in SENSORS:
            if any(part in sensor.name for part in asked.only):
                found = watched(sensor, asked.session, Path(place))
                kept += claims(sensor, found, clean)
    if asked.record:
        record("sensor_noise", kept, networks=NETWORKS)
    sys.exit(1 if any(claim.most == 0 and claim.value for claim in kept) else 0)


if __name__ == "__main__":
    main()
