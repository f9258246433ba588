"""A machine that cannot keep up says so at once, while it lasts, and afterwards."""

import asyncio
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

from models.events import (
    CameraFault,
    CameraRecovered,
    Event,
    Observation,
    ProgramStated,
)
from models.house import House
from server.commands.run import _Printer
from server.house.device_faults import device_faults
from server.house.formatting import Formats
from server.table.config import read_config
from server.table.overload import CALM_NS, Overload
from server.table.playing import played
from server.table.sources import open_recording
from server.table.status import Standing
from simulation.session import simulate
from tests.devices.camera_servers import http_camera, jpeg_part
from tests.server.live_tables import SETTINGS, Run

pytestmark = pytest.mark.slow

SOURCE = "camera:overhead"
SECOND_NS = 1_000_000_000


def left_out(at_ns: int, count: int = 1) -> CameraFault:
    return CameraFault(
        source=SOURCE, at=at_ns, kind="left_out", detail="", frame=at_ns, count=count
    )


def overloaded(at_ns: int = 0) -> CameraFault:
    return CameraFault(source=SOURCE, at=at_ns, kind="overloaded", detail="too many", frame=1)


def recovered(lasted_ns: int) -> CameraRecovered:
    return CameraRecovered(source=SOURCE, at=1, kind="overloaded", lasted_ns=lasted_ns, frame=1)


# --- one overload, by time ----------------------------------------------------------------


def test_it_begins_with_the_first_picture_left_out_and_once() -> None:
    overload = Overload()
    (begun,) = overload.begun_by(left_out(5))
    assert (begun.kind, begun.source, begun.at) == ("overloaded", SOURCE, 5)
    assert [*overload.begun_by(left_out(5 + CALM_NS - 1))] == []


def test_nothing_else_begins_one() -> None:
    damaged = CameraFault(source=SOURCE, at=1, kind="damaged", detail="", frame=1)
    assert [*Overload().begun_by(damaged)] == []


def test_it_is_over_once_the_pictures_of_a_while_were_all_read() -> None:
    overload = Overload()
    assert [*overload.begun_by(left_out(0)), *overload.begun_by(left_out(7))] != []
    assert [*overload.over_with(SOURCE, 7 + CALM_NS - 1, 1)] == []
    assert [*overload.over_with("camera:other", 7 + CALM_NS, 1)] == []
    (over,) = overload.over_with(SOURCE, 7 + CALM_NS, 2)
    assert (over.kind, over.lasted_ns, over.at) == ("overloaded", 7, 7 + CALM_NS)
    assert [*overload.over_with(SOURCE, 9 * CALM_NS, 3)] == []
    assert len([*overload.begun_by(left_out(9 * CALM_NS))]) == 1


# --- a real table under a real load -------------------------------------------------------


@dataclass
class Load:
    """A machine that is busy until enough pictures were left out."""

    run: Run
    busy_s: float = 0.4
    begun: list[Event] = field(default_factory=list)

    def is_over(self, run: Run) -> bool:
        """Put the load on the machine, take it off, and say whether the table recovered."""
        seen = [one for one in run.entries() if isinstance(one, CameraFault | CameraRecovered)]
        reports = sum(one.kind == "left_out" for one in seen)
        run.busy_s = self.busy_s if reports < 3 else 0.0
        return any(isinstance(one, CameraRecovered) for one in seen)


def noisy_pictures() -> Iterator[bytes]:
    """Ten pictures a second of an empty felt, without end."""
    noise = np.random.default_rng(3)
    still = np.full((360, 640, 3), 90.0)
    parts = [
        jpeg_part((still + noise.normal(0.0, 3.0, still.shape)).astype(np.uint8)) for _ in range(9)
    ]
    while True:
        for part in parts:
            yield part
            time.sleep(0.1)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A table whose machine was too busy for a while, as its shoe dealt."""
    place = tmp_path_factory.mktemp("overload")
    session = simulate(SETTINGS, place / "session")
    with played(session, place) as playing, http_camera(noisy_pictures) as camera:
        url = read_config(playing.config).config.cameras[0].stream.url
        playing.config.write_text(playing.config.read_text().replace(url, camera.url))
        found = Run(playing, SETTINGS, place / "table.journal")
        asyncio.run(found.until(Load(found).is_over, within_s=90))
    return found


def of_overload(events: object) -> list[CameraFault | CameraRecovered]:
    kinds = ("overloaded", "left_out")
    assert isinstance(events, tuple)
    return [
        one
        for one in events
        if isinstance(one, CameraFault | CameraRecovered) and one.kind in kinds
    ]


def test_it_is_journalled_from_its_beginning_to_its_end(run: Run) -> None:
    begun, *during, over = of_overload(run.entries())
    assert isinstance(begun, CameraFault)
    assert begun.kind == "overloaded"
    assert {one.kind for one in during} == {"left_out"}
    assert isinstance(over, CameraRecovered)
    assert begun.at == during[0].at
    assert over.lasted_ns == (during[-1].at or 0) - (begun.at or 0)
    assert (over.at or 0) - (during[-1].at or 0) >= CALM_NS


def test_the_status_line_says_it_while_it_lasts_and_how_many_afterwards(run: Run) -> None:
    during = [line for line in run.lines if f"OVERLOAD: {SOURCE}" in line]
    assert during
    assert not any("heard" in line for line in during)
    assert re.search(r"\d+ pictures? left out", during[-1])
    assert "OVERLOAD" not in run.line
    number = sum(one.count for one in of_overload(run.entries()) if isinstance(one, CameraFault))
    assert f"devices heard · {number - 1} pictures left out" in run.line


def test_a_replay_of_its_recording_tells_it_too(run: Run) -> None:
    assert run.recording is not None
    recording = open_recording(run.recording)
    kinds = [(type(one), one.kind) for one in of_overload(run.entries())]
    assert [(type(one), one.kind) for one in of_overload(recording.links)] == kinds
    (fault,) = device_faults(recording.links, recording.session.at)
    assert re.search(r"\d+ pictures left out: the machine could not keep up", fault.what)
    assert "fewer or smaller pictures" in fault.way_out


# --- what is printed ----------------------------------------------------------------------


def printed(capsys: pytest.CaptureFixture[str], *events: Observation) -> list[str]:
    printer = _Printer(Formats(House()), as_json=False)
    for event in events:
        printer.take(event)
    return capsys.readouterr().err.splitlines()


def test_run_prints_its_beginning_with_the_way_out_and_its_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    begun, over = printed(capsys, overloaded(), left_out(1), recovered(12 * SECOND_NS))
    assert begun.startswith(f"OVERLOAD of {SOURCE}: too many. ")
    for setting in ("fps", "size", "url", "cameras.stream"):
        assert setting in begun
    assert over == f"overload of {SOURCE} over after 12 s"


def test_a_table_that_starts_again_counts_anew() -> None:
    standing = Standing((SOURCE,))
    for event in (overloaded(), left_out(1, 26)):
        standing.take(event)
    assert f"OVERLOAD: {SOURCE} · 26 pictures left out" in standing.line(Formats(House()))
    standing.take(ProgramStated(source="table", at=2, version="1", program_hash="", networks={}))
    assert "0 of 1 device heard" in standing.line(Formats(House()))
    assert "left out" not in standing.line(Formats(House()))
