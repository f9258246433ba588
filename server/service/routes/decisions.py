"""Decide a review item: pass the decision to the journal's writer, which settles the round."""

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Annotated, Final

from fastapi import APIRouter, Request, Response
from msgspec.structs import replace
from pydantic import Field

from models.cards import Card
from models.events import (
    AnyFact,
    CardPlace,
    ConsoleEntry,
    Dealt,
    Decision,
    HandCalledOff,
    ReviewResolved,
    RoundCalledOff,
)
from models.judgements import ReviewRaised
from server.readmodel.cases import DecisionApproved, DecisionDeclined, DecisionProposed
from server.readmodel.incidents import IncidentView
from server.readmodel.redaction import WITHHELD
from server.readmodel.session import Session
from server.readmodel.views import ReviewRow, RoundRow
from server.service.access.people import Person, Right, TwoPeople
from server.service.http.problems import Problem
from server.service.request.answering import answers_of
from server.service.request.answers import give
from server.service.request.body import Body
from server.service.request.guard import Who, guarded, note
from server.service.request.incidents import cases_of, the_round, view_of
from server.service.request.services import services_of
from server.service.request.sessions import floor_of, shown, until_read
from server.table.answering import Answered
from server.table.resolving import Handed
from settlement.reconcile import Given, in_answer

_NAMES_A_CARD: Final = frozenset({"chosen", "dealt", "burned", "account"})
_ASKS_FOR_A_REASON: Final = frozenset({"unreadable", "void"})

router = APIRouter()


class Place(Body):
    """One card of the round, by the hand that received it."""

    to: Annotated[int, Field(ge=1, le=99)] | Annotated[str, Field(pattern="^dealer$")]
    hand: Annotated[int, Field(ge=0, le=15)] = 0
    nth: Annotated[int, Field(ge=0, le=51)] = 0


class NewDecision(
    Body,
    json_schema_extra={"example": {"decision": "void", "reason": "The cards fell to the floor."}},
):
    """A decision on an item."""

    decision: Decision
    choice: Annotated[str, Field(pattern=r"^[A23456789TJQK][SHDC?]$")] | None = None
    """The card, where one is named."""
    card: Place | None = None
    """The card in question, where the evidence leaves it open; for `dealt`, its place."""
    account: Annotated[int, Field(ge=0, le=63)] | None = None
    """The item's account that holds, as `…/answers` numbers it; for `account`."""
    reason: Annotated[str, Field(max_length=2000)] = ""
    """Required for `unreadable` and `void`."""
    instead_of: Annotated[int, Field(ge=1, le=2**63 - 1)] | None = None
    """The `seq` of the decision that this one replaces; without it the item must be undecided."""


class Approval(
    Body, json_schema_extra={"example": {"approve": True, "reason": "Seen in the video."}}
):
    """A second person's answer to a proposal."""

    approve: bool = True
    proposal: Annotated[int, Field(ge=1, le=2**63 - 1)] | None = None
    """The proposal's `seq`; required to approve it."""
    reason: Annotated[str, Field(max_length=2000)] = ""
    """The reason for declining."""


@router.post(
    "/api/incidents/{incident}/reviews/{item}/decision",
    **guarded(
        Right.RESOLVE_REVIEWS,
        IncidentView,
        problems={
            404: "There is no such round, or no such item of it.",
            409: "This decision is not possible; the detail gives the reason.",
            503: "The table does not answer, or the journal cannot be written.",
        },
        action=None,
    ),
)
async def decide_review(
    request: Request, who: Who, incident: str, item: int, sent: NewDecision
) -> Response:
    """Decide an item in one's own name.

    The answer comes once the decision is in the journal and the round has settled again. A running
    table writes it; a journal without a writer is opened for it and sealed again.

    Where the house requires two people, the decision is a proposal until another person approves
    it: the answer then lists it under `proposals`.
    """
    proposed = _proposed(request, who, incident, item, sent)
    async with _turn(request):
        session, row = the_round(request, incident)
        _check_open(session, row.round, item, proposed, who)
        proposed = await _in_words(session, row.round, item, proposed)
        if _needed(sent) & services_of(request).two_people:
            await _propose(request, who, proposed)
        else:
            handed = await session.journal.decide(_resolved(request, row.round, item, proposed))
            target = f"{incident} item {item}: {_how(sent.decision, handed)}"
            await note(request, who.name, who.by, "review_decided", target=target)
            await until_read(session, handed.seq)
    return give(view_of(request, who, incident))


@router.get(
    "/api/incidents/{incident}/reviews/{item}/answers",
    **guarded(
        Right.SEE_ROUNDS,
        Answered,
        problems={
            404: "There is no such round, or no such item of it.",
            503: "The journal cannot be read.",
        },
        action=None,
    ),
)
async def answers(request: Request, who: Who, incident: str, item: int) -> Response:
    """Return the answers that an item may have, each with what the round comes to by it.

    Give one with `…/decision` and the answer's own fields. Amounts need the right to see money. Of
    an item whose cards are not shown yet, only the answers are given that name none.
    """
    session, row = the_round(request, incident)
    items = session.rounds.reviews_of(row.round)
    if not 0 <= item < len(items):
        raise Problem(404, f"round {row.round} has no review item {item}")
    found = await answers_of(session, row.round, item)
    hidden = shown(session, items[item], who).what == WITHHELD
    told = [one for one in found.answers if not hidden or one.decision not in _NAMES_A_CARD]
    if hidden or not who.may(Right.SEE_MONEY):
        told = [replace(one, comes_to="", spots=(), mistakes=()) for one in told]
    return give(replace(found, answers=tuple(told)))


@router.post(
    "/api/incidents/{incident}/reviews/{item}/approval",
    **guarded(
        Right.RESOLVE_REVIEWS,
        IncidentView,
        problems={
            404: "There is no such round, or no proposal for that item.",
            409: "The same person proposed it, another proposal waits there, or the decision is no "
            "longer possible.",
            503: "The table does not answer, or the journal cannot be written.",
        },
        action=None,
    ),
)
async def approve_decision(
    request: Request, who: Who, incident: str, item: int, sent: Approval
) -> Response:
    """Approve or decline a proposed decision as the second person.

    The proposer can withdraw it, but cannot approve it, with any token or session. The approving
    person names the proposal, so that none takes its place after that person read it.
    """
    return await _answer(request, who, incident, item, sent)


@router.post(
    "/api/incidents/{incident}/ruling/approval",
    **guarded(
        Right.RESOLVE_REVIEWS,
        IncidentView,
        problems={
            404: "There is no such round, or no proposal to call it or a hand of it off.",
            409: "The same person proposed it, another proposal waits there, or the table is not "
            "running or at another round.",
            503: "The table does not answer.",
        },
        action=None,
    ),
)
async def approve_ruling(request: Request, who: Who, incident: str, sent: Approval) -> Response:
    """Approve or decline, as the second person, that a round or a hand at a running table is off.

    It is entered at the table then, in both names. The rest is as for a decision on an item.
    """
    return await _answer(request, who, incident, None, sent)


async def _answer(
    request: Request, who: Person, incident: str, item: int | None, sent: Approval
) -> Response:
    async with _turn(request):
        session, row = the_round(request, incident)
        case = cases_of(request).of(incident)
        proposed = next((one for one in case.proposals if one.item == item), None)
        if proposed is None:
            raise Problem(404, f"there is no proposal for {_what(item)}")
        if not sent.approve:
            await _decline(request, who, proposed, sent.reason)
            return give(view_of(request, who, incident))
        if proposed.person == who.name:
            await note(
                request, who.name, who.by, "decision_approved", outcome="refused", target=incident
            )
            raise Problem(409, "the same person proposed it; another must approve it")
        if sent.proposal != proposed.seq:
            raise Problem(409, _another_waits(proposed))
        if item is None:
            handed = await session.journal.enter(_called_off(request, who, session, row, proposed))
        else:
            _check_open(session, row.round, item, proposed, who)
            decision = replace(_resolved(request, row.round, item, proposed), approved_by=who.name)
            handed = await session.journal.decide(decision)
        await cases_of(request).note(
            DecisionApproved(
                at=_now(request),
                incident=incident,
                person=who.name,
                item=item,
                proposed_by=proposed.person,
                entry=handed.seq,
            )
        )
        target = f"{incident} {_what(item)} of {proposed.person}: "
        target += _how(proposed.decision, handed)
        await note(request, who.name, who.by, "decision_approved", target=target)
        await until_read(session, handed.seq)
    return give(view_of(request, who, incident))


def _needed(sent: NewDecision) -> frozenset[TwoPeople]:
    """Return the kinds of a decision that may require two people."""
    found = {TwoPeople.VOID} if sent.decision == "void" else set()
    return frozenset(found | ({TwoPeople.OVERRIDE} if sent.instead_of is not None else set()))


def _proposed(
    request: Request, who: Person, incident: str, item: int, sent: NewDecision
) -> DecisionProposed:
    return DecisionProposed(
        at=_now(request),
        incident=incident,
        person=who.name,
        item=item,
        decision=sent.decision,
        choice=None if sent.choice is None else Card(sent.choice),
        card=None if sent.card is None else _place(sent.card),
        account=sent.account,
        reason=sent.reason,
        instead_of=sent.instead_of,
    )


def _resolved(
    request: Request, number: int, item: int, proposed: DecisionProposed
) -> ReviewResolved:
    return ReviewResolved(
        source=f"console:{proposed.person}",
        at=_now(request),
        round=number,
        item=item,
        decision=proposed.decision,
        choice=proposed.choice,
        card=proposed.card,
        account=proposed.account,
        says=proposed.says,
        reason=proposed.reason,
    )


async def _in_words(
    session: Session, number: int, item: int, proposed: DecisionProposed
) -> DecisionProposed:
    """Return a decision with what happened by it, in the words of its item."""
    seq = session.rounds.reviews_of(number)[item].seq
    (raised,) = await asyncio.to_thread(session.journal.read_between, seq - 1, seq)
    assert isinstance(raised, ReviewRaised)
    given = Given(proposed.decision, proposed.choice, proposed.card, proposed.account)
    return replace(proposed, says=in_answer(raised, given))


async def _propose(request: Request, who: Person, proposed: DecisionProposed) -> None:
    if proposed.decision in _ASKS_FOR_A_REASON and not proposed.reason.strip():
        raise Problem(409, f"{proposed.decision} requires a reason")
    await cases_of(request).note(proposed)
    target = f"{proposed.incident} item {proposed.item}: {proposed.decision}"
    await note(request, who.name, who.by, "decision_proposed", target=target)


async def _decline(request: Request, who: Person, proposed: DecisionProposed, reason: str) -> None:
    declined = DecisionDeclined(
        at=_now(request),
        incident=proposed.incident,
        person=who.name,
        item=proposed.item,
        proposed_by=proposed.person,
        reason=reason,
    )
    await cases_of(request).note(declined)
    target = f"{proposed.incident} {_what(proposed.item)} of {proposed.person}"
    await note(request, who.name, who.by, "decision_declined", target=target)


def _another_waits(proposed: DecisionProposed) -> str:
    what = proposed.says or f"{proposed.decision} {proposed.choice or ''}".strip()
    return (
        f"{proposed.person} proposes {what} for {_what(proposed.item)}; "
        f"to approve that, send its seq as proposal: {proposed.seq}"
    )


def _what(item: int | None) -> str:
    return "a ruling" if item is None else f"item {item}"


def _called_off(
    request: Request, who: Person, session: Session, row: RoundRow, proposed: DecisionProposed
) -> ConsoleEntry:
    """Return a ruling of two people as it is entered at the table of its round."""
    found = floor_of(request).table(row.table)
    now = None if found is None else (found.now.session, found.now.round)
    if now != (session.name, row.round):
        raise Problem(409, f"its table is no longer at round {row.round}; decline the proposal")
    by = f"{proposed.person} with {who.name}"
    fact: AnyFact = RoundCalledOff(reason=proposed.reason, by=by)
    if proposed.spot is not None:
        spot, hand = proposed.spot, proposed.hand
        fact = HandCalledOff(spot=spot, hand=hand, reason=proposed.reason, by=by)
    return ConsoleEntry(source=f"console:{proposed.person}", at=_now(request), fact=fact)


def _how(decision: Decision, handed: Handed) -> str:
    return f"{decision}, entry {handed.seq} by the {handed.by}"


def _turn(request: Request) -> AbstractAsyncContextManager[None]:
    """Return the lock for decisions: the second of two on the same item sees the first."""
    return services_of(request).deciding()


def _check_open(
    session: Session, number: int, item: int, proposed: DecisionProposed, who: Person
) -> None:
    items = session.rounds.reviews_of(number)
    if not 0 <= item < len(items):
        raise Problem(404, f"round {number} has no review item {item}")
    review: ReviewRow = shown(session, items[item], who)
    found = None if review.decided is None else review.decided
    if found is not None and found.seq != proposed.instead_of:
        raise Problem(
            409,
            f"{found.person} has decided it, entry {found.seq}; "
            "name that entry in instead_of to put it right",
        )
    if review.what == WITHHELD and proposed.decision in _NAMES_A_CARD:
        raise Problem(409, "it names a card that was not shown; wait until its shoe has ended")


def _place(sent: Place) -> CardPlace:
    to: Dealt = sent.to if isinstance(sent.to, int) else "dealer"
    return CardPlace(to=to, hand=sent.hand, nth=sent.nth)


def _now(request: Request) -> int:
    return services_of(request).clock.now_ns()
