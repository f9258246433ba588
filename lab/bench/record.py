"""The result files behind ``docs/measurements.md``: what they hold, and how a bench writes one.

A bench takes the option ``--record`` by `add_option` and passes its figures to `record`. They
replace what the file holds of the same command; targets stay.
"""

import argparse
import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "lab" / "results"
NETWORKS = ROOT / "models" / "networks"
HASH_DIGITS = 12  # a commit's and the networks' hash as the page shows them


class Claim(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One figure: its claim, its value, of how many, and its target."""

    claim: str
    value: float | int | str
    unit: str = ""
    of: int | None = None
    """The number of trials, where the value is a count or a percentage of them."""
    interval: tuple[float, float] | None = None
    """The bounds as measured; a share of trials (`of`) has its own from their number."""
    least: float | None = None
    most: float | None = None
    page: str = ""
    """How the page of measurements says it; empty where only the lab asks it."""


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Further columns that a claim needs."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Run(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What one call of one command gave."""

    command: str
    commit: str = ""
    date: str = ""
    networks: str = ""
    """SHA-256 of the networks in the tree at that commit, where the figures rest on them."""
    machine: str = ""
    note: str = ""
    claims: tuple[Claim, ...] = ()
    tables: tuple[Table, ...] = ()


class Results(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One section of the page."""

    part: str
    title: str
    about: str
    runs: tuple[Run, ...]


def load(path: Path) -> Results:
    """Read one result file, or raise an error that names it."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Results)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{path}: {error}; lab/bench/record.py lists its fields") from error


def save(path: Path, results: Results) -> None:
    """Write one result file, a line a value, as a person can read and compare it."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def add_option(parser: argparse.ArgumentParser) -> None:
    """Give a bench the option to keep its figures."""
    parser.add_argument(
        "--record", action="store_true", help="keep the figures for docs/measurements.md"
    )


def record(
    name: str,
    claims: Sequence[Claim] = (),
    tables: Sequence[Table] = (),
    networks: Path | None = None,
    argv: Sequence[str] | None = None,
    results: Path = RESULTS,
) -> None:
    """Keep the figures of this run of the bench `lab/bench/NAME`."""
    path = results / f"{name}.json"
    if not path.exists():
        raise SystemExit(f"{path} is missing: write its part, title and about first, runs empty")
    run = Run(
        command=command_line(name, sys.argv[1:] if argv is None else argv),
        commit=commit_here(),
        date=datetime.now(UTC).date().isoformat(),
        networks=networks_hash(networks) if networks else "",
        machine=machine_here(),
        claims=tuple(claims),
        tables=tuple(tables),
    )
    save(path, with_run(load(path), run))
    print(f"kept in {path}; write the pages with make lab")


def with_run(results: Results, run: Run) -> Results:
    """Return results with this run in place of the one by the same command, its targets kept."""
    before = {one.command: one for one in results.runs}
    targets = (
        {one.claim: one for one in before[run.command].claims} if run.command in before else {}
    )
    claims = tuple(_with_target(claim, targets) for claim in run.claims)
    after = before | {run.command: replace(run, claims=claims)}
    return replace(results, runs=tuple(after.values()))


def _with_target(claim: Claim, targets: Mapping[str, Claim]) -> Claim:
    known = targets.get(claim.claim)
    return replace(claim, least=known.least, most=known.most, page=known.page) if known else claim


def command_line(name: str, argv: Iterable[str]) -> str:
    """Return the command that gives the figures again."""
    kept = [one for one in argv if one != "--record"]
    return shlex.join(["python", "-m", f"lab.bench.{name}", *kept])


def commit_here() -> str:
    """Return this tree's commit, with a plus where tracked files differ from it."""
    head = _git("rev-parse", "HEAD")[:HASH_DIGITS]
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!lab/results")
    return f"{head}+" if changed else head


def networks_hash(folder: Path = NETWORKS) -> str:
    """Return one hash of the exported networks, by name and content."""
    whole = hashlib.sha256()
    for path in sorted(folder.glob("*.onnx")):
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()[:HASH_DIGITS]


def machine_here() -> str:
    """Say what the run had to itself: the processor cores, and the load of the last minute."""
    return f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
