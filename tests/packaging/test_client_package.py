"""The client's own wheel, where nothing of the house is installed, against a service."""

import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import Distribution, PackagePath, distribution, version
from pathlib import Path
from shutil import copy2, copytree, ignore_patterns

import pytest
from packaging.requirements import Requirement

from models.events import RoundOpened
from server.service.http.patience import Patience
from stream.journal import Journal
from tests.packaging.wheel import ROOT
from tests.server.service.house import house, token_for

pytestmark = pytest.mark.slow

SCRIPT = """
import importlib.util, sys
for name in ("fastapi", "models", "pitwatch", "server", "websockets"):
    assert importlib.util.find_spec(name) is None, name
from pitwatch_client import Client, Refused, rows
with Client(*sys.argv[1:]) as service:
    stream = service.watch({"t": 0})
    print(next(stream).event["type"], next(stream).seq)
    print([one.table for one in service.tables()], list(service.each(rows.ViolationRow)))
    try:
        service.round("t", 99)
    except Refused as refused:
        print(refused.status)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment with the client and what it asks for, no more."""
    place = tmp_path_factory.mktemp("client")
    tree = copytree(ROOT / "client", place / "tree", ignore=ignore_patterns("*.egg-info", "build"))
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", place, tree],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    environment = place / "environment"
    venv.create(environment, with_pip=False, symlinks=True)
    site = environment / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    interpreter = environment / "bin" / "python"
    (wheel,) = place.glob("*.whl")
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        interpreter,
    ]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", wheel], check=True)
    (own,) = Distribution.discover(name="pitwatch-client", path=[str(site)])
    assert own.version == version("pitwatch")
    for name in needed(own):
        for file in distribution(name).files or ():
            copy(file, site)
    return interpreter


def needed(asking: Distribution) -> set[str]:
    """Return the names of what a distribution needs, and of what that needs."""
    found: set[str] = set()
    waiting = [asking]
    while waiting:
        for line in waiting.pop().requires or ():
            asked = Requirement(line)
            is_asked = asked.marker is None or asked.marker.evaluate({"extra": ""})
            if is_asked and asked.name not in found:
                found.add(asked.name)
                waiting.append(distribution(asked.name))
    return found


def copy(file: PackagePath, site: Path) -> None:
    if ".." not in file.parts and file.suffix != ".pyc":
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        copy2(str(file.locate()), site / file)


def test_alone_it_asks_a_service_and_follows_its_stream(python: Path, tmp_path: Path) -> None:
    quick = Patience(idle_ns=200_000_000)
    with (
        house(tmp_path, tmp_path / "state", quick) as found,
        Journal.create(tmp_path / "t.journal") as journal,
    ):
        journal.append_all(RoundOpened(round=n, at=n, table="BJ-07") for n in (1, 2))
        token = token_for(found.url, found.state, "surveillance")
        done = subprocess.run(
            [python, "-I", "-c", SCRIPT, found.url, token],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["round_opened 2", "['BJ-07'] []", "404"]
