"""How soon a camera's faults are reported, and how many reports are false.

``python -m lab.bench.camera_health --seeds 4`` films sessions, each with its own deck, felt,
camera pose, light and noise, watches them as they are, and again with one fault after another
put into the pictures from a moment on. Prints when each was told, by which kind of event, and
every fault told that was not there.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Final, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.cameras.file import FileCamera
from models.events import CameraFault
from models.layout import TableLayout, middle
from simulation.session import Scene, Settings, prepare, simulate
from stream.clock import elapsed_ns
from stream.recording import read_layout, read_session
from tests.vision.painted import Painted
from tests.vision.truth_reader import TruthReader
from vision.felt import Felt, locate
from vision.scenes.decks import deck_ids
from vision.scenes.look import varied_look
from vision.watch import Observed, Watcher

Image: TypeAlias = NDArray[np.uint8]
Damage: TypeAlias = Callable[[Image, "Damaged"], Image]

SECOND: Final = 1_000_000_000
LINGERS_S: Final = 8.0
WAITS_S: Final = 3.0
"""A fault that is not told within this was missed."""


@dataclass
class Damaged:
    """What a fault needs to know of the picture it is put into."""

    felt: Felt
    layout: TableLayout
    chance: np.random.Generator
    stuck: Image | None = None


def black(image: Image, into: Damaged) -> Image:
    return _noisy(np.full_like(image, 4), into)


def overexposed(image: Image, into: Damaged) -> Image:
    return np.asarray(cv2.convertScaleAbs(image, alpha=6, beta=90), np.uint8)


def frozen(image: Image, into: Damaged) -> Image:
    into.stuck = image if into.stuck is None else into.stuck
    return into.stuck


def unfocused(image: Image, into: Damaged) -> Image:
    sigma = 2.0 * into.felt.px_per_mm(0, into.layout.depth_mm / 2)
    return _noisy(np.asarray(cv2.GaussianBlur(image, (0, 0), sigma), np.uint8), into)


def far_out_of_focus(image: Image, into: Damaged) -> Image:
    sigma = 6.0 * into.felt.px_per_mm(0, into.layout.depth_mm / 2)
    return _noisy(np.asarray(cv2.GaussianBlur(image, (0, 0), sigma), np.uint8), into)


def _knock(x_mm: float, y_mm: float, turn_deg: float) -> Damage:
    def knocked(image: Image, into: Damaged) -> Image:
        height, width = image.shape[:2]
        scale = into.felt.px_per_mm(0, into.layout.depth_mm / 2)
        turned = cv2.getRotationMatrix2D((width / 2, height / 2), turn_deg, 1.0)
        shifted = np.column_stack([np.zeros((2, 2)), np.array([x_mm, y_mm]) * scale])
        onto = np.asarray(turned, np.float64) + shifted
        warped = cv2.warpAffine(image, onto, (width, height), borderMode=cv2.BORDER_REFLECT)
        return np.asarray(warped, np.uint8)

    return knocked


def jacket(image: Image, into: Damaged) -> Image:
    """Something hangs before the lens and hides two thirds of the picture."""
    hidden = image.copy()
    hidden[:, : image.shape[1] * 2 // 3] = (70, 55, 50)
    return _noisy(hidden, into)


def paper(image: Image, into: Damaged) -> Image:
    """A menu lies where a spot's cards are dealt."""
    spot = into.layout.spots[len(into.layout.spots) // 2]
    x, y = middle(spot.cards)
    sheet = np.array(
        [(x - 105, y - 148), (x + 105, y - 148), (x + 105, y + 148), (x - 105, y + 148)]
    )
    laid = image.copy()
    cv2.fillPoly(laid, [into.felt.to_px(sheet).astype(np.int32)], (205, 210, 214))
    return laid


def hands_on_markers(image: Image, into: Damaged) -> Image:
    """Hands and a card cover half of the marks at the rim: nothing is wrong."""
    covered = image.copy()
    for spot in into.layout.spots[::2]:
        x, y = spot.circle.x_mm, spot.circle.y_mm
        hand = np.array([(x - 90, y - 60), (x + 90, y - 60), (x + 90, y + 90), (x - 90, y + 90)])
        cv2.fillPoly(covered, [into.felt.to_px(hand).astype(np.int32)], (120, 150, 205))
    return covered


DAMAGES: Final[dict[str, tuple[Damage | None, str | None]]] = {
    "nothing": (None, None),
    "hands on the marks": (hands_on_markers, None),
    "black": (black, "black"),
    "overexposed": (overexposed, "overexposed"),
    "frozen": (frozen, "frozen"),
    "out of focus, 2 mm": (unfocused, "unfocused"),
    "out of focus, 6 mm": (far_out_of_focus, "unfocused"),
    "knocked 3 mm": (_knock(3.0, 0.0, 0.0), "moved"),
    "knocked 40 mm": (_knock(-25.0, 31.0, 0.0), "moved"),
    "turned 0.3 degrees": (_knock(0.0, 0.0, 0.3), "moved"),
    "turned 4 degrees": (_knock(10.0, 5.0, 4.0), "moved"),
    "jacket over two thirds": (jacket, "obstructed"),
    "menu on a spot's cards": (paper, "covered"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """The reports of one film: the delay of the fault put in, and faults that were not there."""

    delay_s: float | None
    false: tuple[str, ...]
    health_ms: float


def watched(folder: Path, scene: Scene, name: str, onset_s: float, until_s: float) -> Told:
    """Watch one film with a fault from ``onset_s`` on."""
    damage, kind = DAMAGES[name]
    (camera,) = read_session(folder).cameras
    layout = read_layout(folder / "layout.toml")
    felt = locate(camera.view, where=name)
    reader = TruthReader(scene.staged.performance, felt)
    watcher = Watcher(reader, layout, camera.view, "overhead", stopwatch_ns=elapsed_ns)
    into = Damaged(felt, layout, np.random.default_rng(1))
    events: list[Observed] = []
    for frame in FileCamera(folder / camera.file, 0).frames():
        if frame.at_ns > until_s * SECOND:
            break
        reader.now_ns = frame.at_ns
        if damage is None or frame.at_ns < onset_s * SECOND:
            events += watcher.see(frame)
        else:
            events += watcher.see(Painted(frame.index, frame.at_ns, damage(frame.image, into)))
    faults = [event for event in events if isinstance(event, CameraFault)]
    right = [f for f in faults if f.kind == kind and (f.at or 0) >= onset_s * SECOND]
    return Told(
        delay_s=((right[0].at or 0) / SECOND - onset_s) if right else None,
        false=tuple(f"{f.kind} at {(f.at or 0) / SECOND:.1f} s" for f in faults if f not in right),
        health_ms=watcher.spent.health_ns / max(watcher.spent.frames, 1) / 1e6,
    )


def _noisy(image: Image, into: Damaged) -> Image:
    grain = into.chance.normal(0, 2.0, image.shape[:2])[..., None]
    return np.clip(image + grain, 0, 255).astype(np.uint8)


def films(arguments: argparse.Namespace, place: Path) -> Iterator[tuple[Path, Scene]]:
    """Film each seed, markers stuck to the felt of every second."""
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        look = replace(varied_look(seed, decks=deck_ids()), markers=bool(seed % 2))
        settings = Settings(rounds=1, seed=seed, look=look)
        folder = (arguments.keep or place) / f"health-{seed}"
        yield folder if folder.exists() else simulate(settings, folder), prepare(settings)


def main() -> None:
    """Film, damage, watch, print."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("--seeds", type=int, default=4)
    ask.add_argument("--first", type=int, default=7001)
    ask.add_argument("--onset", type=float, default=9.0, help="second in which a fault begins")
    ask.add_argument("--keep", type=Path, help="keep the films here, and use those that are")
    ask.add_argument("--only", nargs="*", default=list(DAMAGES), choices=list(DAMAGES))
    arguments = ask.parse_args()
    delays: dict[str, list[float | None]] = {name: [] for name in arguments.only}
    watched_s, false, health_ms = 0.0, [], []
    with tempfile.TemporaryDirectory() as scratch:
        for folder, scene in films(arguments, Path(scratch)):
            length_s = scene.staged.performance.duration_ns / SECOND
            for name in arguments.only:
                _, kind = DAMAGES[name]
                whole = kind is None
                waits_s = WAITS_S + (LINGERS_S if kind == "covered" else 0.0)
                until_s = length_s if whole else arguments.onset + waits_s
                told = watched(folder, scene, name, arguments.onset, until_s)
                delays[name].append(told.delay_s)
                watched_s += until_s if whole else arguments.onset
                health_ms.append(told.health_ms)
                false += [f"{folder.name}, {name}: {fault}" for fault in told.false]
    for name, found in delays.items():
        if DAMAGES[name][1] is not None:
            print(f"{name:26}{_said(found)}")
    print(
        f"false alarms: {len(false)} in {watched_s / 60:.1f} minutes of dealing", *false, sep="\n"
    )
    print(f"a frame costs {median(health_ms):.2f} ms (median over the films)")


def _said(delays: list[float | None]) -> str:
    known = sorted(delay for delay in delays if delay is not None)
    if not known:
        return f"reported in 0 of {len(delays)}"
    late = f"after {median(known):.2f} s, worst {known[-1]:.2f} s"
    return f"reported in {len(known)} of {len(delays)}, {late}"


if __name__ == "__main__":
    main()
