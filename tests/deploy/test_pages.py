"""Every command that deploy/'s pages name exists, with the options they give it."""

import os
import re
import shlex
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.tools import BIN, DEPLOY, ROOT, run_program

PAGES: Final = (
    *sorted(DEPLOY.glob("*.md")),
    *(ROOT / "docs" / f"{n}.md" for n in ("deploy", "floor", "integration")),
)
SCRIPTS: Final = {path.name for path in (DEPLOY / "bin").iterdir()}


def commands() -> list[tuple[str, str]]:
    """Every line of a block and every piece in backticks that calls a program of ours."""
    found = []
    for page in PAGES:
        text = page.read_text()
        blocks = re.findall(r"```\n(.*?)```", text, re.DOTALL)
        rest = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines()]
        for line in [*lines, *re.findall(r"`([^`\n]+)`", rest)]:
            command = re.sub(r"^(\w+=\S+ )+", "", line.partition("#")[0].strip())
            name = Path(command.split()[0]).name if command else ""
            if name in SCRIPTS | {"pitwatch"} and " " in command:
                found.append((page.name, command))
    return found


COMMANDS: Final = commands()


def test_there_are_commands_to_look_at() -> None:
    assert len(COMMANDS) > 25
    assert {page for page, _ in COMMANDS} == {page.name for page in PAGES}


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", sorted({one for _, one in COMMANDS if one.startswith("pitwatch ")})
)
def test_a_command_parses(command: str) -> None:
    words = [word for word in shlex.split(command)[1:] if word != "…"]
    called = [word for word in words if re.fullmatch(r"[a-z]+", word)][:2]
    page = help_of(*called) or help_of(called[0])
    assert page, f"there is no command {command}"
    for option in (word.partition("=")[0] for word in words if word.startswith("-")):
        assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", page), option


_HELP: Final[dict[tuple[str, ...], str | None]] = {}


def help_of(*words: str) -> str | None:
    """The help of a command; ``None`` where there is none."""
    if words not in _HELP:
        env = {**os.environ, "COLUMNS": "200"}
        ran = run_program(BIN / "pitwatch", *words, "--help", env=env)
        usage = " ".join(("Usage: pitwatch", *words))
        _HELP[words] = ran.stdout if ran.returncode == 0 and usage in ran.stdout else None
    return _HELP[words]


def test_a_script_is_called_with_as_much_as_it_takes() -> None:
    takes = {
        "pitwatch-backup": {2},
        "pitwatch-restore": {2},
        "pitwatch-release": {2},
        "pitwatch-floor-backup": {2, 3},
        "pitwatch-floor-drill": {1, 2},
    }
    assert takes.keys() == SCRIPTS
    for _, command in COMMANDS:
        name, *given = shlex.split(command)
        if Path(name).name in takes:
            counted = [one for one in given if one != "--check"]
            assert len(counted) in takes[Path(name).name], command


def test_every_file_and_unit_that_is_named_is_there() -> None:
    named = set()
    for page in PAGES:
        named |= set(re.findall(r"\bdeploy/[\w./@*-]+[\w*]", page.read_text()))
    for one in named - {"deploy/"}:
        assert list(ROOT.glob(one)), one
    units = {path.name for path in (DEPLOY / "systemd").iterdir()}
    for page in PAGES:
        for unit in re.findall(
            r"pitwatch-(?:floor\.service|forward\.service|floor-backup\.timer|service|backup\.timer|table@)",
            page.read_text(),
        ):
            assert {unit, f"{unit}.service"} & units, unit


def test_every_alert_that_is_named_is_there() -> None:
    rules = (DEPLOY / "prometheus" / "pitwatch.rules.yml").read_text()
    for page in PAGES:
        for alert in re.findall(r"`(Pitwatch[A-Z]\w+)`", page.read_text()):
            assert f"alert: {alert}\n" in rules
