"""``scripts/compile`` puts a compiled form in its place, whatever another run did meanwhile."""

import importlib.util
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def keep(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path, Path], Any]:
    """Return what moves a result to its place."""
    monkeypatch.setenv("PITWATCH_INTERPRETED", "1")
    loader = SourceFileLoader("compile_script", "scripts/compile")
    spec = importlib.util.spec_from_loader("compile_script", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    keeping: Callable[[Path, Path], Any] = module._keep
    return keeping


def test_a_second_run_of_the_same_sources_keeps_the_first_result(
    keep: Callable[[Path, Path], Any], tmp_path: Path
) -> None:
    for run in ("first", "second"):
        (tmp_path / run).mkdir()
        (tmp_path / run / "engine.so").write_text(run)
    folder = tmp_path / "compiled" / "of-these-sources"
    for run in ("first", "second"):
        keep(tmp_path / run, folder)
    assert (folder / "engine.so").read_text() == "first"
    assert [other.name for other in folder.parent.iterdir()] == [folder.name]
