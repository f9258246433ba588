"""The recording holds the changes of a device's link: a replay reports them as the table did."""

import time
from dataclasses import replace as with_

import msgspec
import pytest
from msgspec.structs import replace

from models.decode import decode_event
from models.events import DeviceReturned, Observation, ReaderFault
from models.judgements import AnyEvent, RoundResult, RoundSettled
from server.process.stopwatch import Stopwatch
from server.table.replay import Replayed, ReplayOptions, replay
from stream.journal import Journal
from tests.faults.live_kills import Life, Table, Word
from tests.faults.live_process import Blind, known_driver

S = 1_000_000_000
OUT_S, BACK_S = 5, 60
"""Seconds that the cable is out, and seconds that the game waits afterwards."""


class Unplugged(Table):
    """A session in which the shoe's cable is pulled out once, between two of its messages.

    The game waits meanwhile: all that comes later comes so much later.
    """

    _advanced = 0
    _pulled_at = 0

    def __post_init__(self) -> None:
        """Have the later words wait."""
        super().__post_init__()
        self._pulled_at = self.between_messages("shoe", 30)
        later = [_later(word) for word in self.words[self._pulled_at - 1 :]]
        self.words = [*self.words[: self._pulled_at - 1], *later]

    def advance(self, life: Life, to_ns: int) -> bool:
        """Play it, and once pull the shoe's cable for half a minute."""
        self._advanced += 1
        if self._advanced == self._pulled_at:
            self.ports["shoe"].unplug()
            self._let_pass(life, OUT_S)
            self.ports["shoe"].replug()
            self._let_pass(life, BACK_S)
        return super().advance(life, to_ns)

    def _let_pass(self, life: Life, seconds: int) -> None:
        for _ in range(seconds):
            time.sleep(0.02)
            super().advance(life, self.now_ns() + S)


def _later(word: Word) -> Word:
    """Return a word that the game's wait puts off, with the time that it itself states."""
    waited_ns = (OUT_S + BACK_S) * S
    data = word.data
    if data.startswith(b"{"):
        said = decode_event(data, word.port, 0)
        data = msgspec.json.encode(replace(said, at=(said.at or 0) + waited_ns)) + b"\n"
    return with_(word, at_ns=word.at_ns + waited_ns, data=data)


@pytest.fixture(scope="module")
def unplugged(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[AnyEvent], Replayed]:
    place = tmp_path_factory.mktemp("links") / "table"
    live = Unplugged(place, seed=1, rounds=2).play(None)
    (recording,) = (place / "recordings").iterdir()
    with Journal.in_memory() as journal, known_driver():
        replayed = replay(ReplayOptions(recording), journal, Blind, Stopwatch(lambda: 0))
    return live, replayed


def of_links(events: list[AnyEvent] | tuple[AnyEvent, ...]) -> list[Observation]:
    """The events of links, without their places in a journal."""
    return [
        replace(event, seq=None)
        for event in events
        if isinstance(event, ReaderFault | DeviceReturned)
    ]


def settled(events: list[AnyEvent] | tuple[AnyEvent, ...]) -> list[RoundResult]:
    """How the rounds came out, without the places of their entries."""
    found = [event.result for event in events if isinstance(event, RoundSettled)]
    return [
        replace(
            one,
            violations=tuple(replace(each, seq=0) for each in one.violations),
            reviews=tuple(replace(each, evidence=()) for each in one.reviews or ()),
        )
        for one in found
    ]


@pytest.mark.slow
def test_a_replay_reports_the_links_as_the_live_table_did(
    unplugged: tuple[list[AnyEvent], Replayed],
) -> None:
    live, replayed = unplugged
    events = of_links(live)
    kinds = [one.kind if isinstance(one, ReaderFault) else "returned" for one in events]
    assert kinds == ["link_lost", "returned", "uncounted"]
    assert of_links(replayed.events) == events


def test_its_rounds_settle_as_live(
    unplugged: tuple[list[AnyEvent], Replayed],
) -> None:
    live, replayed = unplugged
    live_rounds = settled(live)
    assert len(live_rounds) >= 2
    # A live table leaves open what a replay ends.
    assert settled(replayed.events)[: len(live_rounds)] == live_rounds
