"""Which mutants the type checker refuses: they never run, as the check rejects them."""

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from shutil import copy, copytree
from tempfile import TemporaryDirectory
from typing import Final

from lab.mutation.mutants import MODULES, PACKAGE, Mutant, mutant_at, source

_BESIDE: Final = ("models", "stream")
_ERROR: Final = re.compile(r"settlement/(\w+)\.py:(\d+): error: .*\[([\w-]+)\]$")
_OF_THE_COPY: Final = "no-redef"
"""Reported of every copy of a method that declares an attribute: it concerns the copying alone."""


def refused() -> frozenset[Mutant]:
    """Check every mutant at once, each function beside its mutants, and return those refused."""
    with TemporaryDirectory() as name:
        place = Path(name)
        for folder in (*_BESIDE, PACKAGE.name):
            copytree(folder, place / folder)
        copy("pyproject.toml", place)
        for module in MODULES:
            (place / PACKAGE / f"{module}.py").write_text(source(module), "utf-8")
        files = [str(PACKAGE / f"{module}.py") for module in MODULES]
        checked = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir=cache", *files],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )
    found = frozenset(_named(checked.stdout.splitlines()))
    if not found or any(mutant.original for mutant in found):
        raise RuntimeError(f"the unchanged functions are refused too: {checked.stdout[-2000:]}")
    return found


def _named(lines: Iterable[str]) -> Iterable[Mutant]:
    for line in lines:
        error = _ERROR.match(line)
        if error and error[3] != _OF_THE_COPY:
            mutant = mutant_at(error[1], int(error[2]))
            if mutant:
                yield mutant
