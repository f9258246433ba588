"""Unplugged and plugged in again, all devices in one session: a hundred times before a release."""

from pathlib import Path

from tests.faults.replugging import CAMERA, REFUSING, ROUGH, TAKEN, open_files, replugged
from tests.thoroughness import ALL

CYCLES = 100 if ALL else 30


def test_replugs_of_every_device_lose_no_reading_and_no_event(tmp_path: Path) -> None:
    before = open_files()
    outcomes = replugged(tmp_path, CYCLES)
    for source in ("angel-eye", "line", "id12", "rdm6300", "idteck"):
        assert (outcomes[source].losses, outcomes[source].returns) == (CYCLES, CYCLES)
        assert outcomes[source].readings >= CYCLES
    assert (outcomes["plate"].losses, outcomes["plate"].returns) == (CYCLES, CYCLES)
    assert outcomes["plate:1"].readings >= CYCLES
    assert outcomes[CAMERA].losses >= CYCLES
    assert outcomes[CAMERA].returns >= outcomes[CAMERA].losses - 1
    assert outcomes[REFUSING].faults["refusal"] > CYCLES / 10
    assert outcomes[REFUSING].readings == CYCLES
    assert (outcomes[TAKEN].losses, outcomes[TAKEN].readings) == (CYCLES // 10, CYCLES // 10)
    assert outcomes[ROUGH].faults["size_changed"] >= 1
    assert outcomes[ROUGH].returns >= 5
    assert open_files() <= before + 8
