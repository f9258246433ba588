"""Upgrade and roll-back: two releases side by side, and none put in place that does not fit."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from models.events import RoundOpened
from stream.journal import Journal, verify_journal
from stream.store import SCHEMA_VERSION
from tests.deploy.tools import BIN, DEPLOY, EXAMPLES, ROOT, run_program

pytestmark = pytest.mark.slow

SCRIPT: Final = DEPLOY / "bin" / "pitwatch-release"
PARTS: Final = ("models", "stream", "vision", "devices", "settlement", "simulation", "server")


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three trees: today's, one that knows one version of journals less, one that knows more."""
    root = tmp_path_factory.mktemp("opt")
    for name, knows in (
        ("older", SCHEMA_VERSION - 1),
        ("0.1.0", None),
        ("newer", SCHEMA_VERSION + 1),
    ):
        tree = root / "releases" / name
        for part in PARTS:
            shutil.copytree(ROOT / part, tree / part)
        if knows is not None:
            store = tree / "stream" / "store.py"
            text = store.read_text()
            changed = text.replace(
                f"SCHEMA_VERSION: Final = {SCHEMA_VERSION}", f"SCHEMA_VERSION: Final = {knows}"
            )
            assert changed != text
            if knows > SCHEMA_VERSION:
                changed = _one_version_more(changed, knows)
            store.write_text(changed)
        program = tree / ".venv" / "bin" / "pitwatch"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\ncd "{tree}" && exec "{BIN}/python" -m server "$@"\n')
        program.chmod(0o755)
    return root


def _one_version_more(text: str, version: int) -> str:
    """A release whose journals have one table more, made when they are gone on with."""
    last = version - 1
    text = text.replace(
        f"_ADDED_BY_{last})\n",
        f"_ADDED_BY_{last}, ('CREATE TABLE more (seq INTEGER)',))\n",
        1,
    )
    added = (
        f"def _to_{version}(connection):\n"
        f"    connection.execute(_ADDED[{last}][0])\n"
        "    entries = connection.execute("
        '"SELECT coalesce(max(seq), 0) FROM entries").fetchone()[0]\n'
        f'    connection.execute("INSERT OR REPLACE INTO versions VALUES (?, {version})", '
        "(entries + 1,))\n\n\n_UPGRADES: "
    )
    text = text.replace("_UPGRADES: ", added, 1)
    return text.replace(f"_to_{last}}}\n", f"_to_{last}, {last}: _to_{version}}}\n")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data" / "journals").mkdir(parents=True)
    with Journal.create(tmp_path / "data" / "journals" / "BJ-09.journal") as journal:
        journal.append(RoundOpened(round=1, at=1_000, table="BJ-09"))
    config = tmp_path / "etc"
    (config / "tables").mkdir(parents=True)
    shutil.copy(EXAMPLES / "table.toml", config / "tables" / "BJ-07.toml")
    shutil.copy(EXAMPLES / "integration.toml", config / "integration.toml")
    return tmp_path / "data"


def put(root: Path, name: str, data: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "PITWATCH_DATA": str(data), "PITWATCH_CONFIG": str(data.parent / "etc")}
    return run_program(SCRIPT, *more, root, name, env=env)


def current(root: Path) -> str:
    return (root / "current").resolve().name


def journal_of(data: Path) -> Path:
    return data / "journals" / "BJ-09.journal"


def go_on(root: Path, data: Path) -> "subprocess.CompletedProcess[str]":
    """Let the release in place write to the journal, as a table does when it starts."""
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from pathlib import Path\nfrom stream.journal import Journal\n"
        "from models.events import RoundOpened\n"
        "with Journal.open(Path(sys.argv[1])) as journal:\n"
        "    journal.append(RoundOpened(round=2, at=2_000, table='BJ-09'))\n"
    )
    return run_program(
        BIN / "python", "-P", "-c", code, journal_of(data), cwd=(root / "current").resolve()
    )


def version(data: Path) -> int:
    with closing(sqlite3.connect(f"file:{journal_of(data)}?mode=ro", uri=True)) as connection:
        found: int = connection.execute("PRAGMA user_version").fetchone()[0]
        return found


def test_a_release_is_put_in_place_and_back(releases: Path, data: Path) -> None:
    for name in ("0.1.0", "newer", "0.1.0"):
        run = put(releases, name, data)
        assert run.returncode == 0, run.stderr
        assert current(releases) == name
    assert verify_journal(journal_of(data)).entries == 1


def test_a_newer_release_upgrades_the_journal_when_it_goes_on_with_it(
    releases: Path, data: Path
) -> None:
    assert put(releases, "newer", data).returncode == 0
    assert version(data) == SCHEMA_VERSION, "looking at it upgraded it"
    run = go_on(releases, data)
    assert run.returncode == 0, run.stderr
    assert version(data) == SCHEMA_VERSION + 1


def test_a_release_that_cannot_read_the_journals_is_not_put_in_place(
    releases: Path, data: Path
) -> None:
    assert put(releases, "0.1.0", data).returncode == 0
    run = put(releases, "older", data)
    assert run.returncode == 2
    assert f"of version {SCHEMA_VERSION}, this program knows {SCHEMA_VERSION - 1}" in run.stderr
    assert "nothing was changed" in run.stderr
    assert current(releases) == "0.1.0"


def test_after_an_upgrade_the_way_back_is_the_backup(releases: Path, data: Path) -> None:
    """As deploy/upgrade.md has it: back up, upgrade, find it wanting, restore, roll back."""
    backups, pitwatch = data.parent / "backups", releases / "current/.venv/bin/pitwatch"
    backups.mkdir()
    env = {**os.environ, "PITWATCH": str(pitwatch)}
    assert put(releases, "0.1.0", data).returncode == 0
    shutil.copy(BIN / "python", pitwatch.parent / "python")
    backup = Path(
        run_program(DEPLOY / "bin/pitwatch-backup", data, backups, env=env).stdout.strip()
    )
    assert put(releases, "newer", data).returncode == 0
    assert go_on(releases, data).returncode == 0

    refused = put(releases, "0.1.0", data)
    assert refused.returncode == 2
    assert current(releases) == "newer"

    data.rename(data.with_name("data.newer"))
    env["PITWATCH"] = str(releases / "releases/0.1.0/.venv/bin/pitwatch")
    restored = run_program(DEPLOY / "bin/pitwatch-restore", backup, data, env=env)
    assert restored.returncode == 0, restored.stderr
    assert put(releases, "0.1.0", data).returncode == 0
    assert go_on(releases, data).returncode == 0
    assert verify_journal(journal_of(data)).entries == 2


def test_a_release_that_finds_a_configuration_unsound_is_not_put_in_place(
    releases: Path, data: Path
) -> None:
    assert put(releases, "0.1.0", data).returncode == 0
    table = data.parent / "etc" / "tables" / "BJ-07.toml"
    table.write_text(table.read_text().replace("hold_ms", "hold_on_ms"))
    run = put(releases, "newer", data)
    assert run.returncode == 2
    assert "hold_on_ms" in run.stderr
    assert current(releases) == "0.1.0"


def test_a_check_changes_nothing(releases: Path, data: Path) -> None:
    assert put(releases, "0.1.0", data).returncode == 0
    assert put(releases, "newer", data, "--check").stdout == "newer may run here\n"
    assert current(releases) == "0.1.0"


def test_a_release_that_is_not_installed_is_named(releases: Path, data: Path) -> None:
    run = put(releases, "9.9.9", data)
    assert run.returncode == 2
    assert "install the release first" in run.stderr
