"""The log of what runs unattended: bounded whatever strangers do, whole for what people do."""

import json
import logging
from collections.abc import Iterator

import pytest

from server.service.json_log import LINES, log_as_json
from stream.clock import SimulatedClock


@pytest.fixture
def log() -> Iterator[logging.Logger]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield logging.getLogger("pitwatch.test")
    root.handlers[:] = before
    root.setLevel(level)


def asked(log: logging.Logger, times: int, person: str | None) -> None:
    for _ in range(times):
        log.info("request", extra={"fields": {"person": person}})


def test_lines_of_a_kind_are_left_out_and_counted(
    log: logging.Logger, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now_ns = 0
    monkeypatch.setattr("server.service.json_log.elapsed_ns", lambda: now_ns)
    log_as_json(SimulatedClock())
    asked(log, 10_000, None)
    assert len(capsys.readouterr().err.splitlines()) == LINES.burst
    now_ns = 2_000_000_000
    asked(log, 1, None)
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["left_out"] == 10_000 - LINES.burst
    log.warning("another kind")
    assert "left_out" not in json.loads(capsys.readouterr().err)


def test_what_signed_in_people_ask_is_logged_whole(
    log: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    log_as_json(SimulatedClock())
    asked(log, 1000, "ann")
    assert len(capsys.readouterr().err.splitlines()) == 1000
