"""Enter at a running table what the floor rules there, and what enters or leaves its tray."""

from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from fastapi import APIRouter, Request, Response
from pydantic import Field

from models.events import (
    AnyFact,
    CardMoved,
    ConsoleEntry,
    HandCalledOff,
    RoundCalledOff,
    TrayChanged,
    TrayReason,
    WagerKind,
)
from models.places import whose
from server.readmodel.cases import DecisionProposed
from server.readmodel.incidents import Entered, incident_id
from server.readmodel.views import TableView
from server.service.access.people import Person, Right, TwoPeople
from server.service.http.problems import Problem
from server.service.request.answers import give
from server.service.request.body import Body
from server.service.request.guard import Who, guarded, note
from server.service.request.services import services_of
from server.service.request.sessions import floor_of, session_of, until_read

_VOIDS: Final = (HandCalledOff, RoundCalledOff)
_OUT: Final = "takes chips out of the tray: send a negative"
_IN: Final = "puts chips into the tray: send a positive"
_WAYS: Final = {
    "buy_in": (-1, _OUT),
    "credit": (-1, _OUT),
    "marker": (-1, _OUT),
    "cash_out": (1, _IN),
    "fill": (1, _IN),
}
"""The sign of the amount of a change of the tray, and how it is said; of others either holds."""

router = APIRouter()

Spot: TypeAlias = Annotated[int, Field(ge=1, le=99)]
HandNo: TypeAlias = Annotated[int, Field(ge=0, le=15)]
Reason: TypeAlias = Annotated[str, Field(max_length=2000, pattern=r"\S")]
Named: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]


class HandOff(Body):
    """A hand is ruled dead, or without `hand` every hand of the spot."""

    type: Literal["hand_called_off"]
    spot: Spot
    hand: HandNo | None = None
    reason: Reason


class RoundOff(Body):
    """The round is called off."""

    type: Literal["round_called_off"]
    reason: Reason


class FeltPlace(Body):
    """A hand on the felt, or the dealer's."""

    to: Spot | Literal["dealer"]
    hand: HandNo = 0


class Move(Body):
    """A card belongs elsewhere."""

    type: Literal["card_moved"]
    card: Annotated[str, Field(pattern=r"^[A23456789TJQK][SHDC?]$")] | None
    """`null`: nobody read it."""
    origin: Annotated[FeltPlace | Literal["rack"], Field(alias="from")]
    to: FeltPlace | Literal["rack"]
    reason: Reason


class ChipsOff(Body):
    """Chips are taken off."""

    type: Literal["wager_removed"]
    spot: Spot
    hand: HandNo = 0
    kind: WagerKind
    amount: Annotated[int, Field(ge=1, le=10**12)]
    bet: Named | None = None
    bettor: Named | None = None
    reason: Reason


class Reshuffle(Body):
    """The discards are shuffled and dealt on."""

    type: Literal["discards_reshuffled"]
    reason: Reason


class NewTrayChange(Body):
    """Chips enter or leave the tray other than by wagers."""

    type: Literal["tray_changed"]
    amount: Annotated[int, Field(ge=-(10**12), le=10**12)]
    """Positive into the tray: a buy-in, a credit and a marker are negative."""
    reason: TrayReason
    spot: Spot | None = None
    player: Named | None = None
    slip: Named | None = None


class NewEntry(
    Body,
    json_schema_extra={
        "example": {"fact": {"type": "round_called_off", "reason": "The shoe fell."}, "round": 12}
    },
):
    """What a person states. Their name is added by the service."""

    fact: Annotated[
        HandOff | RoundOff | Move | ChipsOff | Reshuffle | NewTrayChange,
        Field(discriminator="type"),
    ]
    round: Annotated[int, Field(ge=1, le=2**63 - 1)] | None = None
    """The round in play or just over, as the person saw it: where the table is at another one by
    now, the entry is refused."""


@router.post(
    "/api/tables/{table}/entries",
    **guarded(
        Right.RESOLVE_REVIEWS,
        Entered,
        problems={
            404: "There is no such table.",
            409: "The table is not running or at another round, or the entry is not possible; the "
            "detail gives the reason.",
            503: "The table does not answer.",
        },
        action=None,
    ),
)
async def enter_at_table(request: Request, who: Who, table: str, sent: NewEntry) -> Response:
    """Enter a ruling of the floor, or a change of the tray, at a running table in one's own name.

    The answer comes once it is in the journal. It counts from then on: the round in play settles by
    it when it is over. `docs/rulings.md` says what each does to the money.
    """
    found = floor_of(request).table(table)
    if found is None:
        raise Problem(404, "there is no such table")
    fact = _stated(sent, who)
    _check(found, sent, fact)
    services, session = services_of(request), session_of(request, found.now.session)
    if isinstance(fact, _VOIDS) and TwoPeople.VOID in services.two_people:
        return give(await _propose(request, who, found, fact))
    entry = ConsoleEntry(source=f"console:{who.name}", at=services.clock.now_ns(), fact=fact)
    handed = await session.journal.enter(entry)
    target = f"{table}: {sent.fact.type}, entry {handed.seq}"
    await note(request, who.name, who.by, "entered", target=target)
    await until_read(session, handed.seq)
    return give(Entered(handed.seq))


async def _propose(
    request: Request, who: Person, found: TableView, fact: HandCalledOff | RoundCalledOff
) -> Entered:
    """Keep a call-off until another person approves it."""
    if found.now.round is None:
        raise Problem(409, "the table has had no round that could be called off")
    incident = incident_id(found.now.session, found.now.round)
    spot, hand = (fact.spot, fact.hand) if isinstance(fact, HandCalledOff) else (None, None)
    what = "the round" if spot is None else whose(spot, hand)
    proposed = DecisionProposed(
        at=services_of(request).clock.now_ns(),
        incident=incident,
        person=who.name,
        item=None,
        decision="void",
        spot=spot,
        hand=hand,
        says=f"the floor calls {what} off",
        reason=fact.reason,
    )
    async with services_of(request).deciding():
        await services_of(request).cases.note(proposed)
    await note(
        request, who.name, who.by, "decision_proposed", target=f"{incident}: {proposed.says}"
    )
    return Entered(None, incident)


def _stated(sent: NewEntry, who: Person) -> AnyFact:
    tree = sent.fact.model_dump(by_alias=True, exclude_unset=True)
    if isinstance(sent.fact, ChipsOff):
        tree["by"] = "floor"
    elif not isinstance(sent.fact, NewTrayChange):
        tree["by"] = who.name
    fact: AnyFact = msgspec.convert(tree, AnyFact)
    return fact


def _check(found: TableView, sent: NewEntry, fact: AnyFact) -> None:
    """Refuse what is surely not meant, or not allowed."""
    if sent.round not in (None, found.now.round):
        raise Problem(409, f"the table is at round {found.now.round} by now; look at it again")
    if isinstance(fact, TrayChanged):
        _check_sign(fact)
    if isinstance(fact, CardMoved) and fact.origin == fact.to:
        raise Problem(409, "the card lies there already; name another place")


def _check_sign(fact: TrayChanged) -> None:
    way = _WAYS.get(fact.reason)
    if way is not None and fact.amount * way[0] <= 0:
        raise Problem(409, f"{fact.reason} {way[1]} amount")
