"""Every public name of ``pitwatch`` beside a user's own modules of any name."""

import re
import zipfile
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

import pitwatch
import pitwatch.destinations
import pitwatch.drivers
from tests.packaging.wheel import Installed, package_folders

pytestmark = pytest.mark.slow

PACKAGES = sorted(folder.name for folder in package_folders())
OWN = [name for name in PACKAGES if name != "pitwatch"]
PUBLIC: dict[str, ModuleType] = {
    "pitwatch": pitwatch,
    "pitwatch.drivers": pitwatch.drivers,
    "pitwatch.destinations": pitwatch.destinations,
}


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """A folder with a user's own module of the name of each of our packages."""
    for at, name in enumerate(OWN):
        place = tmp_path / (f"{name}.py" if at % 2 else f"{name}/__init__.py")
        place.parent.mkdir(exist_ok=True)
        place.write_text(f"MINE = {name!r}\n")
    return tmp_path


def script(installed: Installed, folder: Path, code: str) -> str:
    """Run a script of the user's, which may import what lies beside it."""
    (folder / "script.py").write_text(dedent(code))
    run = f"import sys, runpy; sys.path.insert(0, {str(folder)!r}); runpy.run_path('script.py')"
    return installed.python(run, folder)


@pytest.mark.parametrize("first", [True, False])
def test_a_users_modules_and_ours_are_imported_side_by_side(
    installed: Installed, users: Path, first: bool
) -> None:
    own = f"import {', '.join(OWN)}"
    ours = [f"from {module} import {', '.join(found.__all__)}" for module, found in PUBLIC.items()]
    lines = [own, *ours] if first else [*ours, own]
    mine = f"print(*(one.MINE for one in ({', '.join(OWN)})))"
    printed = script(installed, users, "\n".join([*lines, mine]))
    assert printed.split() == OWN


def test_a_script_beside_its_own_models_settles(installed: Installed, users: Path) -> None:
    printed = script(
        installed,
        users,
        """
        import models, server, pitwatch
        from importlib.resources import files
        facts = files("pitwatch.server") / "examples" / "facts.jsonl"
        for settled in pitwatch.settle(str(facts), "kansas-shoe"):
            print(type(settled.result).__module__, settled.result.status, models.MINE)
        """,
    )
    assert "pitwatch.models.judgements final models" in printed


def test_the_wheel_states_that_it_installs_one_package(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as wheel:
        (printed,) = (name for name in wheel.namelist() if name.endswith("top_level.txt"))
        assert wheel.read(printed).split() == [b"pitwatch"]


def test_no_module_of_the_wheel_imports_from_outside_it(installed: Installed) -> None:
    of_ours = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(OWN)})\b", re.MULTILINE)
    (house,) = installed.place.glob("lib/*/site-packages/pitwatch")
    assert [file for file in house.rglob("*.py") if of_ours.search(file.read_text("utf-8"))] == []
