"""What is in the wheel, and that nothing but the wheel is used."""

import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.packaging.wheel import Installed, package_folders

pytestmark = pytest.mark.slow


def product_files() -> set[str]:
    """Return every file of the tree's packages, but for the tests', as the wheel places it."""
    return {
        str(
            "pitwatch" / path.relative_to(package.parent if package.name != "pitwatch" else package)
        )
        for package in package_folders()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_every_module_and_data_file_is_in_the_wheel(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name}
    expected = product_files()
    assert sorted(expected - inside) == []
    assert sorted(inside - expected) == []
    for name in (
        "pitwatch/settlement/reckoning/reckoning.py",
        "pitwatch/server/report/style.css",
        "pitwatch/server/service/page/index.html",
        "pitwatch/server/demo/session/overhead.mp4",
        "pitwatch/models/rulebooks/kansas-shoe.toml",
        "pitwatch/models/layouts/five-spots.toml",
        "pitwatch/models/networks/reader.onnx",
        "pitwatch/vision/scenes/art/decks.toml",
    ):
        assert name in inside


def test_every_package_is_marked_as_typed(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as wheel:
        names = set(wheel.namelist())
    packages = {name.split("/")[0] for name in names if name.endswith("/__init__.py")}
    assert {f"{package}/py.typed" for package in packages} <= names


def test_the_wheel_alone_is_imported(installed: Installed, tmp_path: Path) -> None:
    code = "from pitwatch import models, settlement; print(models.__file__, settlement.__file__)"
    for place in installed.python(code, tmp_path).split():
        assert Path(place).is_relative_to(installed.place)
    code = "import importlib.util; print(importlib.util.find_spec('tests'))"
    assert installed.python(code, tmp_path).strip() == "None"


def test_it_prints_its_version(installed: Installed, tmp_path: Path) -> None:
    code = "import sys; sys.argv = ['pitwatch', '--version']; import pitwatch; pitwatch.main()"
    assert installed.python(code, tmp_path) == f"pitwatch {version('pitwatch')}\n"
