"""A small filmed session, from pixels and bytes to payouts, by a reader that knows the truth."""

import re
from pathlib import Path
from shutil import copytree

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace as changed
from numpy.typing import NDArray

from models.events import CameraFault, Observation
from models.session import CameraRecord
from server.commands.replay import exit_for, facts_of, faults_of
from server.house.rulebooks import rules_for
from server.process.exit_status import Exit
from server.process.stopwatch import Stopwatch
from server.table.comparison import tally
from server.table.replay import Replayed, ReplayOptions, replay
from simulation.session import Scene, Settings, prepare, simulate
from stream.clock import Clock, ReplayClock
from stream.journal import Journal
from stream.recording import read_session
from tests.server.evenings import settle_file
from tests.vision.truth_reader import TruthReader
from vision.change import Rect
from vision.felt import locate
from vision.scenes.look import Look
from vision.sightings import Sightings

SETTINGS = Settings(
    rounds=1,
    seed=4,
    spots=(1, 3),
    look=Look(width_px=960, height_px=540, fps=10, noise_sigma=1.0),
)


class TimedTruthReader:
    """A reader that knows what was filmed and looks at the clock."""

    confident_p = 0.98

    def __init__(self, scene: Scene, camera: CameraRecord, clock: Clock) -> None:
        felt = locate(camera.view, where="test")
        self._truth = TruthReader(scene.staged.performance, felt)
        self._clock = clock

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        self._truth.now_ns = self._clock.now_ns() - SETTINGS.start_ns
        return self._truth.read(image, card_width_px=card_width_px, region=region)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(SETTINGS, tmp_path_factory.mktemp("recorded") / "session")


def play(
    session: Path,
    *,
    settings: Settings = SETTINGS,
    speed: float | None = None,
    pictures: bool = False,
) -> Replayed:
    (camera,) = read_session(session).cameras
    clock = ReplayClock(SETTINGS.start_ns, speed)
    reader = TimedTruthReader(prepare(settings), camera, clock)
    with Journal.in_memory() as journal:
        return replay(
            ReplayOptions(session, pictures=pictures),
            journal,
            lambda: reader,
            Stopwatch(lambda: 0),
            clock=clock,
        )


@pytest.fixture(scope="module")
def replayed(recorded: Path) -> Replayed:
    return play(recorded, pictures=True)


def judged(replayed: Replayed) -> bytes:
    """Facts, violations, settlements, reviews and ledger, as journalled."""
    events = (event for event in replayed.events if not isinstance(event, Observation))
    return b"\n".join(msgspec.json.encode(event) for event in events)


def test_every_round_is_settled_as_it_happened(replayed: Replayed) -> None:
    assert replayed.comparisons is not None
    assert [one.differences for one in replayed.comparisons] == [()]
    assert tally(replayed.comparisons).exact == SETTINGS.rounds


def test_pieces_of_pictures_are_kept_of_what_was_sighted(replayed: Replayed) -> None:
    assert replayed.jpegs
    assert all(jpeg.startswith(b"\xff\xd8") for jpeg in replayed.jpegs.values())


def test_replayed_again_and_at_a_hundred_times_its_speed_it_comes_to_the_same_bytes(
    recorded: Path, replayed: Replayed
) -> None:
    again, hurried = play(recorded), play(recorded, speed=100)
    assert judged(again) == judged(replayed) == judged(hurried)
    assert again.head == replayed.head == hurried.head


def test_noise_on_the_line_is_journalled_and_costs_no_card(
    recorded: Path, tmp_path: Path, replayed: Replayed
) -> None:
    noisy = copytree(recorded, tmp_path / "noisy")
    lines = (noisy / "shoe.cap").read_text().splitlines()
    first_ns = int(lines[0].split()[0])
    (noisy / "shoe.cap").write_text("\n".join([f"{first_ns // 2} 00ff7e13", *lines]) + "\n")
    found = play(noisy)
    (fault,) = faults_of(found)
    assert fault.where == "shoe"
    assert "could not be read" in fault.what
    assert found.rounds == replayed.rounds
    assert exit_for(replayed) is Exit.CLEAN
    assert exit_for(found) is Exit.FINDINGS


@pytest.mark.parametrize(
    ("file", "source", "torn"),
    [
        ("shoe.cap", "shoe", "12345 05zz"),
        ("shoe.cap", "shoe", "9000000000000 0531"),
        ("plates.cap", "plate", "8123 4"),
        ("console.jsonl", "console", '{"type":"console_ent'),
    ],
)
def test_a_torn_or_misplaced_line_costs_that_line(
    recorded: Path, tmp_path: Path, replayed: Replayed, file: str, source: str, torn: str
) -> None:
    harmed = copytree(recorded, tmp_path / "harmed")
    lines = (harmed / file).read_text().splitlines()
    (harmed / file).write_text("\n".join([*lines[:3], torn, *lines[3:]]) + "\n")
    found = play(harmed)
    (fault,) = faults_of(found)
    line = min(len(lines), 3) + 1
    assert fault.where == source
    assert f"1 line of the recording lost (the first: {file}:{line}: " in fault.what
    assert exit_for(found) is Exit.FINDINGS
    told = [(one.round, one.spots) for one in replayed.rounds]
    assert [(one.round, one.spots) for one in found.rounds] == told
    assert not any(one.mistakes for one in found.rounds)


@pytest.mark.parametrize("by_s", [4, -4])
def test_a_camera_whose_clock_is_off_is_named_once(
    recorded: Path, tmp_path: Path, by_s: int
) -> None:
    """The ports' reports lie later or earlier beside the film; nothing certain comes of it."""
    off = copytree(recorded, tmp_path / "off")
    for file in (off / "shoe.cap", off / "plates.cap"):
        lines = [line.split() for line in file.read_text().splitlines()]
        moved = [f"{max(0, int(at) + by_s * 10**9)} {data}\n" for at, data in lines]
        file.write_text("".join(moved))
    found = play(off)
    named = [one for one in found.events if isinstance(one, CameraFault)]
    assert [one.kind for one in named] == ["clock"]
    way = "behind" if by_s > 0 else "ahead of"
    told = re.fullmatch(
        rf"the clock of camera:overhead is about (.+) s {way} the shoe's", named[0].detail
    )
    assert told is not None
    assert abs(float(told.group(1)) - 4) < 0.5
    (fault,) = faults_of(found)
    assert fault.where == "camera:overhead"
    assert named[0].detail in fault.what
    assert not any(one.mistakes for one in found.rounds)
    asked = [review.what for one in found.rounds for review in one.reviews or ()]
    assert len(asked) == len(found.rounds)
    assert all("clock" in what for what in asked)


def test_bet_plates_that_reported_nothing_are_a_fault(recorded: Path, tmp_path: Path) -> None:
    """Without a wager no round opens: nothing would say that cards were dealt."""
    silent = copytree(recorded, tmp_path / "silent")
    (silent / "plates.cap").write_text("")
    found = play(silent)
    (fault,) = faults_of(found)
    assert fault.where == "plates"
    assert exit_for(found) is Exit.FINDINGS


def test_the_facts_that_it_writes_settle_to_the_same_rounds(
    replayed: Replayed, tmp_path: Path
) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_bytes(facts_of(replayed))
    settled = settle_file(str(file), rules_for("kansas-shoe"))
    assert [changed(result, reviews=()) for result in settled] == list(replayed.rounds)
