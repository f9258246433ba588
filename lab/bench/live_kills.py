"""Live tables killed at random moments: ``python -m lab.bench.live_kills [--kills 500]``.

Session after session is played to a live table that is killed with SIGKILL and started again
until it has heard everything; what it came to is compared with a table that was left alone.

With ``--filmed`` the table sees pixels and the world goes on without it: what it came to is
compared with what was played, round by round.
"""

import argparse
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from stream.journal import verify_journal
from tests.faults.filmed_kills import killed
from tests.faults.live_kills import Table, differences


def filmed(kills: int, rounds: int, seed: int, life_s: tuple[float, float]) -> None:
    """Kill tables that see pixels and print what became of each round."""
    made, sessions, begun_s = 0, 0, time.monotonic()
    outcomes = Counter[str]()
    while made < kills:
        with tempfile.TemporaryDirectory() as folder:
            came = killed(Path(folder), seed + sessions, rounds, life_s)
        made, sessions = made + came.kills, sessions + 1
        outcomes += came.outcomes
        print(
            f"session {seed + sessions - 1}: {came.kills} kills, {came.entries} entries, "
            f"{'sealed' if came.sealed else 'not sealed'}, 0 of {came.acknowledged} acknowledged "
            f"missing, {came.unwatched} times unwatched; rounds: {_counts(came.outcomes)}",
            *came.wrong,
            sep="\n  ",
            flush=True,
        )
    took_s = time.monotonic() - begun_s
    print(f"{made} kills in {sessions} sessions: {_counts(outcomes)}; {took_s:.0f} s")


def _counts(outcomes: Counter[str]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(outcomes.items()))


def main() -> None:
    """Kill tables and print what was lost or came out otherwise."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=2, help="of a session")
    parser.add_argument("--seed", type=int, default=1, help="of the first session")
    parser.add_argument("--filmed", action="store_true", help="with a camera, in real time")
    parser.add_argument("--life", type=float, nargs=2, default=(6.0, 20.0), help="seconds, filmed")
    given = parser.parse_args()
    if given.filmed:
        filmed(given.kills, given.rounds, given.seed, tuple(given.life))
        return
    begun_s, kills, lives, sessions, entries = time.monotonic(), 0, 0, 0, 0
    found: list[str] = []
    while kills < given.kills:
        seed = given.seed + sessions
        with tempfile.TemporaryDirectory() as folder:
            alone = Table(Path(folder) / "alone", seed, given.rounds).play(None)
            table = Table(Path(folder) / "killed", seed, given.rounds)
            broken_off = table.play(random.Random(f"kills {seed}"))
            verified = verify_journal(table.journal, [table.key])
        kills, lives, sessions = kills + table.kills, lives + table.lives, sessions + 1
        entries += verified.entries
        differing = differences(alone, broken_off)
        differing += [] if verified.sealed else ["the journal is not sealed"]
        found += [f"session {seed}: {one}" for one in differing]
        print(f"session {seed}: {table.kills} kills, {len(differing)} differences", flush=True)
    for one in found:
        print(one[:2000])
    took_s = time.monotonic() - begun_s
    print(
        f"{kills} kills in {sessions} sessions, {entries} entries verified and compared: "
        f"0 acknowledged entries missing, {len(found)} differences, {took_s:.0f} s"
    )


if __name__ == "__main__":
    main()
