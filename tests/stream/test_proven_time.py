"""Evidence goes by its age only where two clocks prove it, however wrong the wall clock is."""

from collections.abc import Callable, Iterable
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.events import ClockAnchored, Event, SyncState
from stream.ages import BackupMade
from stream.proven_time import Evidence, ProvenTime, Verdict, expired, followed
from tests.stream.machines import DAY, HOUR, YEAR, Machine, S

KEEP_DAYS: Final = 14
JUMPS: Final = (HOUR, -HOUR, DAY, -DAY, 30 * DAY, -30 * DAY, YEAR, -YEAR)


def read(entries: Iterable[Event]) -> tuple[ProvenTime, dict[str, int]]:
    """What a journal proves, and when it first named each recording."""
    time, made_ns = ProvenTime(), dict[str, int]()
    for entry in entries:
        time = followed(time, entry)
        if isinstance(entry, BackupMade):
            made_ns.setdefault(entry.folder, time.at(entry.at or 0))
    return time, made_ns


def verdict(machine: Machine) -> Verdict:
    time, made_ns = read(machine.entries)
    made = [Evidence(name, at_ns, 1) for name, at_ns in made_ns.items()]
    return expired(made, KEEP_DAYS, time, machine.now_ns)


def gone(machine: Machine) -> list[str]:
    return [one.name for one in verdict(machine).going]


def test_what_is_old_goes_with_its_age_and_the_rule() -> None:
    machine = Machine()
    machine.made("a")
    machine.run(13 * DAY)
    machine.made("b")
    assert gone(machine) == []
    machine.run(2 * DAY)
    (one,) = verdict(machine).going
    assert (one.name, one.rule, one.age_ns) == ("a", "keep_days = 14", 15 * DAY)


@pytest.mark.parametrize("by_ns", JUMPS)
def test_a_clock_that_is_wrong_at_a_start_removes_nothing_recorded_minutes_ago(by_ns: int) -> None:
    machine = Machine()
    machine.run(3 * DAY)
    for name in "abcd":
        machine.run(60 * S)
        machine.made(name)
    machine.jump(by_ns)
    machine.start()
    for _ in range(26):
        assert gone(machine) == []
        machine.run(HOUR)
    assert gone(machine) == []
    machine.run(11 * DAY)
    assert gone(machine) == []
    machine.run(3 * DAY)
    assert gone(machine) == [*"abcd"], "it goes on once the time has truly passed"


@pytest.mark.parametrize("by_ns", JUMPS)
@pytest.mark.parametrize("restarted", [False, True], ids=["in-a-run", "before-a-start"])
def test_nothing_goes_for_a_day_after_a_jump(by_ns: int, restarted: bool) -> None:
    machine = Machine()
    machine.made("a")
    machine.run(20 * DAY)
    assert gone(machine) == ["a"]
    machine.jump(by_ns)
    if restarted:
        machine.start()
    else:
        machine.run(10 * S)
    for _ in range(23):
        machine.run(HOUR)
        assert gone(machine) == []
    found = verdict(machine)
    assert found.staying == 1
    assert "the clock jumped by" in found.why
    machine.run(2 * HOUR)
    assert gone(machine) == ["a"]


@pytest.mark.parametrize("by_ns", JUMPS)
def test_what_was_recorded_while_the_clock_was_wrong_is_not_older_once_it_is_right(
    by_ns: int,
) -> None:
    machine = Machine()
    machine.jump(by_ns)
    machine.start()
    machine.run(2 * DAY)
    machine.made("a")
    machine.jump(-by_ns)
    machine.start()
    machine.run(2 * DAY)
    assert gone(machine) == []
    machine.run(13 * DAY)
    assert gone(machine) == ["a"]


@pytest.mark.parametrize("state", ["unsynchronised", "unknown"])
def test_nothing_goes_while_the_clock_is_not_synchronised(state: SyncState) -> None:
    machine = Machine()
    machine.made("a")
    machine.run(20 * DAY)
    machine.sync(state)
    machine.run(20 * DAY)
    assert gone(machine) == []
    machine.sync("synchronised")
    machine.run(23 * HOUR)
    assert "the clock was not synchronised" in verdict(machine).why
    machine.run(2 * HOUR)
    assert gone(machine) == ["a"]


def test_a_new_run_removes_nothing_before_it_states_whether_the_clock_is_synchronised() -> None:
    machine = Machine()
    machine.made("a")
    machine.run(20 * DAY)
    machine.start()
    assert gone(machine) == ["a"], "a restart of the program is no reason for doubt"
    del machine.entries[-1]
    assert gone(machine) == []


def test_a_person_who_checked_the_clock_stands_for_the_second_one_until_it_changes() -> None:
    machine = Machine()
    machine.made("a")
    machine.run(20 * DAY)
    machine.sync("unsynchronised")
    machine.check()
    assert gone(machine) == ["a"]
    machine.start("unsynchronised")
    assert gone(machine) == ["a"]
    machine.jump(HOUR)
    machine.run(10 * S)
    assert gone(machine) == []


def test_time_without_power_is_not_counted_and_a_long_one_is_doubted() -> None:
    machine = Machine()
    machine.made("a")
    machine.run(2 * DAY)
    machine.power_off(30 * DAY)
    machine.start()
    machine.run(2 * DAY)
    assert gone(machine) == []
    machine.run(11 * DAY)
    machine.power_off(2 * DAY)
    machine.start()
    assert "jumped by +2.0 days before a start" in verdict(machine).why


def test_a_night_without_power_is_no_reason_for_doubt() -> None:
    machine = Machine()
    machine.made("a")
    for _ in range(30):
        machine.run(14 * HOUR)
        machine.power_off(10 * HOUR)
        machine.start()
    assert gone(machine) == ["a"]


def test_clocks_that_nothing_compared_for_more_than_a_week_are_watched_for_a_day_again() -> None:
    machine = Machine()
    machine.made("a")
    machine.run(15 * DAY)
    machine.rest(7 * DAY)
    machine.start()
    assert gone(machine) == ["a"], "a weekly backup"
    machine.rest(9 * DAY)
    machine.start()
    assert "nothing compared the clocks for 9 days" in verdict(machine).why
    machine.run(25 * HOUR)
    assert gone(machine) == ["a"]


def test_a_journal_of_an_earlier_version_proves_what_its_runs_lasted() -> None:
    machine = Machine()
    old = ClockAnchored(source="clock", at=machine.now_ns, wall_ns=machine.now_ns, step_ns=0)
    machine.entries[:] = [old]
    machine.made("a")
    machine.run(6 * DAY)
    machine.made("a")
    machine.start()
    machine.run(2 * DAY)
    time, made_ns = read(machine.entries)
    assert time.at(machine.now_ns) - made_ns["a"] == 8 * DAY


STEPS: Final[dict[str, Callable[[Machine, int], None]]] = {
    "runs": lambda machine, time_ns: machine.run(abs(time_ns)),
    "stands still": lambda machine, time_ns: machine.rest(abs(time_ns)),
    "is off": lambda machine, time_ns: machine.power_off(abs(time_ns)),
    "jumps": lambda machine, time_ns: machine.jump(time_ns),
    "starts": lambda machine, _: machine.start(),
    "starts unsynchronised": lambda machine, _: machine.start("unsynchronised"),
    "is synchronised": lambda machine, _: machine.sync("synchronised"),
    "is checked": lambda machine, _: machine.check(),
}
TIMES: Final = st.one_of(st.sampled_from(JUMPS), st.integers(-20 * DAY, 20 * DAY))


@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), TIMES), max_size=30))
def test_no_clock_makes_anything_go_before_its_true_time(steps: list[tuple[str, int]]) -> None:
    machine, truly_made_ns = Machine(), dict[str, int]()
    for number, (step, time_ns) in enumerate(steps):
        STEPS[step](machine, time_ns)
        if step in {"is off", "stands still"}:
            machine.start()
        machine.made(str(number))
        truly_made_ns[str(number)] = machine.true_ns
        for one in verdict(machine).going:
            true_age_ns = machine.true_ns - truly_made_ns[one.name]
            assert KEEP_DAYS * DAY < one.age_ns <= true_age_ns
