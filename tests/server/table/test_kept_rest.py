"""A start from the kept rest comes to what a start that reads the whole journal comes to.

The file beside the journal only saves time. Whatever is wrong with it, the start reads everything.
"""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from dataclasses import replace as with_
from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from models.errors import TechnicianError
from models.events import AnyObservation, Event, Observation, ReviewResolved
from models.judgements import ReviewRaised, RoundResult
from server.house.formatting import Formats
from server.table.config import Placed, read_config
from server.table.kept_rest import KeptRest, RestFile
from server.table.live import LiveTable
from server.table.rest_keeper import RestKeeper
from server.table.resume import Past, past_of, recall
from server.table.status import Standing
from stream.clock import HostClock
from stream.journal import Journal, link
from stream.seal import break_seal
from stream.signing import Signer
from tests.faults.live_process import Blind, known_driver
from tests.server.table.journalled import begun, rests_of
from tests.server.table.test_going_on import AFTER_NS, Watched, known
from tests.settlement.noise import (
    camera_half_reads,
    everything_at_once,
    line_noise,
    renumbered,
    shoe_frames_break,
    shoe_repeats,
)
from tests.settlement.sessions import Session, session
from tests.thoroughness import one_in

MADE_BY = "this program, these rules"
KILLS = 6
TWO_DECKS = ("decks=2",)
"""So that a session of few rounds has several shoes."""
NOISE = (camera_half_reads, shoe_frames_break, line_noise, shoe_repeats)
REASON = "seen on the film"


@dataclass
class Life:
    """One run of a table, with what it keeps."""

    table: Watched
    standing: Standing
    past: Past


@dataclass
class Killed:
    """A table that is killed and started again on one journal; people decide at its starts.

    Without a file it reads the whole journal at every start.
    """

    played: Session
    file: RestFile | None
    begun_from: list[int] = field(default_factory=list)
    """The entries before the kept rests that it started from."""

    def play(self, kills: Sequence[int], tails: Sequence[int]) -> tuple[str, Life]:
        """Play to the end, killed after so many observations, each time losing some entries.

        Returns the hash of its journal, and the last run.
        """
        events = list(known(Journal.in_memory()))
        for kill, lost in zip([*kills, None], [*tails, 0], strict=True):
            journal = Journal.in_memory()
            journal.append_all(replace(one, seq=None) for one in events)
            life = self._started(journal)
            self._decide(journal, life)
            life.table.observe(self._left(journal, kill))
            if kill is None:
                life.table.wait(life.table.now_ns + AFTER_NS)
                self._decide(journal, life)
                return journal.verify().head, life
            events = known(journal)[: journal.last_seq - lost]
        raise AssertionError("the last one is not killed")

    def _started(self, journal: Journal) -> Life:
        kept = None if self.file is None else self.file.read()
        if kept is not None and journal.hash_of(kept.shown.seq) == kept.shown.head:
            self.begun_from.append(kept.place.seq)
        else:
            kept = None
        past, standing = past_of(journal, kept), Standing(())
        table = Watched(journal, self.played, past.rest)
        if kept is not None:
            standing.go_on(kept.standing, kept.rest)
        table.on_entry = standing.take
        recall(past, table.pipeline, table.record, past.rest)
        table.now_ns = max(table.now_ns, past.end_ns)
        if self.file is not None:
            keeper = RestKeeper(
                self.file, journal, past, pipeline=table.pipeline, standing=standing
            )
            table.on_entry = _both(standing.take, keeper.take)
        return Life(table, standing, past)

    def _decide(self, journal: Journal, life: Life) -> None:
        """Decide the oldest two items that are open: the first stands, the other round is void."""
        events = known(journal)
        decided = {(one.round, one.item) for one in events if isinstance(one, ReviewResolved)}
        items: dict[int, int] = {}
        asked = []
        for one in events:
            if isinstance(one, ReviewRaised):
                number = items.get(one.round, 0)
                items[one.round] = number + 1
                asked += [(one.round, number)] if (one.round, number) not in decided else []
        for (number, item), kind in zip(asked, ("stands", "void"), strict=False):
            decision = ReviewResolved(
                source="console:ann",
                at=life.table.now_ns,
                round=number,
                item=item,
                decision=kind,  # type: ignore[arg-type]
                reason=REASON,
            )
            life.table.pipeline.observe((decision,), life.table.now_ns)

    def _left(self, journal: Journal, kill: int | None) -> Sequence[tuple[int, AnyObservation]]:
        journalled = [one for one in known(journal) if isinstance(one, Observation)]
        return self.played.heard[
            sum(not isinstance(one, ReviewResolved) for one in journalled) : kill
        ]


def _both(*takes: Callable[[Event], None]) -> Callable[[Event], None]:
    def take(event: Event) -> None:
        for one in takes:
            one(event)

    return take


def _disturbed(seed: int, noise: str) -> Session:
    if noise == "hand-dealt":
        return session("casino-single-deck", 7, rounds=8)
    dealt = session("kansas-shoe", seed, rounds=21, spots=(1, 3, 5), knobs=TWO_DECKS)
    observations, chance = list(dealt.heard), Random(seed)
    if noise == "noisy":
        for disturb in NOISE:
            observations = disturb(observations, chance)
    elif noise == "everything":
        observations = everything_at_once(observations, chance)
    return with_(dealt, heard=tuple(renumbered(observations)))


def _kept(place: Path, warnings: list[str] | None = None, signer: Signer | None = None) -> RestFile:
    warned = [] if warnings is None else warnings
    return RestFile(place / "t.journal", signer, MADE_BY, warned.append)


def _states(standing: Standing) -> tuple[object, ...]:
    return (
        standing.round,
        standing.last,
        standing.settled,
        standing.reviews,
        standing.lost,
        standing.shoe_out,
        standing.lying,
        standing.phases.kept(),
        standing.clock,
    )


def _by_number(life: Life) -> dict[int, RoundResult]:
    return {one.round: one for one in life.table.pipeline.rounds()}


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(2, (1, 2)))
@pytest.mark.parametrize("noise", ["sound", "noisy", "everything", "hand-dealt"])
def test_a_killed_table_writes_byte_for_byte_what_one_that_reads_everything_writes(
    tmp_path: Path, seed: int, noise: str
) -> None:
    played, chance = _disturbed(seed, noise), Random(f"kept {seed}")
    kills = sorted([*chance.sample(range(20, len(played.heard)), KILLS), len(played.heard) - 30])
    tails = [chance.randrange(12) for _ in kills]
    fast, slow = Killed(played, _kept(tmp_path)), Killed(played, None)
    head, life = fast.play(kills, tails)
    due, alone = slow.play(kills, tails)
    assert len(set(fast.begun_from)) > (noise != "hand-dealt")
    assert head == due
    assert _states(life.standing) == _states(alone.standing)
    found, expected = _by_number(life), _by_number(alone)
    both = sorted(set(found) & set(expected))
    assert both
    assert {n: found[n] for n in both} == {n: expected[n] for n in both}
    assert life.past.end_ns == alone.past.end_ns
    assert life.past.tracks == alone.past.tracks
    assert {one.seq for one in life.past.decisions} == {one.seq for one in alone.past.decisions}


# --- a live table -------------------------------------------------------------------------------

ROUNDS = 70
"""Of two spots: several shoes of six decks."""


@dataclass(frozen=True)
class Left:
    """What a table left behind: its configuration and a journal, killed in its last shoe."""

    placed: Placed
    warnings: list[str] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return self.placed.beside(self.placed.config.journal)

    def rests(self) -> RestFile:
        return rests_of(self.placed, self.warnings.append)

    def start(self, rests: RestFile) -> tuple[object, ...]:
        """Start the table, and return its state."""
        with rests.open_journal(None) as journal:
            table = LiveTable(self.placed, journal, HostClock(), Blind(), rests=rests)
            return (*_states(table.standing), table.standing.line(Formats()))

    def change(self, how: Callable[[KeptRest], KeptRest], by: RestFile | None = None) -> None:
        """Let the table, or somebody else, write another rest."""
        kept = self.rests().read()
        assert kept is not None
        (by or self.rests()).write(how(kept))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with known_driver():
        folder = tmp_path_factory.mktemp("made")
        begun(folder, ROUNDS)
        yield folder / str(ROUNDS)


@pytest.fixture
def left(made: Path, tmp_path: Path) -> Iterator[Left]:
    for name in ("table.toml", "table.key", "layout.toml", "table.journal", "table.journal.rest"):
        shutil.copy(made / name, tmp_path / name)
    os.mkfifo(tmp_path / "console")
    with known_driver():
        placed = read_config(tmp_path / "table.toml")
        yield Left(with_(placed, config=replace(placed.config, recorder=None)))


@pytest.fixture
def due(left: Left) -> tuple[object, ...]:
    """How the table stands that read its whole journal."""
    with Journal.open(left.path) as journal:
        table = LiveTable(left.placed, journal, HostClock(), Blind())
        return (*_states(table.standing), table.standing.line(Formats()))


def test_a_start_verifies_and_reads_only_the_last_shoe(
    left: Left, due: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[int] = []

    def counted(head: bytes, seq: int, body: bytes) -> bytes:
        checked.append(seq)
        return link(head, seq, body)

    monkeypatch.setattr("stream.verifying.link", counted)
    rests = left.rests()
    assert left.start(rests) == due
    assert rests.found is not None
    assert left.warnings == []
    assert len(checked) == checked[-1] - rests.found.place.seq < checked[-1] // 2


def _flip(left: Left) -> None:
    file = left.rests().path
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def _put_a_pipe_in_its_place(left: Left) -> None:
    left.rests().path.unlink()
    os.mkfifo(left.rests().path)


def _halve(left: Left) -> None:
    data = left.rests().path.read_bytes()
    left.rests().path.write_bytes(data[: len(data) // 2])


def _let_another_sign(left: Left) -> None:
    signer = Signer.create(left.path.with_name("another.key"))
    left.change(lambda kept: kept, with_(left.rests(), signer=signer))


def _take_away_the_signature(left: Left) -> None:
    left.change(lambda kept: kept, with_(left.rests(), signer=None))


def _of_another_chain(left: Left) -> None:
    left.change(lambda kept: replace(kept, place=with_(kept.place, head=bytes(32))))


def _of_another_journal(left: Left) -> None:
    left.change(lambda kept: replace(kept, shown=with_(kept.shown, head=bytes(32))))


def _of_a_journal_that_lost_its_end(left: Left) -> None:
    left.change(lambda kept: replace(kept, shown=with_(kept.shown, seq=10**6)))


def _of_another_program(left: Left) -> None:
    left.change(lambda kept: kept, with_(left.rests(), made_by="another"))


def _that_does_not_lead_to_the_entries(left: Left) -> None:
    left.change(lambda kept: replace(kept, rest=with_(kept.rest, played=kept.rest.played + 5)))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(_put_a_pipe_in_its_place, "it is no file", id="pipe"),
        pytest.param(_flip, "it does not match its hash", id="changed"),
        pytest.param(_halve, "it does not match its hash", id="cut"),
        pytest.param(_let_another_sign, "key did not sign it", id="another-key"),
        pytest.param(_take_away_the_signature, "key did not sign it", id="unsigned"),
        pytest.param(_of_another_journal, "is not the one", id="another-journal"),
        pytest.param(_of_another_chain, "is not the one", id="another-chain"),
        pytest.param(
            _of_a_journal_that_lost_its_end, "entry 1000000 is not the one", id="lost-end"
        ),
        pytest.param(_of_another_program, "have changed", id="another-program"),
        pytest.param(_that_does_not_lead_to_the_entries, "differs from what", id="wrong-rest"),
    ],
)
def test_a_file_that_does_not_fit_is_named_and_the_whole_journal_is_read(
    left: Left, due: tuple[object, ...], change: Callable[[Left], None], why: str
) -> None:
    change(left)
    assert left.start(left.rests()) == due
    (line,) = left.warnings
    assert line.startswith(f"{left.rests().path} is not used, so this start reads the whole")
    assert why in line


def _damage_an_old_entry(path: Path) -> None:
    """Change a byte of entry 5, and leave the file as a kill leaves it."""
    break_seal(path)
    data = bytearray(path.read_bytes())
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as reading:
        (body,) = reading.execute("SELECT body FROM entries WHERE seq = 5").fetchone()
    at = data.index(body)
    data[at + 20] ^= 1
    path.write_bytes(data)


async def _run(table: LiveTable) -> None:
    await asyncio.wait_for(table.run(asyncio.Event()), 60)


def test_entries_before_the_rest_are_verified_once_the_table_runs(left: Left) -> None:
    _damage_an_old_entry(left.path)
    rests = left.rests()
    with rests.open_journal(None) as journal:
        table = LiveTable(left.placed, journal, HostClock(), Blind(), rests=rests)
        with pytest.raises(TechnicianError, match="entry 5 does not match its hash"):
            asyncio.run(_run(table))


def test_without_the_rest_such_a_journal_is_refused_at_the_start(left: Left) -> None:
    _damage_an_old_entry(left.path)
    left.rests().path.unlink()
    with pytest.raises(TechnicianError, match="entry 5 does not match its hash"):
        left.start(left.rests())
