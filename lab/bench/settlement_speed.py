"""How fast rounds are settled here: ``python -m lab.bench.settlement_speed``.

Five spots play from a seed, by basic strategy, with doubles, splits, insurance and payments; in
one round of twenty the dealer, a player or a payment is at fault, in turn with each violation
that the house knows. Measured is the way from a fact to a settled round with its violations: from
events in memory and from a JSON Lines file, in one process and in two, and what memory that takes.
Rates are rounds in a second of a core's time, so that other work on the machine does not count.
Beside them, in the same run, public simulators of the game, where they are installed.
"""

import argparse
import gc
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final, Literal, TypeAlias

import msgspec

from lab.bench.rivals import RIVALS
from models.decode import decode_events
from models.errors import OperatorError
from models.events import AnyFact, RoundOpened
from models.house import House
from models.judgements import RoundResult
from models.rulebook import Rulebook
from server.archive.days import begun
from server.archive.history import Day
from server.archive.history_writer import write_day
from settlement import COMPILED
from settlement.engine import Engine, settle, settle_read
from settlement.native import INTERPRETED
from simulation.dealing import deal_session
from simulation.house import house
from simulation.mistakes import known, mistake_for
from simulation.table import Table
from stream.clock import elapsed_ns
from stream.journal import Journal
from stream.recording import write_events

RULEBOOK: Final = "kansas-shoe"
SPOTS: Final = (1, 2, 3, 4, 5)
SESSION_ROUNDS: Final = 1000
PAIRS: Final = 7

WANTED: Final = "jackblack py21 tqdm paramtools altair cardsharp gymnasium envpool"
"""What to install for the rivals; ``py21`` needs three of these and does not list them."""

_FORM: Final = "compiled" if COMPILED else "interpreted"

Way: TypeAlias = Literal["memory", "file", "day"]


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """What one process is to settle.

    Attributes:
        file: facts as JSON Lines; for the way ``day``, the folder of an archived day.
        way: whether they are decoded before, or as part of what is measured.
        times: how often they are settled, one after the other, by one engine.
    """

    file: str
    way: Way
    times: int


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What one process did."""

    rounds: int
    violations: int
    core_seconds: float
    seconds: float
    most_memory_kb: int

    @property
    def rate(self) -> float:
        """Rounds in a second of a core's time."""
        return self.rounds / self.core_seconds


def faults(rules: Rulebook) -> tuple[str, ...]:
    """Return the mistakes to make: all that this table can, but for a miscounted tray.

    A count of the tray reaches from one session into the next, so that it would be judged anew
    when the same facts are settled again.
    """
    return tuple(code for code in known() if code != "tray_mismatch" and _possible(code, rules))


def _possible(code: str, rules: Rulebook) -> bool:
    try:
        mistake_for(code, rules, len(SPOTS))
    except OperatorError:
        return False
    return True


def dealt(rules: Rulebook, sessions: int, without: Sequence[str] = ()) -> Iterator[AnyFact]:
    """Deal sessions one after the other, numbered as in a journal, without some mistakes."""
    mistakes = tuple(name for name in faults(rules) if name not in without)
    seq = round_ = 0
    for seed in range(sessions):
        table = Table(rules, SPOTS, seed)
        for step in deal_session(table, SESSION_ROUNDS, seed, mistakes=mistakes):
            seq += 1
            fact = msgspec.structs.replace(step.fact, seq=seq)
            if isinstance(fact, RoundOpened):
                round_ += 1
                fact = msgspec.structs.replace(fact, round=round_)
            yield fact


def work(todo: Work) -> Done:
    """Settle what is to be settled, in this process."""
    rules = house(RULEBOOK).rules
    facts = [fact for _, fact in _read(todo.file)] if todo.way == "memory" else []
    gc.collect()
    gc.freeze()  # the facts were there before; they are nothing of the engine's to look through
    began, began_ns = _core_seconds(), elapsed_ns()
    rounds = violations = 0
    for result in _settled(todo, facts, rules):
        rounds += 1
        violations += len(result.violations)
    return Done(
        rounds=rounds,
        violations=violations,
        core_seconds=_core_seconds() - began,
        seconds=(elapsed_ns() - began_ns) / 1e9,
        most_memory_kb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    )


def _settled(todo: Work, facts: Sequence[AnyFact], rules: Rulebook) -> Iterator[RoundResult]:
    if todo.way == "file":
        for _ in range(todo.times):
            yield from settle(_read(todo.file), rules)
        return
    if todo.way == "day":
        for _ in range(todo.times):
            with Day(Path(todo.file)).parts() as parts:
                for part in parts:
                    yield from settle_read(part.lean(), rules)
        return
    player = Engine(rules)
    for _ in range(todo.times):
        yield from _fed(player, facts)
    yield from player.finish()


def _fed(player: Engine, facts: Iterable[AnyFact]) -> Iterator[RoundResult]:
    for fact in facts:
        closed = player.feed(fact)
        if closed:
            yield from closed


def _read(file: str) -> Iterator[tuple[int, AnyFact]]:
    with Path(file).open("rb") as lines:
        yield from decode_events(lines, file)  # type: ignore[misc]


def _core_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def settled_apart(todo: Work, processes: int = 1, *, interpreted: bool = False) -> list[Done]:
    """Do the same work in some processes at once, each from a clean start."""
    words = [sys.executable, "-m", "lab.bench.settlement_speed"]
    words += ["--work", msgspec.json.encode(todo).decode()]
    environment = {**os.environ, INTERPRETED: "1"} if interpreted else dict(os.environ)
    running = [
        subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) for _ in range(processes)
    ]
    printed = [process.communicate()[0] for process in running]
    return [msgspec.json.decode(each, type=Done) for each in printed]


def rival(name: str, python: str) -> float | None:
    """Return what a rival plays in a second of a core; ``None`` where it is not installed."""
    words = [python, "lab/bench/rivals.py", name, str(RIVALS[name].rounds)]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    return float(run.stdout.split()[-1]) if run.returncode == 0 else None


def measure(sessions: int, long: int, python: str) -> Iterator[str]:
    """Measure everything, and print each figure as it is known."""
    rules = house(RULEBOOK).rules
    with tempfile.TemporaryDirectory() as place:
        file = str(Path(place) / "facts.jsonl")
        write_events(Path(file), dealt(rules, sessions))
        once = Work(file=file, way="memory", times=1)
        (first,) = settled_apart(once)
        facts = Path(file).read_bytes().count(b"\n")
        yield (
            f"{first.rounds:,} rounds, {facts / first.rounds:.1f} facts each;"
            f" {first.violations} of {sessions * len(faults(rules))} mistakes found"
        )
        yield _line(f"from memory, {_FORM}", first.rate)
        if COMPILED:
            (slow,) = settled_apart(once, interpreted=True)
            yield _line("  interpreted", slow.rate, first.rate)
        (read,) = settled_apart(msgspec.structs.replace(once, way="file"))
        yield _line("from JSON Lines", read.rate, first.rate)
        day = _day(Path(place), rules, sessions)
        archived, ratio = _beside_memory(Work(file=str(day), way="day", times=1), once)
        yield _line("from an archived day", archived)
        yield f"{'  beside memory':<24}{ratio:>12.2f} times, median of {PAIRS} pairs in turn"
        yield f"{'its bytes, a fact':<24}{_size(day) / facts:>12.1f}, all six tables"
        yield from _side_by_side(once, first)
        yield from _lasting(once, first, long)
    yield from _rivals(python, first.rate)


def _day(place: Path, rules: Rulebook, sessions: int) -> Path:
    """Write the same facts, a second apart, as a table's journal, and archive its day."""
    journal = place / "table.journal"
    with Journal.create(journal, table="BJ-07") as written:
        facts = (
            msgspec.structs.replace(fact, at=(fact.seq or 0) * 10**9, table="BJ-07")
            for fact in dealt(rules, sessions)
        )
        written.append_all(facts)
    began = begun(journal, House())
    assert began is not None, "its entries have times"
    about = write_day([began], House(), place / "history").about
    return place / "history" / about.day


def _beside_memory(day: Work, memory: Work) -> tuple[float, float]:
    """Return the median rate from an archived day, and that of its ratio to memory's.

    The two run in turn, so that other work on the machine slows both.
    """
    pairs = [(settled_apart(day)[0].rate, settled_apart(memory)[0].rate) for _ in range(PAIRS)]
    return median(one for one, _ in pairs), median(one / other for one, other in pairs)


def _size(day: Path) -> int:
    return sum(path.stat().st_size for path in day.iterdir())


def _line(what: str, rate: float, whole: float | None = None) -> str:
    share = "" if whole is None else f"{rate / whole:>8.2f} of the first"
    return f"{what:<24}{rate:>12,.0f} rounds/core s{share}"


def _side_by_side(todo: Work, first: Done) -> Iterator[str]:
    """Tell what two processes settle beside what one does, by their cores' time and by the wall's.

    The first says whether they hinder each other, the second whether the machine was free as well.
    """
    longer = msgspec.structs.replace(todo, times=max(1, 100_000 // first.rounds))
    (alone,) = settled_apart(longer)
    both = settled_apart(longer, processes=2)
    cores = sum(done.rate for done in both) / alone.rate
    wall = sum(done.rounds / done.seconds for done in both) / (alone.rounds / alone.seconds)
    yield f"{'two processes':<24}{cores:>12.2f} times one's; by the wall's clock {wall:.2f}"


def _lasting(todo: Work, first: Done, long: int) -> Iterator[str]:
    """Tell the most memory of a short run and of a long one, by one engine."""
    (lasting,) = settled_apart(msgspec.structs.replace(todo, times=long // first.rounds))
    for done in (first, lasting):
        yield (
            f"{'memory at most':<24}{done.most_memory_kb / 1024:>12,.1f} MB"
            f" in {done.rounds:,} rounds"
        )


def _rivals(python: str, rate: float) -> Iterator[str]:
    absent = []
    yield "rivals: rounds/core s; how many times as many rounds, and spots, the first line has"
    for name, other in RIVALS.items():
        theirs = rival(name, python)
        if theirs is None:
            absent.append(name)
            continue
        spots = rate * len(SPOTS) / (theirs * other.seats)
        yield (
            f"{name:<24}{theirs:>12,.0f}{rate / theirs:>9.2f}{spots:>9.2f}"
            f"   seats {other.seats}: {other.covers}"
        )
    if absent:
        yield (
            f"not installed: {', '.join(absent)}. To have them, in an environment of their own:"
            f" python -m venv rivals && rivals/bin/pip install {WANTED}; then --rivals"
            " rivals/bin/python"
        )


def main() -> None:
    """Measure, or be one of the processes that are measured."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=10, help="of 1,000 rounds each")
    parser.add_argument("--long", type=int, default=1_000_000, help="rounds of the long run")
    parser.add_argument(
        "--rivals", default=sys.executable, metavar="PYTHON", help="interpreter that has them"
    )
    parser.add_argument("--work", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        print(msgspec.json.encode(work(msgspec.json.decode(arguments.work, type=Work))).decode())
        return
    for line in measure(arguments.sessions, arguments.long, arguments.rivals):
        print(line, flush=True)


if __name__ == "__main__":
    main()
