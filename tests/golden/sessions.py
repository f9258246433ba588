"""Recorded sessions whose outcome is pinned byte for byte.

``<name>.observations.jsonl`` holds what sensors said, each with the time at which it was heard;
``<name>.judged.jsonl`` every fact and judgement that follows. After a wanted change,
``python -m tests.golden.sessions`` writes them again; the difference is there to be read.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from models.decode import from_toml
from models.events import AnyObservation, Observation
from models.layout import TableLayout
from server.house.rulebooks import rules_for
from server.process.stopwatch import Stopwatch
from server.table.pipeline import Pipeline
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from simulation.ideal import ideal_observations
from simulation.session import Settings, prepare
from stream import library
from stream.journal import Journal

FOLDER: Final = Path(__file__).parent

SESSIONS: Final = {
    "plain": Settings(rounds=2, seed=5, spots=(1, 3, 4)),
    "mistake": Settings(
        rounds=2, seed=8, spots=(2, 4), mistakes=("dealer_hit_hard_17", "wrong_payout")
    ),
    "line-shoe": Settings(rounds=1, seed=11, spots=(1, 2, 3, 4, 5), shoe="line"),
}


class Heard(msgspec.Struct, frozen=True):
    """One observation, and when the pipeline heard it."""

    now_ns: int
    observation: AnyObservation


def heard(name: str) -> list[Heard]:
    """Read a recorded session."""
    lines = (FOLDER / f"{name}.observations.jsonl").read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Heard) for line in lines]


def judged(observations: Iterable[Heard]) -> bytes:
    """Run observations through the pipeline; return every fact and judgement, a line each."""
    rules = rules_for("kansas-shoe")
    layout = from_toml(library.layout_text("five-spots"), TableLayout, "five-spots")
    with Journal.in_memory() as journal:
        stopwatch = Stopwatch(lambda: 0)
        pipeline = Pipeline("BJ-01", journal, Reckoning(rules, layout), Engine(rules), stopwatch)
        for one in observations:
            pipeline.observe((one.observation,), one.now_ns)
        pipeline.finish()
        events = (event for event in journal.read() if not isinstance(event, Observation))
        return b"".join(msgspec.json.encode(event) + b"\n" for event in events)


def record(name: str) -> None:
    """Simulate a session with perfect sensors and pin what follows from it."""
    settings = SESSIONS[name]
    scene = prepare(settings)
    said = ideal_observations(
        scene.staged,
        scene.layout,
        start_ns=settings.start_ns,
        table=settings.table,
        seed=settings.seed,
    )
    lines = [
        Heard(now_ns, msgspec.structs.replace(observation, seq=None))
        for now_ns, observation in said
    ]
    (FOLDER / f"{name}.observations.jsonl").write_bytes(
        b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    )
    (FOLDER / f"{name}.judged.jsonl").write_bytes(judged(lines))


if __name__ == "__main__":
    for session in SESSIONS:
        record(session)
