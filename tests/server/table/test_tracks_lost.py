"""A camera that loses a card whenever it is moved or turned costs no payout and no verdict."""

import msgspec
import pytest

from models.judgements import RoundSettled
from server.process.stopwatch import Stopwatch
from server.table.comparison import compare_sessions
from server.table.pipeline import Pipeline
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from simulation.ideal import ideal_observations
from simulation.session import Settings, prepare, truth
from stream.journal import Journal
from tests.thoroughness import one_in


@pytest.mark.parametrize("rulebook", ["kansas-shoe", "pitch-double-deck", "home"])
@pytest.mark.parametrize("seed", one_in(4, range(15, 23)))
def test_every_round_comes_out_as_it_was(rulebook: str, seed: int) -> None:
    settings = Settings(rounds=1, seed=seed, rulebook=rulebook, spots=(1, 3, 4))
    scene = prepare(settings)
    rules = scene.house.rules
    reconciler = Reckoning(rules, scene.layout, "shoe" if scene.staged.shoe else "pitch")
    observations = ideal_observations(
        scene.staged,
        scene.layout,
        start_ns=settings.start_ns,
        table=settings.table,
        seed=seed,
        keeps_tracks=False,
    )
    with Journal.in_memory() as journal:
        watch = Stopwatch(lambda: 0)
        pipeline = Pipeline(settings.table, journal, reconciler, Engine(rules), watch)
        for now_ns, observation in observations:
            pipeline.observe((msgspec.structs.replace(observation, seq=None),), now_ns)
        pipeline.finish()
        real = [e.result for e in truth(scene, settings) if isinstance(e, RoundSettled)]
        compared = compare_sessions(real, pipeline.rounds())
    assert [(one.verdict, one.differences) for one in compared] == [("exact", ())]
