"""Write the pages of figures from the result files: ``make lab``.

``docs/measurements.md`` has the figures that a buyer or maintainer asks, ``lab/README.md`` a line
for each bench. ``python -m lab.bench.figures NAME`` prints all that a result file holds.
``--check`` writes nothing and exits with 1 where a page differs from what the files give.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from pathlib import Path

from lab.bench.record import RESULTS, ROOT, Claim, Results, Run, Table, load

PAGE = ROOT / "docs" / "measurements.md"
INDEX = ROOT / "lab" / "README.md"
PARTS = (
    "Reading cards",
    "Camera",
    "Whole sessions",
    "Reconciling and settling",
    "Devices and the live table",
    "Service, console and reports",
    "The code",
)
NORMAL_95 = 1.959964  # standard normal quantile that leaves 2.5% on either side

PAGE_HEAD = """\
# Measurements

The figures that a buyer or a maintainer asks, each with the command that measures it again. Two
CPU cores, no GPU. Intervals are 95%; that of a share is Wilson's, as if the trials were
independent. The [lab](../lab/README.md) lists every bench, the targets missed, and what was
tried. `make lab` writes both pages from the results in `lab/results`.
"""

INDEX_HEAD = """\
# The lab

Benches, fault campaigns and sweeps that a person starts, for hours if need be. `tests/` shows
that the program is right; the lab measures how well and how fast it works. `make lab` writes this
page and [the page of figures](../docs/measurements.md) from the files in `results`.

- `bench/` has a file for each bench; its docstring gives the command and the options. A bench
  prints ratios to something measured in the same run and never asserts a time. With `--record` it
  writes its own result file. The other files are edited by hand.
- `faults/` runs many seeds of what `tests/faults` does a few times. `oracle/` plays millions of
  hands against exact values. `mutation/` changes each function of the rules engine, one change at
  a time, and sees whether the tests notice. `independent/` films games with Blender.
- `notes/` has the [experiments](notes/README.md) and what was left out.

`python -m lab.bench.figures NAME` prints all that `results/NAME.json` holds: every run with its
command, commit, networks and machine. A line below shows a bench's first target, or its first
figure. *Commit* is the code that was measured; for runs up to 2026-11-23 it is the commit that
first stated the figure.
"""


def page(every: Sequence[Results]) -> str:
    """Return the page of the figures that are asked."""
    columns = ("figure", "value", "interval", "target", "measured by", "on")
    lines = [PAGE_HEAD]
    for part in PARTS:
        rows = tuple(
            (one.page, value(one), interval(one), target(one), f"`{run.command}`", run.date)
            for results in _of_part(every, part)
            for run in results.runs
            for one in run.claims
            if one.page
        )
        if rows:
            lines.append(f"## {part}\n\n{_table(Table(columns, rows))}\n")
    return "\n".join(lines)


def index(every: Sequence[Results], names: Mapping[str, str]) -> str:
    """Return the lab's page; ``names`` gives each title's result file."""
    columns = ("bench", "figure", "value", "target", "commit", "date")
    lines = [INDEX_HEAD, *_missed(every)]
    for part in PARTS:
        rows = tuple(_line(one, names[one.title]) for one in _of_part(every, part))
        lines.append(f"## {part}\n\n{_table(Table(columns, rows))}\n")
    return "\n".join(lines)


def _of_part(every: Sequence[Results], part: str) -> list[Results]:
    return sorted((one for one in every if one.part == part), key=lambda one: one.title)


def _line(results: Results, name: str) -> tuple[str, ...]:
    """Return a bench's line: its first target, else its first figure, and its newest run."""
    claims = [claim for run in results.runs for claim in run.claims]
    shown = next((one for one in claims if met(one) is not None), claims[0] if claims else None)
    newest = max(results.runs, key=lambda run: run.date)
    bench = f"[{results.title}](results/{name}.json)"
    figure = (shown.claim, value(shown), target(shown)) if shown else ("", "", "")
    return (bench, *figure, newest.commit, newest.date)


def _missed(every: Sequence[Results]) -> Iterator[str]:
    rows = [
        f"| {one.title}: {claim.claim} | {value(claim)} | {target(claim)} |"
        for one in every
        for run in one.runs
        for claim in run.claims
        if met(claim) is False
    ]
    if rows:
        head = ["## Targets missed\n", "| claim | value | target |", "| --- | --- | --- |"]
        yield "\n".join([*head, *rows]) + "\n"


def _section(results: Results) -> str:
    return "\n".join([f"### {results.title}\n", f"{results.about}\n", *map(_run, results.runs)])


def _run(run: Run) -> str:
    lines = [f"`{run.command}`  ", f"{_origin(run)}\n"]
    if run.note:
        lines.append(f"{run.note}\n")
    if run.claims:
        lines.append(_claims(run.claims) + "\n")
    lines += [_table(table) + "\n" for table in run.tables]
    return "\n".join(lines)


def _origin(run: Run) -> str:
    named = (("commit", run.commit), ("networks", run.networks))
    parts = [run.date, *(f"{name} `{hashed}`" for name, hashed in named if hashed), run.machine]
    return ", ".join(part for part in parts if part)


def _claims(claims: Sequence[Claim]) -> str:
    rows = tuple((one.claim, value(one), interval(one), target(one)) for one in claims)
    return _table(Table(("claim", "value", "interval", "target"), rows))


def _table(table: Table) -> str:
    rule = ("---",) * len(table.columns)
    return "\n".join(f"| {' | '.join(row)} |" for row in (table.columns, rule, *table.rows))


def value(claim: Claim) -> str:
    """Return the figure with its unit and the number of trials."""
    if claim.of is None:
        return _with_unit(claim.value, claim.unit)
    amount = _with_unit(claim.value, claim.unit)
    return f"{amount} of {claim.of:,}"


def interval(claim: Claim) -> str:
    """Return the bounds of the figure, where they are known."""
    bounds = claim.interval
    if bounds is None and claim.of is not None and not isinstance(claim.value, str):
        share = claim.value / 100 if claim.unit == "%" else claim.value / claim.of
        low, high = wilson(share, claim.of)
        return f"{_percent(low)} to {_percent(high)}"
    return f"{bounds[0]:g} to {bounds[1]:g} {claim.unit}".strip() if bounds else ""


def wilson(share: float, trials: int) -> tuple[float, float]:
    """Return Wilson's 95% bounds of a share of independent trials."""
    square = NORMAL_95**2
    middle = share + square / (2 * trials)
    reach = NORMAL_95 * sqrt(share * (1 - share) / trials + square / (4 * trials**2))
    whole = 1 + square / trials
    low, high = (middle - reach) / whole, (middle + reach) / whole
    return low if share > 0 else 0.0, high if share < 1 else 1.0


def met(claim: Claim) -> bool | None:
    """Say whether the value meets its target; None where there is none."""
    if isinstance(claim.value, str) or (claim.least is None and claim.most is None):
        return None
    enough = claim.least is None or claim.value >= claim.least
    return enough and (claim.most is None or claim.value <= claim.most)


def target(claim: Claim) -> str:
    """Return what is wanted of the figure and whether it is met."""
    wanted = [
        f"{word} {_with_unit(f'{bound:g}', claim.unit)}"
        for word, bound in (("at least", claim.least), ("at most", claim.most))
        if bound is not None
    ]
    limits = ", ".join(wanted)
    return f"{limits}: {'met' if met(claim) else '**missed**'}" if limits else ""


def _percent(share: float) -> str:
    """Return a share to a hundredth of a percent, a small one to three digits."""
    return f"{share * 100:.3g}%" if share < 0.01 else f"{share * 100:.2f}%"


def _with_unit(number: float | str, unit: str) -> str:
    amount = number if isinstance(number, str) else f"{number:,}"
    return f"{amount}{unit}" if unit == "%" else f"{amount} {unit}".rstrip()


def every_result(folder: Path = RESULTS) -> dict[str, Results]:
    """Read all result files, by name."""
    every = {path.stem: load(path) for path in sorted(folder.glob("*.json"))}
    strange = {one.part for one in every.values()} - set(PARTS)
    if strange:
        raise ValueError(f"no such part of the page: {', '.join(sorted(strange))}; see PARTS")
    return every


def main(argv: Sequence[str] | None = None) -> int:
    """Write the pages, compare them, or print what some result files hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="result files to print, without .json")
    parser.add_argument(
        "--check", action="store_true", help="compare only; exit with 1 if a page differs"
    )
    asked = parser.parse_args(argv)
    every = every_result()
    for name in asked.names:
        print(_section(every[name]))
    if asked.names:
        return 0
    names = {one.title: name for name, one in every.items()}
    pages = {PAGE: page([*every.values()]), INDEX: index([*every.values()], names)}
    differing = [
        path for path, text in pages.items() if not path.exists() or path.read_text("utf-8") != text
    ]
    for path in differing:
        if asked.check:
            print(f"{path} differs from its result files: run make lab", file=sys.stderr)
        else:
            path.write_text(pages[path], "utf-8")
    return 1 if asked.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
