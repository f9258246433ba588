"""`/metrics` reports the clocks of the tables' machines."""

from pathlib import Path

from models.events import ClockAnchored, ClockCompared, ClockSynchronisation, RoundOpened, SyncState
from server.readmodel.clock_standing import ClockStanding, followed
from stream.journal import Journal
from tests.server.service.house import House, house, until

SECOND = 1_000_000_000
MS = 1_000_000


def anchored(source: str = "clock") -> ClockAnchored:
    return ClockAnchored(source=source, table="BJ-01", at=10, wall_ns=10, step_ns=0)


def compared(apart_ns: int, step_ns: int = 0) -> ClockCompared:
    return ClockCompared(
        source="clock", table="BJ-01", at=20, wall_ns=20, apart_ns=apart_ns, step_ns=step_ns
    )


def synchronised(state: SyncState) -> ClockSynchronisation:
    return ClockSynchronisation(source="clock", table="BJ-01", at=20, state=state)


def clock_metrics(at: House) -> dict[str, float]:
    """The metrics of the one table's clock, by the ends of their names."""
    with at.signed_in("engineer") as engineer:
        lines = engineer.get("/metrics").text.splitlines()
    start, end = "pitwatch_session_clock_", '{session="bj-01"} '
    found = (line.removeprefix(start).split(end) for line in lines if line.startswith(start))
    return {name: float(value) for name, value in found}


def test_it_is_reported_during_the_session_and_by_a_service_that_starts_later(
    tmp_path: Path,
) -> None:
    with Journal.create(tmp_path / "bj-01.journal") as journal:
        journal.append_all([RoundOpened(at=1, table="BJ-01", round=1), anchored()])
        journal.append_all([synchronised("unsynchronised"), compared(250 * MS, 250 * MS)])
        with house(tmp_path, tmp_path / "state") as found:
            found.staff()
            until(
                lambda: (
                    clock_metrics(found)
                    == {"synchronised": 0.0, "offset_seconds": 0.25, "steps": 1.0}
                )
            )
        journal.append(synchronised("synchronised"))
        with house(tmp_path, tmp_path / "state") as found:
            until(
                lambda: (
                    clock_metrics(found)
                    == {"synchronised": 1.0, "offset_seconds": 0.25, "steps": 1.0}
                )
            )


def test_a_closed_table_and_a_journal_without_clock_entries_report_no_clock(
    tmp_path: Path,
) -> None:
    with house(tmp_path, tmp_path / "state") as found:
        found.staff()
        with Journal.create(tmp_path / "bj-01.journal") as journal:
            journal.append(RoundOpened(at=1, table="BJ-01", round=1))
            until(lambda: clock_metrics(found) == {"steps": 0.0})
            journal.append(synchronised("unknown"))
            until(lambda: clock_metrics(found) == {"synchronised": 0.0, "steps": 0.0})
        until(lambda: clock_metrics(found) == {})


def test_steps_add_up_over_starts_and_a_camera_s_clock_is_another() -> None:
    standing = ClockStanding()
    for event in (compared(0, -5 * SECOND), anchored(), compared(20 * MS), anchored("camera:a")):
        standing = followed(standing, event)
    assert standing == ClockStanding(None, 20 * MS, 1)
