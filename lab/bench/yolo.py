"""What reading a table costs beside a plain detector: ``python -m lab.bench.yolo``.

Watches a 1080p session and, in the same run and on as many threads, gives every so many-th of
its frames to YOLO26n at 640, 960 and 1280 pixels, as ``ultralytics`` exports it to ONNX. The
detector's weights are random where none are given: what it costs hangs on its architecture, not
on what it has learnt. Needs the ``train`` extra; without it, it says so and ends.
"""

import argparse
import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter_ns, process_time_ns

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.cameras.file import FileCamera
from devices.cameras.frame import Frame
from server.process.stopwatch import Stopwatch
from server.table.replay import ReplayOptions, replay
from simulation.session import Scene, Settings, prepare, simulate
from stream.clock import elapsed_ns
from stream.journal import Journal
from tests.vision.scoring import Event, Shows, score
from vision.inference import THREADS, InferenceSession, open_session
from vision.reader import Reader
from vision.scenes.film import Hands, reference_points
from vision.watch import Watcher

SIZES_PX = (640, 960, 1280)
GREY = 114


@dataclass(frozen=True)
class Rival:
    """YOLO26n at one size: the picture letterboxed into ``width_px`` by ``height_px``."""

    name: str
    width_px: int
    height_px: int
    session: InferenceSession

    def read(self, image: NDArray[np.uint8]) -> None:
        """Find what there is in a picture; what is found is nobody's."""
        scale = min(self.width_px / image.shape[1], self.height_px / image.shape[0])
        size = (round(image.shape[1] * scale), round(image.shape[0] * scale))
        canvas = np.full((self.height_px, self.width_px, 3), GREY, np.uint8)
        canvas[: size[1], : size[0]] = cv2.resize(image, size, interpolation=cv2.INTER_LINEAR)
        planes = cv2.cvtColor(canvas, cv2.COLOR_BGR2RGB).transpose(2, 0, 1)[None]
        given = np.ascontiguousarray(planes, np.float32) / np.float32(255)
        self.session.run(None, {self.session.get_inputs()[0].name: given})


@dataclass
class Spent:
    """Nanoseconds of every frame read: by the clock, and of all threads together."""

    clock_ns: list[int] = field(default_factory=list)
    threads_ns: list[int] = field(default_factory=list)

    @contextlib.contextmanager
    def frame(self) -> Iterator[None]:
        """Count the block as one more frame."""
        clock, threads = perf_counter_ns(), process_time_ns()
        yield
        self.clock_ns.append(perf_counter_ns() - clock)
        self.threads_ns.append(process_time_ns() - threads)

    def __str__(self) -> str:
        clock, threads = np.array(self.clock_ns) / 1e6, np.array(self.threads_ns) / 1e6
        return (
            f"{clock.mean():7.1f} ms a frame, 99th percentile {np.percentile(clock, 99):.0f}, "
            f"worst {clock.max():.0f}; of processor {threads.mean():.1f} ms, worst "
            f"{threads.max():.0f}"
        )

    def times(self, other: "Spent") -> str:
        """Say how many times another's cost this is."""
        clock = np.mean(self.clock_ns) / np.mean(other.clock_ns)
        threads = np.mean(self.threads_ns) / np.mean(other.threads_ns)
        return f"{clock:.1f} times ours by the clock, {threads:.1f} times of processor"


@dataclass
class Costs:
    """What every frame cost, by who read it, and the events with their moments.

    Attributes:
        told: events with the time of the frame that told them.
        done: events with that time and what reading the frame took.
    """

    ours: Spent = field(default_factory=Spent)
    rivals: dict[str, Spent] = field(default_factory=dict)
    told: list[tuple[int, Event]] = field(default_factory=list)
    done: list[tuple[int, Event]] = field(default_factory=list)
    shown: Shows | None = None


def rivals(weights: Path | None) -> Iterator[Rival]:
    """Export the detector at each size: square, as it is by default, and cut to 16:9."""
    for size in SIZES_PX:
        for name, height in ((f"{size} square", size), (f"{size} 16:9", -(-size * 9 // 512) * 32)):
            yield Rival(name, size, height, _exported(weights, size, height))


def _exported(weights: Path | None, width_px: int, height_px: int) -> InferenceSession:
    from ultralytics import YOLO  # noqa: PLC0415 - only the train extra brings it

    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        with contextlib.redirect_stdout(None):
            model = YOLO(str(weights) if weights else "yolo26n.yaml")
            file = model.export(
                format="onnx", imgsz=(height_px, width_px), simplify=False, verbose=False
            )
        return open_session(Path(file).read_bytes(), allow_spinning=True)


def watch(folder: Path, scene: Scene, against: list[Rival], every: int) -> Costs:
    """Watch a session's film; the rivals look at each ``every``-th of its frames in between."""
    points = reference_points(scene.layout, scene.look)
    watcher = Watcher(Reader.load(), scene.layout, points, "overhead")
    costs = Costs(rivals={rival.name: Spent() for rival in against})
    hands = Hands(scene.staged.performance, scene.layout, scene.look)
    shown = Shows(scene.staged.performance, watcher.felt, hands)
    for frame in FileCamera(folder / "overhead.mp4", 0).frames():
        with costs.ours.frame():
            news = watcher.see(frame)
        costs.told += [(frame.at_ns, event) for event in news]
        costs.done += [(frame.at_ns + costs.ours.clock_ns[-1], event) for event in news]
        shown.look(frame)
        if frame.index % every == 0:
            _rivals_read(frame, against, costs)
    costs.shown = shown
    return costs


def _rivals_read(frame: Frame, against: list[Rival], costs: Costs) -> None:
    image = frame.image
    for rival in against:
        with costs.rivals[rival.name].frame():
            rival.read(image)


def report(costs: Costs, scene: Scene) -> None:
    """Print the costs a frame and how long events take."""
    print(f"{len(costs.ours.clock_ns)} frames of 1080p, decoding aside; {THREADS} threads each")
    print(f"  ours                {costs.ours}")
    for name, spent in costs.rivals.items():
        print(f"  YOLO26n {name:<12}{spent}: {spent.times(costs.ours)}")
    assert costs.shown is not None
    for what, events in (("its event's frame", costs.told), ("its event", costs.done)):
        found = score(events, scene.staged.performance, scene, costs.shown)
        for since, waits in (("at rest", found.shown_ms), ("uncovered too", found.bare_ms)):
            late = np.array(waits)
            print(
                f"from a card's first frame {since} to {what}, {len(late)} cards: median "
                f"{np.percentile(late, 50):.0f} ms, 99th percentile {np.percentile(late, 99):.0f} "
                f"ms, worst {late.max():.0f} ms"
            )


def replay_whole(folder: Path) -> None:
    """Replay the session as a whole and print its speed and the share of decoding."""
    stopwatch = Stopwatch(elapsed_ns)
    began = elapsed_ns()
    with Journal.in_memory() as journal:
        replayed = replay(ReplayOptions(folder), journal, Reader.load, stopwatch)
    taken = elapsed_ns() - began
    decoding = stopwatch.spent_ns["decoding"]
    print(
        f"whole replay: {replayed.duration_ns / taken:.1f} times as fast as the video plays; "
        f"decoding is {decoding / taken:.0%} of it, the rest {taken / decoding - 1:.1f} times that"
    )


def main() -> None:
    """Film, watch beside the rivals, replay, print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--rounds", type=int, default=2)
    ask.add_argument(
        "--every",
        type=int,
        default=20,
        help="so many-th frames go to the detectors too; every frame costs them the same",
    )
    ask.add_argument("--film", type=Path, help="this seed's session where it was filmed before")
    ask.add_argument("--weights", type=Path, help="a trained YOLO26n; default: random weights")
    asked = ask.parse_args()
    os.environ |= {"YOLO_OFFLINE": "true", "YOLO_AUTOINSTALL": "false", "YOLO_VERBOSE": "false"}
    try:
        against = list(rivals(asked.weights))
    except ModuleNotFoundError as missing:
        print(f"{missing.name} is not installed: this bench needs the train extra. Skipped.")
        return
    print(f"detector's weights: {asked.weights or 'random (its architecture is what costs)'}")
    settings = Settings(seed=asked.seed, rounds=asked.rounds)
    with tempfile.TemporaryDirectory() as place:
        folder = asked.film or simulate(settings, Path(place) / "session")
        scene = prepare(settings)
        report(watch(folder, scene, against, asked.every), scene)
        replay_whole(folder)


if __name__ == "__main__":
    main()
