"""Session folders: read back as written, refused by file, line and field."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import InputRefused, InstallerError, TechnicianError
from models.events import RoundClosed, RoundOpened
from models.session import CameraRecord, ReferencePoint, SerialRecord, Session
from stream.library import layout_text
from stream.recording import (
    Capture,
    CaptureWriter,
    Chunk,
    read_capture,
    read_event_log,
    read_events,
    read_layout,
    read_session,
    write_capture,
    write_events,
    write_session,
)

CORNERS = tuple(
    ReferencePoint(x_px=x, y_px=y, x_mm=x - 960.5, y_mm=y)
    for x, y in ((0.0, 0.0), (1920.0, 0.0), (1920.0, 1080.0), (0.0, 1e-07))
)
SESSION = Session(
    table="BJ-07",
    rulebook="kansas-shoe",
    currency="USD",
    table_min=500,
    table_max=None,
    chips=(100, 500, 2500),
    layout="layout.toml",
    at=1_700_000_000_000_000_000,
    dealing="shoe",
    cameras=(
        CameraRecord(name="overhead", file="overhead.mp4", fps=29.97, reference_points=CORNERS),
    ),
    serial=(
        SerialRecord(port="shoe", driver="angel-eye", file="shoe.cap"),
        SerialRecord(port="plates", driver="plate", file="plates.cap"),
    ),
    console="console.jsonl",
)
FILES = ("overhead.mp4", "shoe.cap", "plates.cap", "console.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_session(tmp_path, SESSION)
    (tmp_path / "layout.toml").write_text(layout_text("seven-spots"), encoding="utf-8")
    for name in FILES:
        (tmp_path / name).touch()
    return tmp_path


def test_a_session_reads_back_as_written(folder: Path) -> None:
    assert read_session(folder) == SESSION


@pytest.mark.parametrize("missing", FILES)
def test_a_missing_recording_is_named(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(TechnicianError, match=re.escape(f"{folder / missing}: the recording is")):
        read_session(folder)


@pytest.mark.parametrize("missing", ["session.toml", "layout.toml"])
def test_a_missing_description_is_named(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(InstallerError, match=re.escape(str(folder / missing))):
        read_session(folder)


def test_a_wrong_field_is_refused_by_file_line_and_field(folder: Path) -> None:
    description = folder / "session.toml"
    text = description.read_text(encoding="utf-8")
    description.write_text(text.replace('"USD"', '"dollars"'), encoding="utf-8")
    with pytest.raises(InputRefused, match="currency") as refused:
        read_session(folder)
    assert refused.value.source == str(description)
    assert refused.value.line == text.splitlines().index('currency = "USD"') + 1


@pytest.mark.parametrize("name", ["no.toml", "a\\u0000b", ".", "overhead.mp4/x"])
def test_a_layout_that_is_no_file_is_named(folder: Path, name: str) -> None:
    description = folder / "session.toml"
    text = description.read_text(encoding="utf-8")
    description.write_text(text.replace("layout.toml", name), encoding="utf-8")
    with pytest.raises(InstallerError, match="there is no such file"):
        read_session(folder)


def test_an_impossible_layout_is_refused_with_the_reason(folder: Path) -> None:
    layout = folder / "layout.toml"
    text = layout.read_text(encoding="utf-8")
    layout.write_text(re.sub("depth_mm = .*", "depth_mm = 300.0", text), encoding="utf-8")
    with pytest.raises(InstallerError, match="leaves the felt"):
        read_layout(layout)


def test_a_description_that_is_no_text_is_refused(folder: Path) -> None:
    (folder / "session.toml").write_bytes(b'table = "\xff"')
    with pytest.raises(InputRefused, match="UTF-8"):
        read_session(folder)


@given(
    steps=st.lists(st.tuples(st.integers(0, 10**15), st.binary(min_size=1, max_size=20))),
)
def test_a_capture_reads_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, bytes]]
) -> None:
    file = tmp_path_factory.getbasetemp() / "shoe.cap"
    chunks = [Chunk(at_ns, data) for at_ns, data in sorted(steps)]
    write_capture(file, chunks)
    assert read_capture(file) == Capture(tuple(chunks), ())


def test_a_capture_is_on_its_way_to_disk_while_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "shoe.cap"
    with CaptureWriter(file) as writer:
        writer.add(Chunk(12, b"\x05\x31"))
        assert file.read_text(encoding="ascii") == "12 0531\n"


@pytest.mark.parametrize(
    ("line", "field"),
    [
        pytest.param("x 05", "ns", id="no-number"),
        pytest.param("-1 05", "ns", id="before-the-start"),
        pytest.param("11 05", "ns", id="steps-back"),
        pytest.param("1.5 05", "ns", id="fraction"),
        pytest.param("9" * 5000 + " 05", "ns", id="endless-number"),
        pytest.param("١٢ 05", "ns", id="other-digits"),
        pytest.param("20", "hex", id="no-bytes"),
        pytest.param("20 0", "hex", id="half-a-byte"),
        pytest.param("20 0g", "hex", id="no-hex"),
        pytest.param("20 05 \ufffd", "hex", id="no-ascii"),
    ],
)
def test_a_bad_line_costs_that_line_and_is_named_by_file_line_and_field(
    tmp_path: Path, line: str, field: str
) -> None:
    file = tmp_path / "shoe.cap"
    file.write_text(f"12 05\n\n{line}\n30 06\n31 07\n", encoding="utf-8")
    capture = read_capture(file)
    assert capture.chunks == (Chunk(12, b"\x05"), Chunk(30, b"\x06"), Chunk(31, b"\x07"))
    (lost,) = capture.lost
    assert (lost.offset_ns, lost.count) == (12, 1)
    assert lost.what.startswith(f"shoe.cap:3: field '{field}': expected ")
    assert len(lost.what) < 400


@pytest.mark.parametrize("late_ns", [95, 10**15])
def test_a_line_whose_time_is_ahead_costs_that_line_alone(tmp_path: Path, late_ns: int) -> None:
    file = tmp_path / "shoe.cap"
    times_ns = [*range(10, 60, 10), late_ns, *range(60, 200, 10)]
    file.write_text("".join(f"{at} 05\n" for at in times_ns))
    capture = read_capture(file)
    assert [chunk.offset_ns for chunk in capture.chunks] == [*range(10, 200, 10)]
    (lost,) = capture.lost
    assert lost.what.startswith("shoe.cap:6: field 'ns'")


def test_lost_lines_that_follow_each_other_are_one_loss(tmp_path: Path) -> None:
    file = tmp_path / "shoe.cap"
    file.write_text("10 05\nzz\n20\nzz\n30 05\nzz\n")
    assert [(one.offset_ns, one.count) for one in read_capture(file).lost] == [(10, 3), (30, 1)]


def test_a_file_without_one_sound_line_is_no_capture(tmp_path: Path) -> None:
    file = tmp_path / "shoe.cap"
    file.write_text("this is\nno capture\n")
    with pytest.raises(InputRefused, match=r"shoe\.cap:1"):
        read_capture(file)


def test_a_torn_line_of_recorded_events_costs_that_line(tmp_path: Path) -> None:
    file = tmp_path / "links.jsonl"
    events = [RoundOpened(round=1, at=5), RoundClosed(at=7)]
    write_events(file, events)
    first, second = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + b'{"type":"round_op\n' + second + second[:9])
    found, lost = read_event_log(file)
    assert list(found) == events
    assert [(one.offset_ns, one.what) for one in lost] == [
        (5, "links.jsonl:2: the line is torn"),
        (7, "links.jsonl:4: the line is torn"),
    ]


def test_a_missing_capture_is_reported(tmp_path: Path) -> None:
    with pytest.raises(TechnicianError, match=r"no\.cap"):
        read_capture(tmp_path / "no.cap")


def test_events_read_back_as_written(tmp_path: Path) -> None:
    file = tmp_path / "truth.jsonl"
    events = [RoundOpened(round=1, at=5), RoundClosed(seq=2)]
    write_events(file, events)
    assert list(read_events(file)) == events
    with file.open("ab") as lines:
        lines.write(b'{"type":"round_opened","round":0}\n')
    with pytest.raises(InputRefused, match=r"truth\.jsonl:3"):
        list(read_events(file))


def test_missing_events_are_reported(tmp_path: Path) -> None:
    with pytest.raises(TechnicianError, match=r"no\.jsonl"):
        list(read_events(tmp_path / "no.jsonl"))
