"""People's work on incidents: an append-only chain of its own, never shortened.

An incident itself needs no entry here: it is part of a table's journal. The chain holds
assignments, comments, and reasons for closing.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Self, TypeAlias, get_args

import msgspec
from msgspec.structs import replace

from models.cards import Card
from models.errors import TechnicianError
from models.events import CardPlace, Decision, Event
from models.judgements import AnyEvent
from server.readmodel.own_journal import OwnJournal
from stream.reading import UnknownEvent

CASES_FILE: Final = "cases.journal"
_LOOK_S: Final = 0.5
"""Seconds between two looks for other services' entries."""
log: Final = logging.getLogger("pitwatch.service")


class CaseEvent(Event, frozen=True, kw_only=True):
    """A person's action on an incident."""

    incident: str
    person: str


class CaseOpened(CaseEvent, frozen=True, kw_only=True, tag="case_opened"):
    """A person opened an incident by hand, without a finding."""

    text: str


class CaseAssigned(CaseEvent, frozen=True, kw_only=True, tag="case_assigned"):
    """The incident was assigned to a person, or to nobody."""

    to: str | None


class CaseCommented(CaseEvent, frozen=True, kw_only=True, tag="case_commented"):
    """A person's comment."""

    text: str


class CaseClosed(CaseEvent, frozen=True, kw_only=True, tag="case_closed"):
    """A person closed the incident, with a reason. A later finding opens it again."""

    reason: str
    known: int
    """The number of its mistakes and items at that time."""


class CaseReopened(CaseEvent, frozen=True, kw_only=True, tag="case_reopened"):
    """A person reopened the incident."""

    reason: str


class DecisionProposed(CaseEvent, frozen=True, kw_only=True, tag="decision_proposed"):
    """A person decided what needs two people. It takes effect once another approves."""

    item: int | None
    """``None`` for a ruling at the table: ``void`` then calls off the round, or a hand of it."""
    decision: Decision
    spot: int | None = None
    """The spot that a ruling calls off; ``None`` for the whole round."""
    hand: int | None = None
    """Its hand; ``None`` for every hand of it."""
    choice: Card | None = None
    card: CardPlace | None = None
    account: int | None = None
    says: str = ""
    """The answer in words."""
    reason: str = ""
    instead_of: int | None = None
    """The decision that this one replaces."""


class DecisionApproved(CaseEvent, frozen=True, kw_only=True, tag="decision_approved"):
    """A second person approved, and the decision was journalled."""

    item: int | None
    proposed_by: str
    entry: int
    """The decision's ``seq`` in the table's journal."""


class DecisionDeclined(CaseEvent, frozen=True, kw_only=True, tag="decision_declined"):
    """A person declined, or withdrew their own proposal."""

    item: int | None
    proposed_by: str
    reason: str = ""


AnyCaseEvent: TypeAlias = (
    CaseOpened
    | CaseAssigned
    | CaseCommented
    | CaseClosed
    | CaseReopened
    | DecisionProposed
    | DecisionApproved
    | DecisionDeclined
)
_TYPES: Final = frozenset(str(kind.__struct_config__.tag) for kind in get_args(AnyCaseEvent))
"""The types of case entries; the journal also holds its own statements after a restart."""
_DECODER: Final = msgspec.json.Decoder(AnyCaseEvent)


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """The state of an incident from its entries."""

    by_hand: bool = False
    assignee: str | None = None
    closed: CaseClosed | None = None
    proposals: tuple[DecisionProposed, ...] = ()
    """Decisions that wait for a second person, at most one an item and one ruling."""
    history: tuple[AnyCaseEvent, ...] = ()

    @property
    def changed_at(self) -> int | None:
        """Time of a person's last action on it."""
        return self.history[-1].at if self.history else None

    @property
    def comments(self) -> int:
        """The number of comments."""
        return sum(isinstance(one, CaseCommented | CaseOpened) for one in self.history)

    def after(self, event: AnyCaseEvent) -> "Case":
        """Return the case with one more entry."""
        case = replace(self, history=(*self.history, event))
        match event:
            case CaseOpened():
                return replace(case, by_hand=True)
            case CaseAssigned():
                return replace(case, assignee=event.to)
            case CaseClosed():
                return replace(case, closed=event)
            case CaseReopened():
                return replace(case, closed=None)
            case DecisionProposed() | DecisionApproved() | DecisionDeclined():
                return replace(case, proposals=self._proposals_after(event))
            case CaseCommented():
                return case

    def _proposals_after(
        self, event: DecisionProposed | DecisionApproved | DecisionDeclined
    ) -> tuple[DecisionProposed, ...]:
        others = tuple(one for one in self.proposals if one.item != event.item)
        return (*others, event) if isinstance(event, DecisionProposed) else others


NO_CASE: Final = Case()


class Cases:
    """The chain and the cases from it. A separate thread writes the file.

    Use :meth:`open`, and :meth:`close` at the end.
    """

    def __init__(self, thread: ThreadPoolExecutor, journal: OwnJournal) -> None:
        self._thread, self._journal = thread, journal
        self._cases: dict[str, Case] = {}
        self._seen = 0
        """The last entry taken in."""

    @classmethod
    def open(cls, folder: Path, journal: Callable[[Path], OwnJournal]) -> Self:
        """Open the chain in ``folder``, or begin it, with ``journal``.

        Raises:
            TechnicianError: it is damaged, or the disk refuses it.
        """
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        thread = ThreadPoolExecutor(1, "cases")
        found = cls(thread, thread.submit(journal, folder / CASES_FILE).result())
        found._take_all(thread.submit(found._read_on).result())
        return found

    async def close(self) -> None:
        """Seal the chain."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._journal.close)
        self._thread.shutdown()

    async def checkpoint(self) -> None:
        """Sign the entries since the last checkpoint, and send the checkpoint away.

        Raises:
            TechnicianError: the disk refuses it.
        """
        await asyncio.get_running_loop().run_in_executor(self._thread, self._journal.checkpoint)

    async def note(self, event: AnyCaseEvent) -> Case:
        """Append an entry, durable on return; return the incident's new state."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._journal.append, event)
        await self.catch_up()
        return self.of(event.incident)

    async def catch_up(self) -> frozenset[str]:
        """Take in what this and other services appended; return the incidents concerned.

        Raises:
            TechnicianError: the chain cannot be read.
        """
        loop = asyncio.get_running_loop()
        return self._take_all(await loop.run_in_executor(self._thread, self._read_on))

    async def follow(self, on_changed: Callable[[str], None]) -> None:
        """Take in what other services append, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            try:
                for incident in await self.catch_up():
                    on_changed(incident)
            except TechnicianError as fault:
                log.warning("other services' work on incidents cannot be read: %s", fault)

    def of(self, incident: str) -> Case:
        """Return people's work on an incident."""
        return self._cases.get(incident, NO_CASE)

    def all(self) -> Mapping[str, Case]:
        """Return every incident that people worked on."""
        return self._cases

    def _read_on(self) -> list[AnyEvent | UnknownEvent]:
        return list(self._journal.read(self._seen))

    def _take_all(self, events: Iterable[AnyEvent | UnknownEvent]) -> frozenset[str]:
        incidents = set()
        for event in events:
            if (event.seq or 0) <= self._seen:
                continue
            self._seen = event.seq or 0
            if isinstance(event, UnknownEvent) and event.type in _TYPES:
                found = _DECODER.decode(event.body)
                self._cases[found.incident] = self.of(found.incident).after(found)
                incidents.add(found.incident)
        return frozenset(incidents)
