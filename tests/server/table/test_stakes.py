"""A stake that grows, shrinks or appears after the first card: from the plate's bytes to the
violation, with its moment, what the plate reported before and after, and the film of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from devices.plates import encode_plate
from models.events import (
    AnyFact,
    AnyObservation,
    CardDealt,
    CardExposed,
    PaymentMade,
    PlateRead,
    WagerPlaced,
    WagerRemoved,
)
from models.judgements import RoundSettled, Violation
from server.archive.incident import entry_asked
from server.process.stopwatch import Stopwatch
from server.table.pipeline import Pipeline
from settlement.engine import Engine
from settlement.reckoning import Reckoning
from simulation.ideal import ideal_observations
from simulation.session import START_NS, Settings, prepare
from stream.journal import Journal
from tests.faults.live_kills import Table
from tests.thoroughness import one_in

pytestmark = pytest.mark.slow

S = 1_000_000_000


@dataclass(frozen=True)
class Caught:
    """A violation as a live table's journal holds it, and what it rests on."""

    violation: Violation
    fact: WagerPlaced | WagerRemoved
    before: PlateRead | None
    after: PlateRead
    first_card_ns: int
    journal: Path


def caught(place: Path, code: str, seed: int) -> Caught:
    """Play the mistake to a live table and return what it found, and nothing else."""
    table = Table(place, seed, rounds=1, mistakes=(code,))
    events = {event.seq: event for event in table.play(None) if event.seq is not None}
    settled = [event for event in events.values() if isinstance(event, RoundSettled)]
    (violation,) = (one for event in settled for one in event.result.violations)
    fact = events[violation.seq]
    assert isinstance(fact, WagerPlaced | WagerRemoved)
    readings = [events[seq] for seq in fact.evidence]
    plates = [one for one in readings if isinstance(one, PlateRead)]
    assert plates == readings
    return Caught(
        violation,
        fact,
        plates[0] if len(plates) > 1 else None,
        plates[-1],
        min(event.at or 0 for event in events.values() if isinstance(event, CardDealt)),
        table.journal,
    )


@pytest.mark.parametrize("seed", one_in(3, (1, 2, 3)))
@pytest.mark.parametrize(
    ("code", "grows"),
    [("stake_increased_after_deal", True), ("stake_reduced_after_deal", False)],
)
def test_a_stake_changed_after_the_first_card_is_found_with_its_moment_and_evidence(
    tmp_path: Path, code: str, grows: bool, seed: int
) -> None:
    found = caught(tmp_path / "table", code, seed)
    before, after = found.before, found.after
    assert found.violation.code == code
    assert before is not None
    assert before.source == after.source == f"plate:{found.violation.spot}"
    assert (after.amount > before.amount) is grows
    assert abs(after.amount - before.amount) == found.fact.amount
    assert (before.at or 0) < found.first_card_ns < (after.at or 0)
    assert (found.fact.at or 0) <= (after.at or 0) < (found.fact.at or 0) + S
    for reading in (before, after):
        sent = encode_plate(reading.spot, reading.circle, reading.amount, chips(reading))
        assert bytes.fromhex(reading.raw) == sent


def chips(reading: PlateRead) -> dict[int, int]:
    return {int(value): number for value, number in reading.chips.items()}


def test_a_wager_laid_after_the_first_card_is_found(tmp_path: Path) -> None:
    found = caught(tmp_path / "table", "wager_after_deal", 1)
    assert found.violation.code == "wager_after_deal"
    assert found.before is None or found.before.amount == 0
    assert found.after.amount == found.fact.amount


def test_the_entry_that_a_violation_names_leads_to_the_film_of_that_moment(tmp_path: Path) -> None:
    found = caught(tmp_path / "table", "stake_increased_after_deal", 1)
    asked = entry_asked(found.journal, found.violation.seq, 5 * S)
    assert asked.from_ns + 5 * S == found.fact.at == asked.to_ns - 5 * S
    assert asked.first <= (found.after.seq or 0) <= asked.last


@pytest.mark.parametrize("seed", one_in(3, (2, 3, 4)))
def test_chips_added_once_the_dealers_hand_is_known_come_out_as_a_wrong_payout(seed: int) -> None:
    settings = Settings(rounds=1, seed=seed, spots=(1, 3), video=False)
    scene = prepare(settings)
    observations = ideal_observations(
        scene.staged, scene.layout, start_ns=START_NS, table=settings.table, seed=seed
    )
    rules = scene.house.rules
    reader, engine = Reckoning(rules, scene.layout), Engine(rules)
    with Journal.in_memory() as journal:
        pipeline = Pipeline(settings.table, journal, reader, engine, Stopwatch(lambda: 0))
        for at_ns, one in posted_late(observations, scene.staged.facts, 500):
            pipeline.observe((one,), at_ns)
        pipeline.finish()
        ((violation,),) = (result.violations for result in pipeline.rounds())
    assert violation.code == "wrong_payout"
    assert "difference 5.00" in violation.detail


def posted_late(
    observations: Sequence[tuple[int, AnyObservation]], truth: Sequence[AnyFact], cents: int
) -> list[tuple[int, AnyObservation]]:
    """The observations when chips are slipped to a winning wager after the dealer's last card."""
    paid = next(fact for fact in truth if isinstance(fact, PaymentMade) and fact.amount > 0)
    shown = [fact.at or 0 for fact in truth if isinstance(fact, CardDealt | CardExposed)]
    late_ns = START_NS + max(shown) + 400_000_000
    found: list[tuple[int, AnyObservation]] = []
    lay = 0
    for at_ns, one in observations:
        observed: AnyObservation = replace(one, seq=None)
        if isinstance(observed, PlateRead) and (observed.spot, observed.circle) == (
            paid.spot,
            str(paid.hand),
        ):
            if at_ns > late_ns:
                if lay:
                    slipped = replace(observed, at=late_ns, amount=lay + cents, chips={})
                    found.append((late_ns, slipped))
                    lay = 0
                observed = replace(
                    observed, amount=observed.amount and observed.amount + cents, chips={}
                )
            else:
                lay = observed.amount
        found.append((at_ns, observed))
    return sorted(found, key=lambda timed: timed[0])
