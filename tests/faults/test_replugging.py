"""Unplugged and plugged in again, all devices in one session: a hundred times before a release."""

from pathlib import Path

from tests.faults.replugging import CAMERA, REFUSING, ROUGH, TAKEN, open_files, replugged
from tests.thoroughness import ALL

CYCLES = 100 if ALL else 30


def test_replugs_of_every_device_lose_no_reading_and_no_event(tmp_path: Path) -> None:
    before = open_files()
    told = replugged(tmp_path, CYCLES)
    for source in ("angel-eye", "line", "id12", "rdm6300", "idteck"):
        assert (told[source].losses, told[source].returns) == (CYCLES, CYCLES)
        assert told[source].readings >= CYCLES
    assert (told["plate"].losses, told["plate"].returns) == (CYCLES, CYCLES)
    assert told["plate:1"].readings >= CYCLES
    assert told[CAMERA].losses >= CYCLES
    assert told[CAMERA].returns >= told[CAMERA].losses - 1
    assert told[REFUSING].faults["refusal"] > CYCLES / 10
    assert told[REFUSING].readings == CYCLES
    assert (told[TAKEN].losses, told[TAKEN].readings) == (CYCLES // 10, CYCLES // 10)
    assert told[ROUGH].faults["size_changed"] >= 1
    assert told[ROUGH].returns >= 5
    assert open_files() <= before + 8
