"""A live table's state, in one line for a person."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from models.events import (
    HELD_BACK,
    CameraFault,
    CardGone,
    CardSighted,
    DeviceReturned,
    Event,
    ProgramStated,
    ReaderFault,
    RoundOpened,
    ShoeCutCard,
    ShoeLoaded,
    SyncState,
)
from models.judgements import ReviewRaised, RoundResult, RoundSettled
from server.house.device_faults import held_back_text
from server.house.formatting import Formats
from server.house.wording import counted
from server.table.host_clock import ClockStanding
from server.table.overload import OverloadStanding
from server.table.rest import Rest
from settlement.phases import RoundPhases

_LOST = ("link_lost", "restarts_spent")


class KeptStanding(msgspec.Struct, frozen=True, kw_only=True):
    """What a journal shows of a table's state between two rounds."""

    last: RoundResult | None
    settled: int
    reviews: int
    lost: frozenset[str]
    clock: SyncState
    step_ns: int
    shoe_out: bool


@dataclass
class Standing:
    """A table's state from the journal's entries."""

    sources: tuple[str, ...]
    phases: RoundPhases = field(default_factory=RoundPhases)
    round: int | None = None
    """The round opened last."""
    last: RoundResult | None = None
    settled: int = 0
    reviews: int = 0
    connected: set[str] = field(default_factory=set)
    """The devices that connected at least once in this run."""
    lost: set[str] = field(default_factory=set)
    overload: OverloadStanding = field(default_factory=OverloadStanding)
    clock: ClockStanding = field(default_factory=ClockStanding)
    alarm: str | None = None
    overdue: str | None = None
    """Why recordings that are old enough are not removed."""
    unrecorded: str | None = None
    """Why recording failed."""
    unsent: str | None = None
    """Why checkpoints do not leave the table."""
    shoe_out: bool = False
    """Whether the cut card came without a fresh shoe since."""
    held_back: Counter[str] = field(default_factory=Counter)
    """How many faces the cameras read surely in this run and held back, by kind."""
    lying: set[tuple[str, int]] = field(default_factory=set)
    """The cards on the felt: each camera's, by its track."""
    refused: str | None = None
    """The last invalid entry of the console."""

    @property
    def in_play(self) -> int | None:
        """The round in play; ``None`` between rounds."""
        return self.round if self.phases.in_play else None

    def kept(self) -> KeptStanding:
        """Return what the journal shows of it, to go on from in another run."""
        return KeptStanding(
            last=self.last,
            settled=self.settled,
            reviews=self.reviews,
            lost=frozenset(self.lost),
            clock=self.clock.state,
            step_ns=self.clock.step_ns,
            shoe_out=self.shoe_out,
        )

    def go_on(self, kept: KeptStanding, rest: Rest) -> None:
        """Go on from what :meth:`kept` returned at a rest."""
        self.phases.go_on(rest.phases)
        self.round, self.lying = rest.played, set(rest.over)
        self.last, self.settled, self.reviews = kept.last, kept.settled, kept.reviews
        self.lost, self.shoe_out = set(kept.lost), kept.shoe_out
        self.clock = ClockStanding(kept.clock, kept.step_ns)

    def take(self, event: Event) -> None:
        """Process the next entry."""
        self.clock.take(event)
        self.overload.take(event)
        self.phases.follow_event(event)
        self._count_held_back(event)
        match event:
            case RoundOpened():
                self.round = event.round
            case RoundSettled():
                again = self.last is not None and self.last.round == event.result.round
                self.last, self.settled = event.result, self.settled + (not again)
            case ReviewRaised():
                self.reviews += 1
            case ShoeCutCard() | ShoeLoaded():
                self.shoe_out = isinstance(event, ShoeCutCard)
            case CardSighted():
                self.lying.add((event.source, event.track))
            case CardGone():
                self.lying.discard((event.source, event.track))
            case ReaderFault() | CameraFault() if event.kind in _LOST:
                self.lost.add(event.source)
            case DeviceReturned():
                self.lost.discard(event.source)

    def _count_held_back(self, event: Event) -> None:
        if isinstance(event, ProgramStated):
            self.held_back.clear()
        elif isinstance(event, CameraFault) and event.kind.startswith(HELD_BACK):
            self.held_back[event.kind] += event.count

    def line(self, formats: Formats) -> str:
        """Describe the round, the last result, open items, and connected devices."""
        parts = [
            "no round in play" if self.in_play is None else f"round {self.in_play} in play",
            *_due(self.last, formats),
            f"{counted(self.settled, 'round')} settled",
            counted(self.reviews, "review"),
            *self._devices(),
        ]
        if self.held_back:
            parts.append(held_back_text(self.held_back))
        parts += self.clock.faults()
        if self.alarm is not None:
            parts.append(f"DISK: {self.alarm}")
        if self.overdue is not None:
            parts.append(f"RECORDINGS KEPT: {self.overdue}")
        if self.unrecorded is not None:
            parts.append(f"NOT RECORDED: {self.unrecorded}")
        if self.unsent is not None:
            parts.append(f"CHECKPOINTS NOT SENT: {self.unsent}")
        if self.refused is not None:
            parts.append(f"entry refused: {self.refused}")
        return " · ".join(parts)

    def _devices(self) -> Iterable[str]:
        if self.lost:
            yield f"LOST: {', '.join(sorted(self.lost))}"
        if self.overload.cameras:
            yield f"OVERLOAD: {', '.join(sorted(self.overload.cameras))}"
        if not self.lost and not self.overload.cameras:
            yield f"{len(self.connected)} of {counted(len(self.sources), 'device')} heard"
        if self.overload.left_out:
            yield self.overload.text


def _due(last: RoundResult | None, formats: Formats) -> Iterable[str]:
    if last is not None:
        spots = ", ".join(f"spot {spot.spot} {formats.signed(spot.net)}" for spot in last.spots)
        yield f"due in round {last.round} ({last.status}): {spots or 'nothing'}"
