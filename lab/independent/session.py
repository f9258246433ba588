"""An independent session's folder: the plan's sensors and truth, with a film from this renderer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import av
import cv2
import numpy as np

from lab.bench.sensor_noise import BASE, Exposed, Sensor, encode
from lab.independent.cloth import deck_sheet
from lab.independent.film import FPS, Film
from lab.independent.jobs import Props
from lab.independent.renderer import Renderer
from lab.independent.room import Room, room
from models.session import CameraRecord
from simulation.session import Scene, Settings, prepare, write_folder

ART: Final = Path(__file__).parents[2] / "vision" / "scenes" / "art"
BIT_RATE: Final = 4_000_000  # of a usual camera's stream, bits a second
THREADS: Final = 2
CAMERA: Final = "overhead"

Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What one independent session holds.

    Attributes:
        room: the seed of its room; sessions of one room share what was rendered of it.
        seed: of the cards, the wagers and the hands.
        deck: the id of a shipped deck: no network learnt from any.
    """

    room: int
    seed: int
    deck: str
    rounds: int
    spots: tuple[int, ...]

    @property
    def name(self) -> str:
        """The folder's name."""
        spots = "".join(map(str, self.spots))
        return f"session-{self.room}-{self.seed}-{self.deck}-{self.rounds}-{spots}"

    def scene(self) -> tuple[Settings, Scene]:
        """Deal and stage the session."""
        settings = Settings(rounds=self.rounds, seed=self.seed, spots=self.spots)
        return settings, prepare(settings)


def filmed_session(wanted: Wanted, cache: Path, tell: Told | None = None) -> Path:
    """Return the folder of a session; what is missing of it is rendered first."""
    folder = cache.absolute() / wanted.name
    if folder.exists():
        return folder
    settings, scene = wanted.scene()
    seen = room(wanted.room, scene.layout.width_mm, scene.layout.depth_mm)

    def filmed(part: Path) -> tuple[CameraRecord, ...]:
        _shoot(wanted, scene, seen, cache.absolute(), part / f"{CAMERA}.mp4", tell)
        record = CameraRecord(name=CAMERA, file=f"{CAMERA}.mp4", fps=FPS, pose=seen.pose())
        return (record,)

    return write_folder(settings, scene, folder, filmed)


def film_of(wanted: Wanted, scene: Scene, seen: Room, cache: Path) -> tuple[Film, Renderer]:
    """Return the plan of a session's film, and the renderer of its room."""
    sheet = cache / "decks" / f"{wanted.deck}.png"
    if not sheet.exists():
        sheet.parent.mkdir(parents=True, exist_ok=True)
        deck_sheet(ART / f"{wanted.deck}.webp", sheet)
    props = Props(seen, scene.layout, sheet)
    own = cache / f"room-{wanted.room}"
    return Film(props, scene.staged.performance), Renderer(props.setting(own, THREADS), cache, own)


def _shoot(
    wanted: Wanted, scene: Scene, seen: Room, cache: Path, file: Path, tell: Told | None
) -> None:
    film, renderer = film_of(wanted, scene, seen, cache)
    with renderer:
        renderer.render(film.jobs(), tell)
        encode(_sensed(film, renderer, seen, wanted.seed), file, BIT_RATE)


def _sensed(film: Film, renderer: Renderer, seen: Room, seed: int) -> Iterator[av.VideoFrame]:
    """Yield a film's frames as the room's camera gives them."""
    sensor = Sensor(CAMERA, noise=seen.noise, bands=seen.bands, exposure=seen.exposure)
    exposed = Exposed(sensor, seed)
    for number, picture in enumerate(film.pictures(renderer)):
        planes = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2YUV_I420), np.uint8)
        height = picture.shape[0]
        planes[:height] = exposed.luma(planes[:height], number / FPS)
        frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
        frame.pts, frame.time_base = number * BASE.denominator // FPS, BASE
        yield frame
