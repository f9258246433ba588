"""``pitwatch calibrate``: from a picture to the pose that a session is watched with."""

import re
from pathlib import Path
from shutil import copytree

import cv2
import msgspec
import numpy as np
import pytest
from pyhanko.pdf_utils.reader import PdfFileReader

from models.decode import from_toml
from models.session import CameraPose
from server.commands.app import run
from server.process.stopwatch import Stopwatch
from server.table.comparison import tally
from server.table.replay import ReplayOptions, replay
from simulation.session import Settings, prepare, simulate
from stream.clock import ReplayClock
from stream.journal import Journal
from stream.recording import read_session
from tests.server.table.test_replay import TimedTruthReader
from tests.vision.stage import layout
from vision.felt import felt_of
from vision.markers import pattern
from vision.scenes.lens import Lens
from vision.scenes.look import Look

BENT = Settings(
    rounds=1,
    seed=4,
    spots=(1, 3),
    look=Look(
        width_px=1280,
        height_px=720,
        fps=10,
        noise_sigma=1.0,
        distortion=-0.25,
        tilt_deg=(2.0, -1.0),
        markers=True,
    ),
)


@pytest.fixture(scope="module")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(BENT, tmp_path_factory.mktemp("bent") / "session")


def test_a_session_filmed_through_a_bulging_lens_is_exact_by_the_pose_found(
    filmed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = copytree(filmed, tmp_path / "session")
    video, table = str(session / "overhead.mp4"), str(session / "layout.toml")
    assert run(["calibrate", video, table, "--session", str(session), "--json"]) == 0
    found = msgspec.json.decode(capsys.readouterr().out)
    assert found["error_mm"] < 1
    assert found["elevation_deg"] > 80
    assert 0 < found["chip_px"][0] <= found["chip_px"][1] < 1.5
    (camera,) = read_session(session).cameras
    assert camera.pose is not None
    assert camera.pose != Lens(layout(), BENT.look).pose()
    assert camera.pose.distortion[0] == pytest.approx(-0.25, abs=0.06)
    clock = ReplayClock(BENT.start_ns, None)
    reader = TimedTruthReader(prepare(BENT), camera, clock)
    with Journal.in_memory() as journal:
        replayed = replay(
            ReplayOptions(session), journal, lambda: reader, Stopwatch(lambda: 0), clock=clock
        )
    assert replayed.comparisons is not None
    assert tally(replayed.comparisons).exact == 1


def test_the_pose_is_written_as_a_file_and_drawn_over_the_picture(
    filmed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pose_file, drawn = tmp_path / "pose.toml", tmp_path / "drawn.png"
    video, table = str(filmed / "overhead.mp4"), str(filmed / "layout.toml")
    assert run(["calibrate", video, table, "--out", str(pose_file), "--picture", str(drawn)]) == 0
    assert "8 points agree within" in capsys.readouterr().out
    pose = from_toml(pose_file.read_text(), CameraPose, "pose.toml")
    places = np.array([(x, y) for x in (-800.0, 0.0, 800.0) for y in (100.0, 500.0, 900.0)])
    seen = Lens(layout(), BENT.look).project(places)
    assert np.hypot(*(felt_of(pose).to_mm(seen) - places).T).max() < 2
    picture = cv2.imread(str(drawn))
    assert picture is not None
    assert picture.shape == (720, 1280, 3)


def clicks(names: tuple[str, ...]) -> list[str]:
    spots = {f"circle-{s.spot}": (s.circle.x_mm, s.circle.y_mm) for s in layout().spots}
    line = layout().insurance_line
    spots |= {"line-left": line[0], "line-right": line[-1], "line-middle": line[len(line) // 2]}
    at = Lens(layout(), BENT.look).project(np.array([spots[name] for name in names]))
    return [f"{x:.1f},{y:.1f}={name}" for (x, y), name in zip(at, names, strict=True)]


EIGHT = (*(f"circle-{n}" for n in range(1, 6)), "line-left", "line-middle", "line-right")


def test_points_clicked_in_a_file_stand_for_markers(
    filmed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    points = tmp_path / "points.txt"
    points.write_text("# x, y = what\n" + "\n".join(clicks(EIGHT)) + "\n")
    video = str(filmed / "overhead.mp4")
    assert run(["calibrate", video, "five-spots", "--points", str(points), "--json"]) == 0
    found = msgspec.json.decode(capsys.readouterr().out)
    assert [point["name"] for point in found["points"]] == list(EIGHT)
    assert found["error_mm"] < 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        pytest.param(["--point", "12=circle-1"], "X,Y=NAME", id="no-place"),
        pytest.param(["--point", "1,2=moon"], "circle-1", id="no-such-point"),
        pytest.param(
            ["--point", "1,2=circle-1", "--point", "3,4=circle-1"], "given twice", id="twice"
        ),
        pytest.param(["--at", "4000"], "ends before", id="past-the-end"),
        pytest.param(["--out", "/nowhere/pose.toml"], "no such folder", id="no-place-to-write"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_line(
    filmed: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    assert run(["calibrate", str(filmed / "overhead.mp4"), "five-spots", *arguments]) == 2
    printed = capsys.readouterr()
    assert complaint in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_markers_are_printed_in_their_true_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "markers.pdf"
    assert run(["calibrate", "--print-markers", "five-spots", str(sheet)]) == 0
    capsys.readouterr()
    with sheet.open("rb") as file:
        reader = PdfFileReader(file)
        assert reader.root["/ViewerPreferences"]["/PrintScaling"] == "/None"
        pages = reader.root["/Pages"]["/Kids"]
        text = "\n".join(page.get_object()["/Contents"].data.decode() for page in pages)
    assert len(pages) == 4
    drawn = [
        tuple(map(float, found))
        for found in re.findall(r"([\d.]+) ([\d.]+) ([\d.]+) (-?[\d.]+) re f", text)
    ]
    wide_mm = [wide * 25.4 / 72 for _, _, wide, _ in drawn]
    assert max(wide_mm) == pytest.approx(100, abs=0.01)  # the line to check the print by
    frames = sum(abs(wide - 60) < 0.01 for wide in wide_mm)
    edges = sum(int(row.all()) for m in layout().markers for row in pattern("aruco-4x4", m.id))
    assert frames == edges


def test_markers_are_printed_as_pdf_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["calibrate", "--print-markers", "five-spots", str(tmp_path / "m.jpg")]) == 2
    assert ".pdf" in capsys.readouterr().err
