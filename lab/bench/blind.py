"""What a blind camera does to settlements: ``python -m lab.bench.blind``.

Blinds the camera of simulated sessions for each ten seconds in turn: black, frozen, or of another
size. Everything else goes on: the shoe, the plates, the console. Counts what comes of it beside the
same sessions unblinded: mistakes stated that were none (there must be none), rounds with wrong
money, rounds left to a person, and questions. ``tests/contracts/test_blinded_camera.py`` holds
:func:`blinded` to what the shipped watcher reports of a film.
"""

import argparse
import dataclasses
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from msgspec.structs import replace

from lab.bench import noise, record
from lab.bench.film_noise import FilmRates
from lab.bench.noise import Heard, Plan, Rates, Timed
from lab.bench.record import Claim, Table
from models.events import CameraFault, CameraRecovered, CardGone, CardSighted

Kind: TypeAlias = Literal["black", "frozen", "size_changed"]

SECOND: Final = 10**9
SPAN_NS: Final = 10 * SECOND
KINDS: Final[tuple[Kind, ...]] = ("black", "frozen", "size_changed")
RULEBOOKS: Final = ("kansas-shoe", "casino-shoe", "casino-double-deck", "pitch-double-deck")
_FEW: Final = (1, 3)
"""The spots of every second session: its rounds are so short that a span hides most of one."""
_RAISED_NS: Final[dict[Kind, int]] = {"black": 0, "frozen": 800_000_000, "size_changed": 0}
"""How long a fault lasts before the watcher reports it."""
_CLEAR_NS: Final[dict[Kind, int]] = {
    "black": 300_000_000,
    "frozen": 1_000_000_000,
    "size_changed": 300_000_000,
}
"""How long a fault is over before the watcher reports that."""
_SEES_NS: Final[dict[Kind, int]] = {
    "black": 300_000_000,
    "frozen": 0,
    "size_changed": 300_000_000,
}
"""How long a fault is over before the watcher looks at the felt again."""
_LOOKS_NS: Final = 200_000_000
"""From then until it has looked at all that changed."""
_LIFTED_NS: Final = 700_000_000
"""From then until it reports what is gone."""


def blinded(heard: Sequence[Timed], source: str, from_ns: int, kind: Kind) -> list[Timed]:
    """Return what is heard where one camera sees nothing for ten seconds.

    What came to lie in that time and lies there still is seen at its end, all at once; what came
    and went is never seen.
    """
    until_ns = from_ns + SPAN_NS
    sees_ns = until_ns + _SEES_NS[kind]
    told = [timed for timed in heard if not _held_back(timed, source, from_ns, sees_ns)]
    fault = CameraFault(source=source, at=from_ns + _RAISED_NS[kind], kind=kind, detail="", frame=0)
    over = CameraRecovered(
        source=source,
        at=until_ns + _CLEAR_NS[kind],
        kind=kind,
        lasted_ns=SPAN_NS - _RAISED_NS[kind],
        frame=0,
    )
    held = [timed for timed in heard if _held_back(timed, source, from_ns, sees_ns)]
    told += [(one.at or 0, one) for one in (fault, over)]
    told += _seen_again(held, _lying(heard, source, from_ns), sees_ns)
    told.sort(key=lambda timed: timed[0])
    return [(at, replace(said, seq=seq)) for seq, (at, said) in enumerate(told, start=1)]


def _held_back(timed: Timed, source: str, from_ns: int, sees_ns: int) -> bool:
    at, said = timed
    seen = isinstance(said, CardSighted | CardGone)
    return seen and said.source == source and from_ns <= at < sees_ns


def _lying(heard: Sequence[Timed], source: str, at_ns: int) -> set[int]:
    """Return the tracks that lie on the felt at a time."""
    lying: set[int] = set()
    for at, said in heard:
        if at >= at_ns or said.source != source:
            continue
        if isinstance(said, CardSighted):
            lying.add(said.track)
        elif isinstance(said, CardGone):
            lying.discard(said.track)
    return lying


def _seen_again(held: Sequence[Timed], lay: set[int], sees_ns: int) -> Iterator[Timed]:
    """Yield what the camera reports as it sees again, of what it would have reported before."""
    last: dict[int, CardSighted | CardGone] = {}
    changed: dict[int, str] = {}
    for _, said in held:
        assert isinstance(said, CardSighted | CardGone)
        last[said.track] = said
        if isinstance(said, CardSighted) and said.change != "read":
            changed[said.track] = said.change
    for track, said in last.items():
        if isinstance(said, CardGone):
            if track in lay:
                yield sees_ns + _LIFTED_NS, replace(said, at=sees_ns)
        elif track not in lay:
            yield sees_ns + _LOOKS_NS, replace(said, at=sees_ns, change="new")
        elif track in changed:
            change = changed[track]
            yield sees_ns + _LOOKS_NS, replace(said, at=sees_ns, change=change)


# --- a run --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Blinding:
    """A session, from how many seconds after its start it is blinded, if at all, and how."""

    seed: int
    rulebook: str
    every: int
    rounds: int
    show: bool
    kinds: tuple[Kind, ...] = KINDS
    spots: tuple[int, ...] = ()
    from_s: float | None = None
    kind: Kind = "black"


def plan_of(one: Blinding) -> Plan:
    """Return the plan of a session whose sensors do not err."""
    return Plan(
        one.rulebook,
        Rates().times(0.0),
        one.rounds,
        one.every,
        clinging=False,
        show=one.show,
        spots=one.spots,
        film=FilmRates.measured(noise.game_of(one.rulebook), "unknown").times(0.0),
    )


def spoilt(told: Heard, one: Blinding) -> Heard:
    """Return a session as it is heard with a span blinded."""
    if one.from_s is None:
        return told
    from_ns = told.spoilt[0][0] + round(one.from_s * SECOND)
    heard = blinded(told.spoilt, "camera:overhead", from_ns, one.kind)
    return Heard(told.rules, told.layout, told.dealing, told.facts, heard)


def counted(one: Blinding) -> tuple[Counter[str], list[str]]:
    """Play a session as it is blinded, and count what became of its rounds."""
    plan = plan_of(one)
    return noise.counted(spoilt(noise.heard(one.seed, plan), one), one.seed, plan)


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
