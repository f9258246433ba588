"""A live table that sees pixels, killed with SIGKILL while the world goes on without it.

A filmed session is played in real time: bytes on pseudo-terminals, pictures over HTTP, entries in
a pipe. The table is a process of its own, killed at random moments and started again at once.
What is reported while no table lives reaches nobody: the shoe's count and the cards that lie there
are all that the next one has of it. What must hold: nothing acknowledged is missing, and no round
is settled otherwise than it went unless a person is asked.
"""

import asyncio
import os
import random
import signal
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, cast

from msgspec.structs import replace as renumbered

from models.events import CameraFault, Event
from models.judgements import RoundResult, RoundSettled
from server.table.comparison import compare_sessions
from server.table.playing import Playing, played
from server.table.sources import Recording, open_recording
from simulation.session import Settings, simulate
from stream.journal import verify_journal
from stream.reading import UnknownEvent, read_journal
from tests.server.live_tables import SETTINGS, Run

_SEQ: Final = struct.Struct(">Q")
_AFTERWARDS_S: Final = 12.0


@dataclass(frozen=True)
class PlayedDevices:
    """What a table's process needs to know of the session that is played to it."""

    config: Path
    recording: Recording

    @property
    def start_ns(self) -> int:
        """When the playing began; 0 while it has not."""
        begun = _begun(self.config)
        return int(begun.read_text()) if begun.exists() else 0


@dataclass(frozen=True)
class Came:
    """What came of a session whose table was killed."""

    kills: int
    entries: int
    acknowledged: int
    """The last entry that any table acknowledged."""
    unwatched: int
    """How often a table reported cards that had lain unwatched."""
    outcomes: Counter[str]
    """Of the rounds in the journal: ``exact``; ``review``; ``wrong``, settled as none was played
    with nobody asked. ``joined`` were to one before them, ``parted`` in two."""
    wrong: tuple[str, ...]
    """What differs in each wrong one from the round due next."""
    sealed: bool


class _Acknowledging(Run):
    """A run that reports the number of each entry once it is in the journal."""

    def __init__(
        self, devices: PlayedDevices, settings: Settings, journal: Path, pipe: int
    ) -> None:
        super().__init__(cast(Playing, devices), settings, journal)
        self._pipe = pipe

    def _take(self, event: Event) -> None:
        super()._take(event)
        os.write(self._pipe, _SEQ.pack(event.seq or 0))


def _begun(config: Path) -> Path:
    return config.with_name("begun")


def settings_of(seed: int, rounds: int) -> Settings:
    """A small picture, two spots."""
    return replace(SETTINGS, seed=seed, rounds=rounds)


def run_table(session: Path, config: Path, seed: int, rounds: int) -> None:
    """Be the table until SIGTERM; entries are acknowledged on standard output."""
    devices = PlayedDevices(config, open_recording(session))
    journal = config.with_name("table.journal")
    run = _Acknowledging(devices, settings_of(seed, rounds), journal, sys.stdout.fileno())
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True

    signal.signal(signal.SIGTERM, stop)
    asyncio.run(run.until(lambda _: stopped, begin=False, within_s=600))


def killed(place: Path, seed: int, rounds: int, lives_s: tuple[float, float]) -> Came:
    """Play a session to a table that is killed until the session ends.

    Raises:
        TechnicianError: the journal is damaged.
        AssertionError: something acknowledged is missing.
    """
    session = simulate(settings_of(seed, rounds), place / "session")
    cables = place / "cables"
    cables.mkdir()
    chance, kills, acknowledged = random.Random(f"filmed {seed}"), 0, 0
    with played(session, cables) as playing:
        journal = playing.config.with_name("table.journal")
        table = _Life(session, playing, seed, rounds)
        assert playing.watched.wait(60), "the table does not look"
        time.sleep(3)
        playing.play()
        _begun(playing.config).write_text(str(playing.start_ns))
        ends_s = time.monotonic() + _lasts_s(playing) + _AFTERWARDS_S
        while True:
            lives_until_s = time.monotonic() + chance.uniform(*lives_s)
            if lives_until_s > ends_s - _AFTERWARDS_S:
                time.sleep(max(0.0, ends_s - time.monotonic()))
                acknowledged = max(acknowledged, table.end(signal.SIGTERM))
                break
            time.sleep(max(0.0, lives_until_s - time.monotonic()))
            acknowledged = max(acknowledged, table.end(signal.SIGKILL))
            kills += 1
            assert verify_journal(journal).entries >= acknowledged
            table = _Life(session, playing, seed, rounds)
    found = verify_journal(journal)
    assert found.entries >= acknowledged
    events = [one for one in read_journal(journal) if not isinstance(one, UnknownEvent)]
    settled: dict[int, RoundResult] = {
        one.result.round: one.result for one in events if isinstance(one, RoundSettled)
    }
    unwatched = sum(isinstance(one, CameraFault) and one.kind == "unwatched" for one in events)
    truth = playing.recording.truth
    assert truth is not None
    outcomes, wrong = judged(truth, [*settled.values()])
    return Came(kills, found.entries, acknowledged, unwatched, outcomes, wrong, found.sealed)


def judged(
    truth: Sequence[RoundResult], settled: Sequence[RoundResult]
) -> tuple[Counter[str], tuple[str, ...]]:
    """Count what became of the rounds played, in their order; return what differs in wrong ones.

    A round whose end nobody saw and the next one are one in the journal, and those after it are
    numbered one lower.
    """
    outcomes, wrong, left = Counter[str](), list[str](), list(truth)
    for found in settled:
        if found.status == "review" or found.reviews:
            outcomes["review"] += 1
            left = left[1:] if left and left[0].round == found.round else left
            continue
        same = next((at for at, due in enumerate(left) if not _differences(due, found)), None)
        outcomes["wrong" if same is None else "exact"] += 1
        if same is None:
            wrong += [
                f"round {found.round}: {'; '.join(_differences(due, found))}" for due in left[:1]
            ]
        left = left if same is None else left[same + 1 :]
    missing = len(truth) - outcomes.total()
    outcomes["joined" if missing > 0 else "parted"] = abs(missing)
    return outcomes, tuple(wrong)


def _differences(due: RoundResult, found: RoundResult) -> tuple[str, ...]:
    (compared,) = compare_sessions([due], [renumbered(found, round=due.round)])
    return compared.differences


class _Life:
    """One process that runs the table."""

    def __init__(self, session: Path, playing: Playing, seed: int, rounds: int) -> None:
        given = [session, playing.config, seed, rounds]
        command = [sys.executable, "-m", "tests.faults.filmed_kills", *map(str, given)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)

    def end(self, how: signal.Signals) -> int:
        """End it; return the last number that it acknowledged, or 0."""
        assert self._process.poll() is None, "the table ended by itself"
        self._process.send_signal(how)
        acknowledged, _ = self._process.communicate(timeout=60)
        whole = len(acknowledged) // _SEQ.size * _SEQ.size
        return max((seq for (seq,) in _SEQ.iter_unpack(acknowledged[:whole])), default=0)


def _lasts_s(playing: Playing) -> float:
    ((record, film),) = playing.recording.cameras
    return film.frame_count / record.fps


def main() -> None:
    """Run a table, for the process that plays to it."""
    session, config, seed, rounds = sys.argv[1:]
    run_table(Path(session), Path(config), int(seed), int(rounds))


if __name__ == "__main__":
    main()
