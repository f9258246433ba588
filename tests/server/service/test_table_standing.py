"""How a table stands: live, quiet or recorded; which devices are at fault, and which were."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from models.events import (
    CameraFault,
    CameraRecovered,
    DeviceReturned,
    Event,
    ProgramStated,
    ReaderFault,
    RoundOpened,
    ShoeCardRead,
)
from stream.clock import HostClock
from stream.files import JournalFiles
from stream.journal import Journal
from stream.store import at_rest
from tests.console.busy_floor import shifted
from tests.golden.sessions import heard
from tests.server.doubted import TRUE, play_blinded, table
from tests.server.service.house import House, house, until, write

SECOND_NS: Final = 1_000_000_000
HOUR_NS: Final = 3600 * SECOND_NS
CAMERA, SHOE = "camera:overhead", "shoe"


@contextmanager
def opened(folder: Path) -> Iterator[House]:
    with house(folder, folder / "state") as found:
        found.staff()
        yield found


def standing(at: House, name: str = "BJ-01") -> Any:
    with at.signed_in("pit") as pit:
        return at.get(pit, f"/api/tables/{name}")["now"]


def camera_fault(kind: str, at_ns: int = 20) -> CameraFault:
    return CameraFault(table="BJ-01", at=at_ns, source=CAMERA, kind=kind, detail="", frame=3)


def lost(kind: str = "link_lost") -> ReaderFault:
    return ReaderFault(table="BJ-01", at=20, source=SHOE, kind=kind, detail="")


def returned(source: str) -> DeviceReturned:
    return DeviceReturned(table="BJ-01", at=30, source=source, away_ns=10, tries=1)


def faults(tmp_path: Path, *events: Event) -> tuple[list[str], list[tuple[str, int]]]:
    """Return the faults that last, and how often others occurred."""
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    write(folder / "bj-01.journal", RoundOpened(at=1, table="BJ-01", round=1), *events)
    with opened(folder) as found:
        now = standing(found)
    lasting = [one["kind"] for one in now["troubles"]]
    return lasting, [(one["kind"], one["count"]) for one in now["passed"]]


@pytest.mark.parametrize(
    "kind", ["left_out", "damaged", "unwatched", "held_back_misfit", "a kind of a plug-in"]
)
def test_a_dropped_picture_is_counted_and_is_no_lasting_fault(tmp_path: Path, kind: str) -> None:
    one = camera_fault(kind)
    assert faults(tmp_path, one, one, returned(CAMERA)) == ([], [(kind, 2)])


def test_an_entry_that_stands_for_several_faults_counts_as_several(tmp_path: Path) -> None:
    several = replace(camera_fault("left_out"), count=25)
    assert faults(tmp_path, several, camera_fault("left_out")) == ([], [("left_out", 26)])
    noise = ReaderFault(table="BJ-01", at=20, source=SHOE, kind="checksum", detail="", count=7)
    assert faults(tmp_path, noise) == ([], [("checksum", 7)])


@pytest.mark.parametrize("kind", ["black", "overloaded"])
def test_a_table_that_starts_again_looks_at_its_pictures_anew(tmp_path: Path, kind: str) -> None:
    """A table that was killed has no word of the end; what still lasts is reported again."""
    again = ProgramStated(table="BJ-01", at=30, source="table", version="1", program_hash="")
    assert faults(tmp_path, camera_fault(kind), lost(), again) == (["link_lost"], [(kind, 1)])
    assert faults(tmp_path, camera_fault(kind), again, camera_fault(kind))[0] == [kind]


@pytest.mark.parametrize("kind", ["black", "moved", "obstructed", "overloaded"])
def test_a_picture_that_cannot_be_trusted_is_a_fault_until_it_recovers(
    tmp_path: Path, kind: str
) -> None:
    over = CameraRecovered(table="BJ-01", at=40, source=CAMERA, kind=kind, lasted_ns=20, frame=9)
    assert faults(tmp_path, camera_fault(kind)) == ([kind], [])
    assert faults(tmp_path, camera_fault(kind), over) == ([], [(kind, 1)])


def test_a_lost_device_is_at_fault_until_it_returns(tmp_path: Path) -> None:
    both = [lost(), lost("restarts_spent")]
    assert faults(tmp_path, *both) == (["link_lost", "restarts_spent"], [])
    passed = [("link_lost", 1), ("restarts_spent", 1)]
    assert faults(tmp_path, *both, returned(SHOE)) == ([], passed)


def test_a_lost_device_that_reads_again_has_returned(tmp_path: Path) -> None:
    """A table that was started again has no word of a return: its device just reads."""
    read = ShoeCardRead(table="BJ-01", at=30, source=SHOE, card=TRUE, draw=1, raw="")
    assert faults(tmp_path, lost(), read) == ([], [("link_lost", 1)])


def test_a_reading_of_one_device_does_not_bring_another_back(tmp_path: Path) -> None:
    read = ShoeCardRead(table="BJ-01", at=30, source=SHOE, card=TRUE, draw=1, raw="")
    assert faults(tmp_path, camera_fault("link_lost"), read)[0] == ["link_lost"]


def test_a_table_is_live_while_its_journal_is_written_in_its_own_time(tmp_path: Path) -> None:
    observed = shifted(heard("plain"), HostClock().now_ns())
    with Journal.create(tmp_path / "bj-01.journal") as journal:
        live = table(journal)
        for one in observed[:20]:
            live.observe((one.observation,), one.now_ns)
        with opened(tmp_path) as found:
            assert standing(found)["presence"] == "live"


def test_a_replayed_table_is_not_live(tmp_path: Path) -> None:
    """Its journal is written now, but its events happened long ago."""
    with Journal.create(tmp_path / "bj-01.journal") as journal:
        live = table(journal)
        for one in heard("plain")[:20]:
            live.observe((one.observation,), one.now_ns)
        with opened(tmp_path) as found:
            assert standing(found)["presence"] == "quiet"


def test_a_closed_journal_is_recorded_however_young(tmp_path: Path) -> None:
    write(tmp_path / "bj-01.journal", RoundOpened(at=HostClock().now_ns(), table="BJ-01", round=1))
    with opened(tmp_path) as found:
        assert standing(found)["presence"] == "recorded"


def test_a_journal_closed_while_it_was_read_is_recorded(tmp_path: Path) -> None:
    """A reader that opened it before and reads after it was closed leaves an empty log there."""
    path = tmp_path / "bj-01.journal"
    with ExitStack() as reading:
        with Journal.create(path) as journal:
            journal.append(RoundOpened(at=10, table="BJ-01", round=1))
            reader = reading.enter_context(closing(at_rest(path)))
        reader.execute("SELECT count(*) FROM entries").fetchone()
    assert JournalFiles(path).log.exists()
    with opened(tmp_path) as found:
        assert standing(found)["presence"] == "recorded"


def test_deciding_an_old_item_does_not_make_its_table_look_new(tmp_path: Path) -> None:
    with Journal.create(tmp_path / "old.journal") as journal:
        play_blinded(journal, "BJ-01")
    newer = shifted(heard("plain"), heard("plain")[-1].now_ns + HOUR_NS)
    with Journal.create(tmp_path / "new.journal") as journal:
        live = table(journal, "BJ-01")
        for one in newer:
            live.observe((one.observation,), one.now_ns)
        live.finish()
    with opened(tmp_path) as found, found.signed_in("surveillance") as officer:
        before = found.get(officer, "/api/sessions/old")
        path = "/api/incidents/old.1/reviews/0/decision"
        sent = officer.post(path, json={"decision": "chosen", "choice": str(TRUE)})
        assert sent.status_code == 200, sent.text
        after = found.get(officer, "/api/sessions/old")
        assert after["last_seq"] > before["last_seq"]
        assert after["last_at"] == before["last_at"]
        assert found.get(officer, "/api/tables/BJ-01")["now"]["session"] == "new"


def test_a_journal_that_cannot_be_read_from_its_start_is_shown_under_its_name(
    tmp_path: Path,
) -> None:
    (tmp_path / "bj-30.journal").write_bytes(b"this is no journal")
    with opened(tmp_path) as found, found.signed_in("pit") as pit:
        until(lambda: found.get(pit, "/api/tables"))
        (table,) = found.get(pit, "/api/tables")
        assert (table["table"], table["now"]["state"]) == ("bj-30", "unreadable")
        assert "bj-30.journal" in standing(found, "bj-30")["fault"]


def test_a_fault_at_the_end_of_a_recording_alerts_nobody(tmp_path: Path) -> None:
    with opened(tmp_path) as found, found.signed_in("engineer") as engineer:

        def alerted(number: int) -> bool:
            line = f'pitwatch_session_faults{{session="bj-01"}} {number}.0'
            return line in engineer.get("/metrics").text

        with Journal.create(tmp_path / "bj-01.journal") as journal:
            journal.append_all([RoundOpened(at=1, table="BJ-01", round=1), lost()])
            until(lambda: alerted(1))
        until(lambda: alerted(0))
    assert standing_lost(tmp_path) == ["link_lost"]


def test_prometheus_gets_an_overload_and_its_pictures(tmp_path: Path) -> None:
    with opened(tmp_path) as found, found.signed_in("engineer") as engineer:

        def metered(overloaded: int, left_out: int) -> bool:
            lines = (
                f'pitwatch_session_overloaded{{session="bj-01"}} {overloaded}.0',
                f'pitwatch_session_pictures_left_out{{session="bj-01"}} {left_out}.0',
            )
            text = engineer.get("/metrics").text
            return all(line in text for line in lines)

        with Journal.create(tmp_path / "bj-01.journal") as journal:
            journal.append(RoundOpened(at=1, table="BJ-01", round=1))
            until(lambda: metered(0, 0))
            several = replace(camera_fault("left_out"), count=26)
            journal.append_all([camera_fault("overloaded"), several])
            until(lambda: metered(1, 26))
        until(lambda: metered(0, 26))


def test_prometheus_gets_the_faces_that_cameras_hold_back(tmp_path: Path) -> None:
    kinds = ("held_back_misfit", "held_back_print", "damaged")
    events = [RoundOpened(at=1, table="BJ-01", round=1), *map(camera_fault, kinds)]
    write(tmp_path / "bj-01.journal", *events)
    with opened(tmp_path) as found, found.signed_in("engineer") as engineer:
        line = 'pitwatch_session_faces_held_back{session="bj-01"} 2.0'
        until(lambda: line in engineer.get("/metrics").text)


def standing_lost(folder: Path) -> list[str]:
    """Return the faults of BJ-01 that lasted to the end, as another service reports them."""
    with house(folder, folder / "another state") as found:
        found.staff()
        return [one["kind"] for one in standing(found)["troubles"]]
