"""Films of rulings and of side bets, from pixels, bytes and the floor's entries to payouts."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from models.events import AnyFact, CardMoved, ConsoleEntry, Fact, RoundCalledOff
from server.table.comparison import tally
from server.table.replay import Replayed
from simulation.session import Settings, simulate
from stream.recording import read_events
from tests.server.table.test_replay import SETTINGS, play

pytestmark = pytest.mark.slow

FILMS = [
    ("misdeal_called_off", "kansas-shoe", "spot_skipped"),
    ("misdeal_called_off", "pitch-double-deck", "spot_skipped"),
    ("card_offered_to_next", "kansas-shoe", "extra_card_after_double"),
    ("card_offered_to_next", "pitch-double-deck", "extra_card_after_double"),
]


def rulings(facts: list[AnyFact]) -> list[AnyFact]:
    """Return the rulings, without their places in a journal."""
    ruled = [fact for fact in facts if isinstance(fact, CardMoved | RoundCalledOff)]
    return [replace(fact, seq=None, table=None, evidence=()) for fact in ruled]


def facts_of(replayed: Replayed) -> list[AnyFact]:
    return [event for event in replayed.events if isinstance(event, Fact)]


@pytest.mark.parametrize(("mistake", "rulebook", "code"), FILMS)
def test_a_film_of_a_ruling_replays_exactly_with_the_entry(
    mistake: str, rulebook: str, code: str, tmp_path: Path
) -> None:
    settings = Settings(
        rulebook=rulebook,
        rounds=1,
        seed=4,
        spots=(1, 3),
        look=SETTINGS.look,
        mistakes=(mistake,),
    )
    session = simulate(settings, tmp_path / "session")
    entered = [
        one.fact for one in read_events(session / "console.jsonl") if isinstance(one, ConsoleEntry)
    ]
    found = play(session, settings=settings)
    assert tally(found.comparisons or ()).exact == 1
    assert len(rulings(entered)) == 1
    assert rulings(facts_of(found)) == rulings(entered)
    (round_,) = found.rounds
    assert [one.code for one in round_.mistakes] == [code]
    assert (round_.net == 0) is (mistake == "misdeal_called_off")


@pytest.mark.parametrize("rulebook", ["kansas-shoe", "casino-double-deck"])
def test_a_film_of_a_side_bet_paid_wrongly_replays_exactly(rulebook: str, tmp_path: Path) -> None:
    settings = Settings(
        rulebook=rulebook,
        rounds=1,
        seed=4,
        spots=(1, 3),
        look=SETTINGS.look,
        mistakes=("wrong_payout",),
        side_bet="perfect-pairs-25-12-6",
    )
    found = play(simulate(settings, tmp_path / "session"), settings=settings)
    assert tally(found.comparisons or ()).exact == 1
    (round_,) = found.rounds
    (wrong,) = round_.mistakes
    assert (wrong.code, wrong.detail.split(":")[0]) == (
        "wrong_payout",
        "side bet perfect-pairs-25-12-6",
    )
