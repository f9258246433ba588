"""What lying sensors do to settlements: ``python -m lab.bench.noise --rounds 20000``.

Deals sessions, lets perfect sensors tell of them, spoils what they say at stated rates, and
counts what comes of it: rounds settled exactly, rounds left to a person, rounds settled wrongly
without a flag (of which there must be next to none), the dealer's mistakes found and the false
accusations. Every round is dealt by one seed and spoilt by another, so any line repeats. A long
run may be broken off and gone on with: ``--log`` keeps what was counted.
"""

import argparse
import gc
import json
import math
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, fields
from pathlib import Path
from typing import Final

from lab.bench.rates import film_rates
from simulation.ideal import LEFT, OVERHEAD, RIGHT
from tests.sensors.noise import Plan, Rates, game_of, played

_BLOCK: Final = 2
"""Sessions played and counted at a time."""


def run(plan: Plan, seeds: range, jobs: int, log: Path | None) -> Counter[str]:
    """Play every seed, on so many processes, and count; what ``log`` holds is not played again."""
    done = {} if log is None else _done(log, plan)
    counts: Counter[str] = Counter()
    blocks = [seeds[at : at + _BLOCK] for at in range(0, len(seeds), _BLOCK)]
    for block in blocks:
        counts += done.get((block.start, block.stop), Counter())
    left = [block for block in blocks if (block.start, block.stop) not in done]
    with ProcessPoolExecutor(jobs) as pool:
        for block, (one, lines) in zip(
            left, pool.map(_block, left, [plan] * len(left)), strict=True
        ):
            counts += one
            if log is not None:
                _note(log, plan, block, one)
            for line in lines:
                print(line, flush=True)
    return counts


def _block(seeds: range, plan: Plan) -> tuple[Counter[str], list[str]]:
    counts: Counter[str] = Counter()
    lines: list[str] = []
    began = time.process_time()
    gc.disable()  # a session's garbage is collected at its end: a tenth faster
    for seed in seeds:
        one, told = played(seed, plan)
        counts += one
        lines += told
        gc.collect()
    counts["cpu_ms"] = round((time.process_time() - began) * 1000)
    return counts, lines


def _named(plan: Plan) -> dict[str, object]:
    return {
        "rulebook": plan.rulebook,
        "rates": astuple(plan.rates),
        "rounds": plan.rounds,
        "every": plan.every,
        "clinging": plan.clinging,
        "film": None if plan.film is None else astuple(plan.film),
        "eyes": len(plan.eyes),
        "dead": plan.dead,
    }


def _done(log: Path, plan: Plan) -> dict[tuple[int, int], Counter[str]]:
    """Return the blocks of seeds played by earlier runs of the same plan."""
    if not log.exists():
        return {}
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    mine = json.loads(json.dumps(_named(plan)))
    return {tuple(line["seeds"]): Counter(line["counts"]) for line in lines if line["plan"] == mine}


def _note(log: Path, plan: Plan, block: range, counts: Counter[str]) -> None:
    with log.open("a") as out:
        said = {"plan": _named(plan), "seeds": [block.start, block.stop], "counts": counts}
        out.write(json.dumps(said) + "\n")


def table_row(name: str, counts: Counter[str]) -> str:
    """Return the counts of a run as a line of the table."""
    rounds = max(1, counts["rounds"])
    found = " / ".join(f"{counts[which]:,}" for which in ("stated", "asked", "missed"))
    most = f"{counts['wrong']} (< {most_likely(counts['wrong']) / rounds:.1e} of rounds)"
    return (
        f"| {name} | {counts['rounds']:,} | {most} | {counts['review'] / rounds:.2%} |"
        f" {found} | {counts['false']} |"
        f" {rounds * 1000 / max(1, counts['cpu_ms']):.0f} |"
    )


def most_likely(seen: int) -> float:
    """Return the upper 95% bound (Poisson) of the mean where this many were seen.

    Where none was seen that is 3.0, the rule of three.
    """
    most = float(seen)
    while _poisson(seen, most) > 0.05:
        most += 0.01
    return most


def _poisson(at_most: int, mean: float) -> float:
    return sum(math.exp(-mean) * mean**k / math.factorial(k) for k in range(at_most + 1))


HEAD: Final = (
    "| noise | rounds | wrong, no flag (95%) | to review |"
    " mistakes stated / only asked / missed | false accusations | rounds/core-second |\n"
    "| --- | --- | --- | --- | --- | --- | --- |"
)


def main() -> None:
    """Run the table, and leave with 1 where a round was settled wrongly without a flag."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20_000, help="rounds of each line")
    parser.add_argument(
        "--times", type=float, nargs="+", default=[1.0], help="factors of the rates"
    )
    parser.add_argument("--only", nargs="*", default=[], help="the rates to use, one line each")
    parser.add_argument("--rulebook", default="kansas-shoe")
    parser.add_argument(
        "--rates",
        choices=["assumed", "measured"],
        default="assumed",
        help="the camera's: as this module states them, or as lab.bench.rates measured on films",
    )
    parser.add_argument(
        "--deck", choices=["unknown", "known"], default="unknown", help="of the measured rates"
    )
    parser.add_argument(
        "--cameras", type=int, choices=[1, 2, 3], default=1, help="overhead, and one on each side"
    )
    parser.add_argument(
        "--clinging", action="store_true", help="the camera errs by the card, not by the look"
    )
    parser.add_argument(
        "--dead", choices=["shoe", "camera"], help="a device that is silent for the whole session"
    )
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--show", action="store_true", help="name each round that is not exact")
    parser.add_argument(
        "--every", type=int, default=10, help="one mistake in so many rounds; 0: none"
    )
    parser.add_argument("--session", type=int, default=100, help="rounds of a session")
    parser.add_argument("--log", type=Path, help="keep counts here and go on from them")
    asked = parser.parse_args()
    each = asked.session
    seeds = range(asked.first, asked.first + -(-asked.rounds // each))
    wrong = 0
    print(HEAD, flush=True)
    for times in asked.times:
        for names in [[name] for name in asked.only] or [[f.name for f in fields(Rates)]]:
            rates = Rates().times(times).only(names)
            film = None
            if asked.rates == "measured":
                film = film_rates(game_of(asked.rulebook), asked.deck).times(times)
                rates = rates.of_shoe()
            plan = Plan(
                asked.rulebook,
                rates,
                each,
                asked.every,
                clinging=asked.clinging,
                show=asked.show,
                dead=asked.dead,
                film=film,
                eyes=(OVERHEAD, LEFT, RIGHT)[: asked.cameras],
            )
            counts = run(plan, seeds, asked.jobs, asked.log)
            name = f"{times:g} x {names[0] if asked.only else 'all at once'}"
            print(table_row(name, counts), flush=True)
            wrong += counts["wrong"]
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
