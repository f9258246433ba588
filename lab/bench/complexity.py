"""How much code a part is: ``python -m lab.bench.complexity settlement/reckoning``.

Counts lines, constants and cyclomatic complexity (McCabe, as ruff counts it) of folders, as they
are or were at a commit. Nothing else tells how a rewrite changed the size of what it replaced.
"""

import argparse
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from statistics import mean
from typing import Final

from lab.bench.record import Table, add_option, record

_CONSTANT: Final = re.compile(r"^_?[A-Z][A-Z0-9_]*(: Final\S*)? = -?[\d(.]", re.MULTILINE)
"""A named number, or one made of others."""
_COMPLEX: Final = re.compile(r"\((\d+) > 0\)")


def complexities(folder: Path) -> list[int]:
    """Return the cyclomatic complexity of every function."""
    asked = ["--isolated", "--select", "C901", "--config", "lint.mccabe.max-complexity=0"]
    ruff = Path(sys.executable).with_name("ruff")
    told = subprocess.run(
        [ruff, "check", *asked, "--output-format", "concise", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    return [int(found) for found in _COMPLEX.findall(told.stdout)]


def row(root: Path, folder: str, commit: str) -> tuple[str, ...]:
    """Return what is counted of one folder, as a line of the table."""
    texts = [path.read_text("utf-8") for path in sorted((root / folder).rglob("*.py"))]
    found = complexities(root / folder)
    return (
        commit,
        folder,
        f"{sum(text.count(chr(10)) for text in texts):,}",
        str(sum(len(_CONSTANT.findall(text)) for text in texts)),
        str(len(found)),
        f"{sum(found):,}",
        f"{mean(found):.2f}" if found else "0",
        str(max(found, default=0)),
    )


def rows(commit: str, folders: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield a line for each folder that a commit has."""
    with tempfile.TemporaryDirectory() as scratch:
        tracked = subprocess.run(
            ["git", "ls-tree", "-d", "--name-only", commit, *folders],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        packed = subprocess.run(
            ["git", "archive", commit, *tracked], capture_output=True, check=True
        )
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
            archive.extractall(scratch, filter="data")
        for folder in tracked:
            yield row(Path(scratch), folder, commit)


def main() -> None:
    """Count the folders at each commit."""
    ask = argparse.ArgumentParser(description=__doc__)
    ask.add_argument("folders", nargs="+", help="from the root of the project")
    ask.add_argument("--commits", nargs="+", default=["HEAD"])
    add_option(ask)
    asked = ask.parse_args()
    columns = ("commit", "folder", "lines", "constants", "functions", "complexity", "mean", "most")
    table = Table(columns, tuple(one for at in asked.commits for one in rows(at, asked.folders)))
    for line in (table.columns, *table.rows):
        print("\t".join(line))
    if asked.record:
        record("complexity", tables=[table])


if __name__ == "__main__":
    main()
