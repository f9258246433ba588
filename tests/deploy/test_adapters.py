"""udev's rules for the serial adapters: what can be tested without one plugged in."""

import re
from typing import Final

import pytest

from tests.deploy.tools import DEPLOY, run_program, tool

RULES: Final = DEPLOY / "udev" / "70-pitwatch.rules"
KEYS: Final = {"ACTION", "SUBSYSTEM", "GOTO", "LABEL", "ENV", "ATTR", "TEST", "GROUP", "MODE"}
_PART: Final = re.compile(r'([A-Z]+)(?:\{([\w/]+)\})?(==|!=|\+=|:=|=)"([^"]*)"')


def rules() -> list[list[tuple[str, str, str, str]]]:
    lines = [line for line in RULES.read_text().splitlines() if line and line[0] != "#"]
    found = []
    for line in lines:
        parts = [_PART.fullmatch(part) for part in line.split(", ")]
        assert all(parts), line
        found.append([part.groups("") for part in parts if part])
    return found  # type: ignore[return-value]


def test_every_rule_is_written_as_udev_reads_it() -> None:
    for rule in rules():
        for key, _, how, value in rule:
            assert key in KEYS | {"SYMLINK"}
            assert value
            if key in {"ACTION", "SUBSYSTEM", "TEST"}:
                assert how in {"==", "!="}
            if key in {"GROUP", "MODE", "GOTO", "LABEL"}:
                assert how == "="


def test_every_jump_lands() -> None:
    jumps = {value for rule in rules() for key, _, _, value in rule if key == "GOTO"}
    labels = {value for rule in rules() for key, _, _, value in rule if key == "LABEL"}
    assert jumps == labels


def test_a_name_is_given_to_one_adapter_and_an_adapter_gets_one_name() -> None:
    named = [
        {key: value for key, _, _, value in rule}
        for rule in rules()
        if any(key == "SYMLINK" for key, *_ in rule)
    ]
    links = [found["SYMLINK"] for found in named]
    serials = [found["ENV"] for found in named]
    assert len(links) == len(set(links)) == len(set(serials)) >= 2
    assert all(link.startswith("pitwatch/") for link in links)


def test_they_come_after_the_rules_that_find_out_what_they_ask() -> None:
    assert RULES.name > "60-serial.rules"


@pytest.mark.slow
def test_udev_itself_finds_no_fault() -> None:
    udevadm = tool("udevadm", "apt-get install udev")
    checked = run_program(udevadm, "verify", "--no-summary", RULES)
    if "Unknown command verb" in checked.stderr:
        version = run_program(udevadm, "--version").stdout.strip()
        pytest.skip(f"udevadm {version} cannot verify rules: 254 can")
    assert checked.returncode == 0, checked.stdout + checked.stderr
