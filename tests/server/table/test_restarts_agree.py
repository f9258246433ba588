"""A table killed again and again writes the same journal wherever its starts go on from.

One that goes on from where it last stood at rest, and one that processes everything again: their
journals are held to each other byte for byte, by the hash that stands for every entry.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_
from random import Random

import pytest
from msgspec.structs import replace

from models.events import AnyObservation, Observation
from models.judgements import AnyEvent, RoundResult
from server.table.rest import Rest
from server.table.resume import Past, past_of, recall
from stream.journal import Journal
from tests.server.table.test_going_on import AFTER_NS, Watched, known
from tests.server.table.test_run import concluded
from tests.settlement.noise import (
    camera_half_reads,
    line_noise,
    renumbered,
    shoe_frames_break,
    shoe_repeats,
)
from tests.settlement.sessions import Session, session
from tests.thoroughness import one_in

KILLS = 6
NOISE = (camera_half_reads, shoe_frames_break, line_noise, shoe_repeats)
TWO_DECKS = ("decks=2",)
"""So that a session of few rounds has several shoes."""


@dataclass
class Killed:
    """A table that is killed and started again on one journal."""

    played: Session
    rest_of: Callable[[Past], Rest | None]
    rests: int = 0

    def play(self, kills: Sequence[int], tails: Sequence[int]) -> tuple[str, list[RoundResult]]:
        """Play to the end, killed after so many observations, each time losing some entries.

        Returns the hash of its journal, and the rounds that the last table remembers.
        """
        events = list(known(Journal.in_memory()))
        for kill, lost in zip([*kills, None], [*tails, 0], strict=True):
            with Journal.in_memory() as journal:
                journal.append_all(replace(one, seq=None) for one in events)
                table = self._started(journal)
                table.observe(self._left(journal, kill))
                if kill is None:
                    table.wait(table.now_ns + AFTER_NS)
                    return journal.verify().head, list(table.pipeline.rounds())
                events = known(journal)[: journal.last_seq - lost]
        raise AssertionError("the last one is not killed")

    def _started(self, journal: Journal) -> Watched:
        past = past_of(journal)
        rest = self.rest_of(past)
        self.rests += rest is not None
        table = Watched(journal, self.played, rest)
        recall(past, table.pipeline, table.record, rest)
        table.now_ns = max(table.now_ns, past.end_ns)
        return table

    def _left(self, journal: Journal, kill: int | None) -> Sequence[tuple[int, AnyObservation]]:
        journalled = sum(isinstance(one, Observation) for one in known(journal))
        return self.played.heard[journalled:kill]


def _disturbed(seed: int, *, noisy: bool) -> Session:
    dealt = session("kansas-shoe", seed, rounds=14, spots=(1, 3, 5), knobs=TWO_DECKS)
    observations, chance = list(dealt.heard), Random(seed)
    for disturb in NOISE if noisy else ():
        observations = disturb(observations, chance)
    return with_(dealt, heard=tuple(renumbered(observations)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(4, range(1, 5), 1))
@pytest.mark.parametrize("noisy", [False, True], ids=["sound", "noisy"])
def test_a_start_from_a_rest_gives_byte_for_byte_what_processing_everything_gives(
    seed: int, noisy: bool
) -> None:
    played, chance = _disturbed(seed, noisy=noisy), Random(f"kills {seed}")
    kills = sorted(chance.sample(range(20, len(played.heard)), KILLS))
    tails = [chance.randrange(12) for _ in kills]
    from_rest = Killed(played, lambda past: past.rest)
    whole = Killed(played, lambda _: None)
    assert from_rest.play(kills, tails) == whole.play(kills, tails)
    assert from_rest.rests > 0


LATE_SHARE = 0.05
LATE_NS = (2_500_000_000, 5_000_000_000)
"""As late as the going of a card that was taken up while no table watched."""


def _late_journal(played: Session, chance: Random) -> list[AnyEvent]:
    """The journal of a table that receives some observations seconds after their time."""
    with Journal.in_memory() as journal:
        table = Watched(journal, played)
        for at_ns, one in played.heard:
            is_late = chance.random() < LATE_SHARE
            table.wait(max(table.now_ns, at_ns + (chance.randrange(*LATE_NS) if is_late else 0)))
            table.pipeline.observe((replace(one, seq=None),), table.now_ns)
        table.wait(table.now_ns + AFTER_NS)
        return known(journal)


@pytest.mark.parametrize("seed", one_in(2, (2, 3)))
def test_what_came_seconds_late_comes_late_again(seed: int) -> None:
    """Before an observation had the time of its arrival, such a start was refused."""
    played, chance = _disturbed(seed, noisy=True), Random(f"late {seed}")
    events = _late_journal(played, chance)
    assert any(isinstance(one, Observation) and one.heard for one in events)
    for cut in chance.sample(range(100, len(events)), 8):
        with Journal.in_memory() as journal:
            journal.append_all(replace(one, seq=None) for one in events[:cut])
            past = past_of(journal)
            table = Watched(journal, played, past.rest)
            recall(past, table.pipeline, table.record, past.rest)
            found = concluded(known(journal))
        assert found == concluded(events)[: len(found)]
