"""Write ``docs/measurements.md`` from the result files: ``python -m lab.bench.figures``.

``--check`` writes nothing and exits with 1 where the page differs from what they give.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path

from lab.bench.record import RESULTS, ROOT, Claim, Results, Run, Table, load

PAGE = ROOT / "docs" / "measurements.md"
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

HEAD = """\
# Measurements

Written by `python -m lab.bench.figures` from the result files in `lab/results`; a test
compares the two. To measure a figure again, run its command with `--record` if the bench has that
option; otherwise edit the result file.

Two CPU cores, no GPU, unless a run says otherwise. *Commit* is the code that was measured; for runs
up to 2026-11-23 it is the commit that first stated the figure. *Networks* is a hash of
`models/networks/*.onnx` at that commit. Intervals are 95%; that of a share is Wilson's, as if the
trials were independent. The [lab notes](../lab/notes/README.md) describe experiments that were
left out.
"""


def page(every: Sequence[Results]) -> str:
    """Return the whole page."""
    lines = [HEAD]
    lines += [*_missed(every)]
    for part in PARTS:
        chosen = sorted((one for one in every if one.part == part), key=lambda one: one.title)
        if chosen:
            lines += [f"\n## {part}\n", *(_section(one) for one in chosen)]
    return "\n".join(lines).rstrip() + "\n"


def _missed(every: Sequence[Results]) -> Iterator[str]:
    rows = [
        f"| {one.title}: {claim.claim} | {value(claim)} | {target(claim)} |"
        for one in every
        for run in one.runs
        for claim in run.claims
        if met(claim) is False
    ]
    if rows:
        yield "Targets missed:\n"
        yield "\n".join(["| claim | value | target |", "| --- | --- | --- |", *rows])


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


def every_result(folder: Path = RESULTS) -> list[Results]:
    """Read all result files, by name."""
    every = [load(path) for path in sorted(folder.glob("*.json"))]
    strange = {one.part for one in every} - set(PARTS)
    if strange:
        raise ValueError(f"no such part of the page: {', '.join(sorted(strange))}; see PARTS")
    return every


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="compare only; exit with 1 if it differs"
    )
    asked = parser.parse_args(argv)
    written = page(every_result())
    if not asked.check:
        PAGE.write_text(written, "utf-8")
        return 0
    if PAGE.read_text("utf-8") == written:
        return 0
    print(f"{PAGE} differs from its result files: run python -m lab.bench.figures", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
