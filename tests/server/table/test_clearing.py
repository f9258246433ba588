"""A table's recordings on the disk: what its journal says of their age decides what goes."""

import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
import pytest

from models.events import ClockChecked
from server.archive.incident import hold
from server.commands.app import run
from server.commands.journal import state_clock_checked
from server.process.exit_status import Exit
from server.table.clearing import Clearing
from server.table.config import Recorder
from server.table.decision_requests import socket_of
from server.table.recorder import HOLD_FILE, HOLDS
from stream.ages import Ages
from stream.clock import HostClock
from stream.drift import watch_sync
from stream.journal import Journal, verify_journal
from stream.proven_time import EvidenceRemoved
from stream.reading import entries_of
from stream.recorded import RecordingHashed
from stream.recording import SESSION_FILE
from tests.server.table.test_clock_at_restart import started, table
from tests.stream.machines import DAY, HOUR, YEAR, Machine, S

TABLE = "BJ-07"
ROOMY = Recorder(folder="", keep_days=14, most_gb=1.0)
TIGHT = Recorder(folder="", keep_days=3650, most_gb=1e-7)
"""Room for 100 bytes."""


class Recorded(Machine):
    """A machine whose table records, and leaves its journal and its recordings in a folder."""

    folder: Path

    def record(self, size_bytes: int = 10) -> str:
        """Leave a session folder, named as the table's clock has it."""
        name = f"{TABLE}-{self.now_ns}"
        (self.folder / name).mkdir()
        (self.folder / name / SESSION_FILE).write_text("x" * size_bytes)
        self.made(name)
        return name

    def record_after(self, time_ns: int) -> str:
        self.run(time_ns)
        return self.record()

    def made(self, name: str) -> None:
        self.entries.append(RecordingHashed(at=self.now_ns, folder=name, pieces=()))

    def going(self, recorder: Recorder = ROOMY, writing: str = "") -> list[str]:
        path = self.folder / "BJ-07.journal"
        path.unlink(missing_ok=True)
        with Journal.create(path) as journal:
            journal.append_all(self.entries)
            clearing = Clearing(self.folder, TABLE, recorder, path)
            return [one.name for one in clearing.decide({writing}, self.now_ns).going]


@pytest.fixture
def machine(tmp_path: Path) -> Recorded:
    made = Recorded()
    made.folder = tmp_path
    return made


@pytest.mark.parametrize("by_ns", [HOUR, -HOUR, DAY, -DAY, 30 * DAY, -30 * DAY, YEAR, -YEAR])
def test_recordings_minutes_old_stay_whatever_clock_the_next_start_has(
    machine: Recorded, by_ns: int
) -> None:
    machine.run(2 * DAY)
    for _ in range(4):
        machine.record()
        machine.run(HOUR - 60 * S)
    machine.jump(by_ns)
    machine.start()
    current = machine.record()
    for hours in (0, 1, 26):
        machine.run(hours * HOUR)
        assert machine.going(writing=current) == []


def test_held_ones_stay_in_either_way(machine: Recorded) -> None:
    own, beside, free, newest = (machine.record_after(DAY) for _ in range(4))
    (machine.folder / own / HOLD_FILE).write_text("incident 7")
    (machine.folder / HOLDS).mkdir()
    hold(machine.folder / beside, "incident 8")
    assert [path.name for path in (machine.folder / beside).glob(HOLD_FILE)] == []
    machine.run(20 * DAY)
    assert machine.going() == [free]
    assert newest not in machine.going(TIGHT)


def test_for_room_the_oldest_goes_first_by_the_journal_and_not_by_its_name(
    machine: Recorded,
) -> None:
    machine.jump(YEAR)
    machine.start()
    first = machine.record(60)
    machine.jump(-YEAR)
    machine.start()
    machine.run(HOUR)
    second = machine.record(60)
    machine.run(HOUR)
    current = machine.record(10)
    assert max(first, second, current) == first, "its name is from next year"
    assert machine.going(TIGHT, writing=current) == [first]
    assert machine.going(TIGHT, writing=first) == [second]


def test_another_tables_recordings_stay_and_count(machine: Recorded) -> None:
    other = machine.folder / "BJ-08-1"
    other.mkdir()
    (other / SESSION_FILE).write_text("x" * 200)
    (machine.folder / "notes").mkdir()
    own = machine.record()
    machine.run(HOUR)
    machine.record()
    assert machine.going(TIGHT) == [own]


def test_one_from_before_the_journal_counts_from_its_beginning(machine: Recorded) -> None:
    old = machine.record()
    machine.run(HOUR)
    machine.record()
    machine.entries[:] = [one for one in machine.entries if getattr(one, "folder", "") != old]
    machine.run(13 * DAY)
    assert machine.going() == []
    machine.run(DAY)
    assert machine.going() == [old]


# --- a live table ---------------------------------------------------------------------------


class Hall:
    """A live table that is started now and then, on a machine whose clocks a test sets."""

    def __init__(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._file, self.recordings = file, file.parent / "recordings"
        self.journal = file.parent / "BJ-07.journal"
        self.passed_ns = self.ahead_ns = 0
        wall, uptime = time.time_ns, time.clock_gettime_ns
        monkeypatch.setattr(
            "stream.clock.time.time_ns", lambda: wall() + self.passed_ns + self.ahead_ns
        )
        monkeypatch.setattr(
            "stream.clock.time.clock_gettime_ns", lambda clock: uptime(clock) + self.passed_ns
        )
        in_time = partial(watch_sync, state_of=lambda: "synchronised")
        monkeypatch.setattr("server.table.live.watch_sync", in_time)
        monkeypatch.setattr("server.table.live._BEGIN_TIDY_NS", 500_000_000)

    def run(self) -> None:
        assert started(self._file) == Exit.CLEAN

    def recorded(self) -> list[str]:
        return sorted(place.name for place in self.recordings.iterdir())

    def removed(self) -> list[EvidenceRemoved]:
        found = entries_of(self.journal, (EvidenceRemoved,))
        return [msgspec.json.decode(body, type=EvidenceRemoved) for _, body in found]


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hall]:
    with table(tmp_path, "warn") as file:
        yield Hall(file, monkeypatch)


def test_a_start_with_the_clock_thirty_days_ahead_removes_nothing(hall: Hall) -> None:
    for _ in range(2):
        hall.run()
    before = hall.recorded()
    hall.ahead_ns = 30 * DAY
    hall.run()
    assert set(before) < set(hall.recorded())
    assert hall.removed() == []


def test_what_goes_is_an_entry_of_its_tables_journal(hall: Hall) -> None:
    hall.run()
    (first,) = hall.recorded()
    for _ in range(3):
        hall.passed_ns += 5 * DAY
        hall.run()
    assert first not in hall.recorded()
    assert len(hall.recorded()) == 3
    (gone,) = hall.removed()
    assert (gone.name, gone.rule, gone.table) == (first, "keep_days = 14", TABLE)
    assert 0 <= gone.age_ns - 15 * DAY < HOUR
    assert gone.size_bytes > 0
    assert verify_journal(hall.journal).entries > (gone.seq or 0)


def test_a_person_tells_a_running_table_that_its_clock_is_right(
    hall: Hall, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["journal", "clock-checked", str(hall.journal), "--by", "ann"]
    assert run(asked) == Exit.REFUSED
    assert "no table writes this journal" in capsys.readouterr().err

    def tell() -> None:
        while not socket_of(hall.journal).exists():
            time.sleep(0.01)
        state_clock_checked(hall.journal, "ann", as_json=False)

    person = threading.Thread(target=tell)
    person.start()
    hall.run()
    person.join()
    (said,) = entries_of(hall.journal, (ClockChecked,))
    assert msgspec.json.decode(said[1], type=ClockChecked).source == "console:ann"
    ages = Ages(hall.journal)
    ages.follow()
    assert ages.time.doubt(HostClock().now_ns()) is None
