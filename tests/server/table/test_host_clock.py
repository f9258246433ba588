"""A host's clock that cannot be trusted: shown on the status line, refused where the house asks."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from models.errors import TechnicianError
from models.events import ClockAnchored, ClockCompared, ClockSynchronisation, Event, SyncState
from server.commands.app import run
from server.house.formatting import Formats
from server.process.exit_status import Exit
from server.table.config import Placed, read_config
from server.table.host_clock import check_not_before, check_synchronised, stepped_back
from server.table.status import Standing
from tests.server.table.test_run_config import EXAMPLE, example

SECOND = 1_000_000_000
END = 1_700_000_000 * SECOND


def placed(clock: str) -> Placed:
    found = read_config(EXAMPLE)
    return Placed(found.file, replace(found.config, clock=clock))


@pytest.mark.parametrize("state", ["unsynchronised", "unknown"])
def test_a_house_that_requires_a_synchronised_clock_gets_no_table_without(
    state: SyncState,
) -> None:
    check_synchronised(placed("warn"), state)
    check_synchronised(placed("require"), "synchronised")
    with pytest.raises(TechnicianError, match="chrony"):
        check_synchronised(placed("require"), state)


def test_run_refuses_in_one_line_and_makes_no_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = example(tmp_path, ("# clock = ", "clock = "))
    monkeypatch.setattr("server.commands.run.kernel_sync", lambda: "unsynchronised")
    assert run(["run", str(file)]) == Exit.REFUSED
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pitwatch: {file}: the host's clock is not synchronised")
    assert list(tmp_path.iterdir()) == [file]


def test_it_does_not_go_on_with_a_journal_whose_last_entry_is_yet_to_come() -> None:
    check_not_before(placed("require"), END, END)
    check_not_before(placed("warn"), END - 90 * SECOND, END)
    with pytest.raises(TechnicianError, match=r"90\.0 s behind the journal's last entry"):
        check_not_before(placed("require"), END - 90 * SECOND, END)


def anchored(at_ns: int) -> ClockAnchored:
    return ClockAnchored(source="clock", at=at_ns, wall_ns=at_ns, step_ns=0)


def test_a_clock_set_back_between_two_runs_is_recorded_as_a_step() -> None:
    assert stepped_back(anchored(END), END) is None
    back = stepped_back(anchored(END - 5 * SECOND), END)
    assert back is not None
    assert back.step_ns == -5 * SECOND


def line(*events: Event) -> str:
    standing = Standing(("shoe",))
    for event in events:
        standing.take(event)
    return standing.line(Formats())


def test_the_status_line_shows_what_is_wrong_with_the_clock() -> None:
    def sync(state: SyncState) -> ClockSynchronisation:
        return ClockSynchronisation(source="clock", at=END, state=state)

    stepped = ClockCompared(source="clock", at=END, wall_ns=END, apart_ns=0, step_ns=-3 * SECOND)
    assert "CLOCK" not in line(sync("synchronised"))
    assert "CLOCK NOT SYNCHRONISED" in line(sync("unsynchronised"))
    assert "CLOCK" not in line(sync("unsynchronised"), sync("synchronised"))
    assert "CLOCK STEPPED -3.0 s" in line(stepped)
    assert "CLOCK" not in line(stepped, anchored(END)), "another run"
