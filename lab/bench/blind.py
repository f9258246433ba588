"""What a blind camera does to settlements: ``python -m lab.bench.blind``.

Blinds the camera of simulated sessions for each ten seconds in turn: black, frozen, or of another
size. Everything else goes on: the shoe, the plates, the console. Counts what comes of it beside the
same sessions unblinded: mistakes stated that were none (there must be none), rounds with wrong
money, rounds left to a person, and questions. ``tests/contracts/test_blinded_camera.py`` holds
what blinds a session to what the shipped watcher reports of a film.
"""

import argparse
import dataclasses
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Final

from lab.bench import record
from lab.bench.record import Claim, Table
from tests.sensors import noise
from tests.sensors.blind import KINDS, SECOND, SPAN_NS, Blinding, plan_of, spoilt

RULEBOOKS: Final = ("kansas-shoe", "casino-shoe", "casino-double-deck", "pitch-double-deck")
_FEW: Final = (1, 3)
"""The spots of every second session: its rounds are so short that a span hides most of one."""


def _of_session(one: Blinding) -> tuple[Counter[str], list[str]]:
    """Play a session unblinded, and once for each of its spans and each kind of fault."""
    plan = plan_of(one)
    told = noise.heard(one.seed, plan)
    counts: Counter[str] = Counter()
    lines: list[str] = []
    found, _ = noise.counted(told, one.seed, plan)
    counts.update({f"unblinded {key}": number for key, number in found.items()})
    length_ns = told.spoilt[-1][0] - told.spoilt[0][0]
    for from_ns in range(0, length_ns, SPAN_NS):
        for kind in one.kinds:
            blind = dataclasses.replace(one, from_s=from_ns / SECOND, kind=kind)
            found, shown = noise.counted(spoilt(told, blind), one.seed, plan)
            counts.update({f"{kind} {key}": number for key, number in found.items()})
            counts[f"{kind} spans"] += 1
            where = f"  {one.rulebook}, {kind} from {from_ns // SECOND} s:"
            lines += [where + line for line in shown]
    return counts, lines


def main() -> None:
    """Print the counts of each kind of blindness."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=2, help="of a session")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--rulebooks", nargs="+", default=RULEBOOKS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--show", action="store_true", help="name each round that is not exact")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    record.add_option(parser)
    asked = parser.parse_args()
    sessions = [
        Blinding(
            seed,
            asked.rulebooks[seed // 2 % len(asked.rulebooks)],
            2 if seed // 8 % 2 else 0,
            asked.rounds,
            asked.show,
            tuple(asked.kinds),
            () if seed % 2 else _FEW,
        )
        for seed in range(asked.first, asked.first + asked.sessions)
    ]
    counts: Counter[str] = Counter()
    with ProcessPoolExecutor(asked.jobs) as pool:
        for found, lines in pool.map(_of_session, sessions):
            counts += found
            for line in lines:
                print(line, flush=True)
    table = table_of(counts)
    print("\n".join(" | ".join(row) for row in (table.columns, *table.rows)))
    every = sum((_of(counts, kind) for kind in KINDS), Counter())
    if asked.record:
        record.record("blind", claims_of(every, _of(counts, "unblinded")), [table])
    sys.exit(1 if every["false"] or every["wrong net"] else 0)


def _of(counts: Counter[str], kind: str) -> Counter[str]:
    own = {key.partition(" ")[2]: n for key, n in counts.items() if key.startswith(f"{kind} ")}
    return Counter(own)


def table_of(counts: Counter[str]) -> Table:
    """Return the counts of each kind of blindness beside those of the same sessions unblinded."""
    columns = ("rounds", "false", "wrong net", "review", "questions", "mistakes", "stated", "asked")
    rows = []
    for kind in ("unblinded", *KINDS):
        own = _of(counts, kind)
        spans = f"{own['spans']:,}" if own["spans"] else ""
        rows.append(
            (kind, spans, *(f"{own[column]:,}" for column in columns), f"{own['missed']:,}")
        )
    return Table(("camera", "spans", *columns, "missed"), tuple(rows))


def claims_of(blind: Counter[str], sound: Counter[str]) -> list[Claim]:
    """Return the figures of all blinded sessions together."""
    spans = max(1, blind["spans"])
    return [
        Claim("false mistakes stated", blind["false"], of=blind["rounds"]),
        Claim("rounds with wrong money and no question", blind["wrong net"], of=blind["rounds"]),
        Claim("questions for a blinded span", round(blind["questions"] / spans, 2)),
        Claim("rounds to a person", blind["review"], of=blind["rounds"]),
        Claim(
            "the same sessions unblinded: rounds to a person", sound["review"], of=sound["rounds"]
        ),
    ]


if __name__ == "__main__":
    main()
