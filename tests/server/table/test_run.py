"""A live table whole: real ports, a real HTTP camera, and what was recorded replayed."""

import asyncio
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import av
import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from devices.cameras.file import FileCamera
from models.events import (
    CameraFault,
    CameraRecovered,
    ClockAnchored,
    ClockSynchronisation,
    Fact,
    Judgement,
    Observation,
    ProgramStated,
)
from models.judgements import AnyEvent, RoundResult, RoundSettled
from server.archive.incident import packed, round_asked
from server.process.exit_status import Exit
from server.process.program import this_program
from server.process.stopwatch import Stopwatch
from server.table.comparison import compare_sessions, tally
from server.table.config import Placed, layout_of, read_config, rules_of
from server.table.pipeline import Pipeline
from server.table.playing import Playing, played
from server.table.record import TableRecord
from server.table.replay import Replayed, ReplayOptions, replay
from server.table.resume import past_of, recall
from server.table.sources import open_recording
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from simulation.session import simulate
from stream.clock import ReplayClock
from stream.journal import Journal, verify_journal
from stream.reading import UnknownEvent, read_journal
from stream.recorded import hashed_in
from tests.devices.camera_servers import http_camera, jpeg_part, rtsp_camera, rtsp_lacks
from tests.server.archive.test_incident import checked
from tests.server.live_tables import SETTINGS, Run, TruthfulReader
from tests.server.table.test_recordings_hashed import is_of

pytestmark = pytest.mark.slow


def replay_of(recording: Path, playing: Playing) -> Replayed:
    """Replay what a live table recorded, read by the reader that read it live."""
    clock = ReplayClock(playing.start_ns)
    with Journal.in_memory() as journal:
        return replay(
            ReplayOptions(recording),
            journal,
            lambda: TruthfulReader(SETTINGS, playing, clock),
            Stopwatch(lambda: 0),
            clock=clock,
        )


def bare(result: RoundResult) -> RoundResult:
    """A round without the places of its entries in one journal or another."""
    violations = tuple(replace(one, seq=0) for one in result.violations)
    return replace(result, violations=violations, reviews=tuple(result.reviews or ()))


def go_on(journal: Journal, placed: Placed, to_come: Sequence[AnyEvent]) -> None:
    """Go on with what an earlier run left, and receive what it did not receive."""
    rules, layout = rules_of(placed), layout_of(placed)
    record = TableRecord(journal, lambda _: None)
    pipeline = Pipeline(
        placed.config.table,
        record,
        Reckoning(rules, layout, placed.config.dealing),
        Engine(rules),
        Stopwatch(lambda: 0),
    )
    past = past_of(journal)
    recall(past, pipeline, record)
    through_ns = past.end_ns
    for event in to_come:
        if isinstance(event, Observation):
            through_ns = max(through_ns, event.at or 0)
            pipeline.observe((replace(event, seq=None),), through_ns)
    for _ in range(500):
        through_ns += 20_000_000
        pipeline.observe((), through_ns)


def concluded(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """Facts and judgements without the places of entries in one journal or another."""
    found: list[AnyEvent] = []
    for event in events:
        match event:
            case Fact():
                found.append(replace(event, seq=None, evidence=()))
            case RoundSettled():
                found.append(replace(event, seq=None, because=(), result=bare(event.result)))
            case Judgement():
                found.append(replace(event, seq=None, because=()))
    return found


def observed(events: Sequence[AnyEvent]) -> list[AnyEvent]:
    """Observations without their places, nor when late ones arrived: each run has its own."""
    found = (event for event in events if isinstance(event, Observation))
    return [replace(event, seq=None, heard=None) for event in found]


@dataclass(frozen=True)
class Evening:
    """One session played live from its first card to its last."""

    run: Run
    playing: Playing
    journal: Path


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulate(SETTINGS, tmp_path_factory.mktemp("dealt") / "session")


@pytest.fixture(scope="module")
def evening(session: Path, tmp_path_factory: pytest.TempPathFactory) -> Evening:
    place = tmp_path_factory.mktemp("live")
    with played(session, place) as playing:
        run = Run(playing, SETTINGS, place / "table.journal")
        asyncio.run(run.until(lambda found: len(found.settled) == SETTINGS.rounds))
    return Evening(run, playing, place / "table.journal")


def test_a_live_round_settles_as_it_happened(evening: Evening) -> None:
    truth = evening.playing.recording.truth
    assert truth is not None
    comparisons = compare_sessions(truth, evening.run.settled)
    assert [one.differences for one in comparisons] == [()]
    assert tally(comparisons).exact == SETTINGS.rounds
    assert "1 round settled" in evening.run.line


def test_a_table_that_keeps_up_leaves_out_no_picture(evening: Evening) -> None:
    assert [one for one in evening.run.entries() if isinstance(one, CameraFault)] == []
    assert not any("OVERLOAD" in line or "left out" in line for line in evening.run.lines)
    assert "3 of 3 devices heard" in evening.run.line


def test_what_was_recorded_replays_to_what_settled_live(evening: Evening) -> None:
    assert evening.run.recording is not None
    replayed = replay_of(evening.run.recording, evening.playing)
    assert [bare(one) for one in replayed.rounds] == [bare(one) for one in evening.run.settled]
    assert replayed.recording.frames > 50


def test_every_byte_that_was_recorded_is_hashed_in_the_journal(evening: Evening) -> None:
    folder = evening.run.recording
    assert folder is not None
    entries = [one for one in hashed_in(evening.journal) if one.folder == folder.name]
    pieces = [piece for one in entries for piece in one.pieces]
    assert pieces
    for file in (*folder.glob("*.cap"), *folder.glob("*.mp4"), folder / "session.toml"):
        data = file.read_bytes()
        own = [piece for piece in pieces if piece.file == file.name]
        hashed = b"".join(data[one.from_byte : one.to_byte] for one in own if is_of(one, folder))
        assert hashed == data, file.name


def test_an_incident_of_a_live_round_is_proven_down_to_its_bytes(evening: Evening) -> None:
    assert evening.run.recording is not None
    asked = round_asked(evening.journal, 1, 0)
    data = packed(evening.run.recording, evening.journal, asked, 1)
    assert checked(data, Path("live")).recordings == ()


def test_a_run_broken_off_after_any_entry_comes_to_the_same(evening: Evening) -> None:
    with Journal.open(evening.journal) as journal:
        entries = list(journal.read())
    whole = [event for event in entries if not isinstance(event, UnknownEvent)]
    placed = read_config(evening.playing.config)
    for kept in range(len(entries) + 1):
        to_come = [event for event in entries[kept:] if not isinstance(event, UnknownEvent)]
        with Journal.in_memory() as journal:
            journal.append_all(replace(event, seq=None) for event in entries[:kept])
            go_on(journal, placed, to_come)
            again = [event for event in journal.read() if not isinstance(event, UnknownEvent)]
        assert concluded(again) == concluded(whole), f"broken off after entry {kept}"
        assert observed(again) == observed(whole)


def streamable(film: Path, target: Path) -> Path:
    """The film with a picture that stands alone twice a second, and twenty seconds of its end."""
    rate = round(SETTINGS.look.fps)
    frames = [frame.image for frame in FileCamera(film, 0).frames()]
    with av.open(str(target), "w", format="mp4") as container:
        coding = {"g": str(rate // 2), "bf": "0", "preset": "ultrafast"}
        stream = container.add_stream("libx264", rate=rate, options=coding)
        stream.width, stream.height = frames[0].shape[1], frames[0].shape[0]
        stream.pix_fmt = "yuv420p"
        for image in frames + 20 * rate * frames[-1:]:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="bgr24")))
        container.mux(stream.encode(None))
    return target


@pytest.mark.skipif(rtsp_lacks() is not None, reason=f"no {rtsp_lacks()}")
def test_a_round_over_rtsp_settles_as_it_happened(session: Path, tmp_path: Path) -> None:
    film = streamable(session / "overhead.mp4", tmp_path / "film.mp4")
    with rtsp_camera(film) as camera, played(session, tmp_path) as playing:
        text, found = re.subn(r"http://[^\"']*", camera.url, playing.config.read_text())
        assert found == 1
        playing.config.write_text(text)
        run = Run(playing, SETTINGS, tmp_path / "table.journal")
        asyncio.run(
            run.until(lambda found: len(found.settled) == SETTINGS.rounds, begun_ns=camera.begun_ns)
        )
    truth = playing.recording.truth
    assert truth is not None
    assert [one.differences for one in compare_sessions(truth, run.settled)] == [()]
    anchored = [one for one in run.entries() if isinstance(one, ClockAnchored)]
    assert "camera:overhead" in {one.source for one in anchored}, "its pictures bear its own time"


def test_a_table_stopped_in_the_middle_of_a_round_goes_on_with_it(
    session: Path, tmp_path: Path
) -> None:
    journal = tmp_path / "table.journal"
    with played(session, tmp_path) as playing:
        first = Run(playing, SETTINGS, journal)
        asyncio.run(first.until(lambda found: found.in_play() and found.cards() >= 3))
        assert first.settled == []
        second = Run(playing, SETTINGS, journal)
        asyncio.run(second.until(lambda found: len(found.settled) == 1, begin=False))
        (settled,) = second.settled
        assert settled.round == 1
        assert settled.status == "review", "what was not watched is for a person to decide"
    verified = verify_journal(journal)
    assert verified.sealed
    with Journal.open(journal) as written:
        kinds = [type(event).__name__ for event in written.read()]
    assert kinds.count("RoundOpened") == 1
    assert kinds.count("RoundSettled") == 1


def test_killed_and_then_stopped_it_keeps_every_entry_and_seals_its_journal(
    session: Path, tmp_path: Path
) -> None:
    with played(session, tmp_path) as playing:
        first = started(playing.config)
        wait_for(first, "3 of 3 devices heard")
        time.sleep(1)
        first.kill()
        first.communicate()
        journal = tmp_path / "BJ-01.journal"
        before = verify_journal(journal)
        assert not before.sealed
        assert before.entries >= 1
        second = started(playing.config)
        wait_for(second, "3 of 3 devices heard")
        time.sleep(1)
        second.send_signal(signal.SIGTERM)
        out, _ = second.communicate(timeout=20)
    assert second.returncode == Exit.CLEAN
    assert out == ""
    after = verify_journal(journal)
    assert after.sealed
    assert after.entries > before.entries
    entries = list(read_journal(journal))
    programs = [entry.program_hash for entry in entries if isinstance(entry, ProgramStated)]
    assert programs == [this_program().program_hash] * 2, "stated at each start"
    assert sum(isinstance(entry, ClockSynchronisation) for entry in entries) >= 2
    assert ProgramStated in {type(entry) for entry in entries[:3]}


def started(config: Path) -> subprocess.Popen[str]:
    """Start ``pitwatch run`` in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "server", "run", str(config), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process: subprocess.Popen[str], line: str) -> None:
    """Return once the process has printed a line that holds ``line``."""
    assert process.stderr is not None
    lines = []
    for text in process.stderr:
        lines.append(text)
        if line in text:
            return
    raise AssertionError("".join(lines))


@dataclass
class Stuck:
    """A camera's pictures of one scene, with the noise that every camera has until it freezes."""

    still: NDArray[np.uint8]
    frozen: threading.Event = field(default_factory=threading.Event)

    def pictures(self) -> Iterator[bytes]:
        noise, picture = np.random.default_rng(3), self.still
        while True:
            if not self.frozen.is_set():
                grain = noise.normal(0.0, 3.0, self.still.shape)
                picture = np.clip(self.still + grain, 0, 255).astype(np.uint8)
            yield jpeg_part(picture)
            time.sleep(0.05)


def test_a_frozen_picture_is_reported_and_the_table_goes_on(session: Path, tmp_path: Path) -> None:
    ((_, film),) = open_recording(session).cameras
    shown = Stuck(next(film.frames()).image)

    def has_reported(run: Run, kind: type[CameraFault | CameraRecovered]) -> bool:
        return any(isinstance(one, kind) and one.kind == "frozen" for one in run.entries())

    def recovered(run: Run) -> bool:
        if time.monotonic() > known_s and not has_reported(run, CameraFault):
            shown.frozen.set()
        elif has_reported(run, CameraFault):
            shown.frozen.clear()
        return has_reported(run, CameraRecovered)

    with played(session, tmp_path, record=False) as playing, http_camera(shown.pictures) as camera:
        url = read_config(playing.config).config.cameras[0].stream.url
        playing.config.write_text(playing.config.read_text().replace(url, camera.url))
        run = Run(playing, SETTINGS, tmp_path / "table.journal")
        known_s = time.monotonic() + 8
        asyncio.run(run.until(recovered, begin=False, within_s=60))
    assert verify_journal(tmp_path / "table.journal").sealed
