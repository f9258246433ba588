"""Streams as bad lines and failing devices send them, and what must be reported of each."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from devices.registry import DRIVERS
from tests.devices.live import summarised
from tests.devices.wires import readings_of

FOLDER = Path(__file__).with_name("streams")
STREAMS = [
    pytest.param(file.stem, stream, id=f"{file.stem}: {stream['wrong']}")
    for file in sorted(FOLDER.glob("*.toml"))
    for stream in tomllib.loads(file.read_text(encoding="utf-8"))["stream"]
]


def test_every_driver_has_faulty_streams() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == DRIVERS.keys()


@pytest.mark.parametrize(("driver", "stream"), STREAMS)
def test_a_faulty_stream_is_reported_as_what_it_is(driver: str, stream: dict[str, Any]) -> None:
    sent = b"".join(map(bytes.fromhex, stream["bytes"]))
    assert summarised(readings_of(driver, [sent])) == stream["reported"]
    assert (
        summarised(readings_of(driver, [sent[i : i + 1] for i in range(len(sent))]))
        == stream["reported"]
    )
