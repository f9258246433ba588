"""A simulated floor keeps its promises through disasters, and a broken one does not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.floor_disasters import AT_EACH_STEP, forwarding, run_seed, run_step
from tests.faults.floor_hall import Database, Machine, SimulatedSite, new_journal
from tests.faults.floor_mutants import FORWARDERS, MODELS, broken_forwarding, caught
from tests.faults.simulated import Hall
from tests.thoroughness import ALL, one_in

SEEDS = 2000 if ALL else 200
HUNTED_SEEDS, HUNTED_STEPS = 400, 25
WAITS = 114
"""Waits of the forwarder in the short story of `run_step`, until everything is done."""


@pytest.mark.slow
@pytest.mark.parametrize("share", range(4))
def test_nothing_is_lost_doubled_or_out_of_order(share: int) -> None:
    ended = [run_seed(seed) for seed in range(share, SEEDS, 4)]
    assert [(one.seed, one.fault) for one in ended if one.fault] == []
    met = set().union(*(one.met for one in ended))
    assert met >= {"fork", "epoch begun", "line cut", "database crashed", "forwarder killed"}


@pytest.mark.parametrize("name", AT_EACH_STEP)
def test_a_disaster_may_come_at_every_wait_of_a_forwarder(name: str) -> None:
    disaster = AT_EACH_STEP[name]
    steps = one_in(8, range(1, WAITS + 1), first=list(AT_EACH_STEP).index(name) % 8)
    ended = [run_step(step, disaster) for step in steps]
    assert all(one.met["struck"] for one in ended)
    assert [(one.seed, one.fault) for one in ended if one.fault] == []
    assert "struck" not in run_step(2 * WAITS, disaster).met, "these were not all waits"


def test_a_seed_repeats_exactly() -> None:
    for seed in (3, 11):
        assert run_seed(seed) == run_seed(seed)


def test_a_failing_seed_repeats_exactly() -> None:
    broken = MODELS["Acknowledges the last entry of a batch without storing it."]
    failed = [one for seed in range(20) if (one := run_seed(seed, model=broken)).fault]
    assert failed
    assert [run_seed(one.seed, model=broken) for one in failed] == failed


def test_a_long_backlog_goes_in_one_piece() -> None:
    """`forward --once` sends all that is there, also where that takes seconds."""
    hall, machine, journal = Hall(1), Machine("machine"), new_journal(Hall(1), "BJ-00")
    database = Database(hall)
    machine.files[Path("a.journal")] = journal
    for number in range(900):
        journal.append(b'{"type":"fact","at":1772366400000000000,"n":%d}' % number, 0)
    site = SimulatedSite(hall, machine, database, lambda _key, _entry: None)

    async def once() -> None:
        async with site.connected() as floor:
            assert await forwarding(site).forward_all(floor) == 900

    hall.start("once", once())
    hall.run(60)
    assert database.model.entries["BJ-00", 1] == journal.entries


@pytest.mark.parametrize("name", FORWARDERS)
def test_a_broken_forwarder_is_caught(name: str) -> None:
    made = broken_forwarding(FORWARDERS[name])
    assert caught(made, seeds=HUNTED_SEEDS, steps=HUNTED_STEPS) is not None


@pytest.mark.parametrize("name", MODELS)
def test_a_broken_database_is_caught(name: str) -> None:
    assert caught(model=MODELS[name], seeds=HUNTED_SEEDS, steps=HUNTED_STEPS) is not None


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Keep what simulated forwarders log out of the report."""
    with caplog.at_level("CRITICAL", "pitwatch.forward"):
        yield
