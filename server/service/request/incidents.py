"""The incident that a request names."""

from fastapi import Request
from msgspec.structs import replace

from server.readmodel.cases import Cases
from server.readmodel.floor import Floor
from server.readmodel.incidents import (
    IncidentRow,
    IncidentView,
    found_round,
    incident_row,
)
from server.readmodel.session import Session
from server.readmodel.views import RoundRow
from server.service.access.people import Person
from server.service.http.problems import Problem
from server.service.request.services import services_of
from server.service.request.sessions import floor_of, sees_all, shown


def cases_of(request: Request) -> Cases:
    """Return the chain of people's work on incidents."""
    return services_of(request).cases


def the_round(request: Request, incident: str) -> tuple[Session, RoundRow]:
    """Return an incident's session and round; raises ``Problem`` 404 where there is none."""
    found = found_round(floor_of(request), incident)
    who: Person = request.state.person
    if found is None or not who.sees(found[0].table):
        raise Problem(404, "there is no such incident: expected SESSION.ROUND of a known round")
    return found


def view_of(request: Request, who: Person, incident: str) -> IncidentView:
    """Return an incident as this person may see it."""
    session, row = the_round(request, incident)
    case = cases_of(request).of(incident)
    return IncidentView(
        incident=queued(floor_of(request), incident_row(session, row, case), who),
        round=shown(session, row, who),
        violations=tuple(
            shown(session, one, who) for one in session.rounds.violations_of(row.round)
        ),
        reviews=tuple(shown(session, one, who) for one in session.rounds.reviews_of(row.round)),
        proposals=case.proposals,
        history=case.history,
    )


def queued(floor: Floor, row: IncidentRow, who: Person) -> IncidentRow:
    """Return a row of the queue as this person may see it: an item's question may name a card."""
    session = floor.session(row.session)
    if row.violations or row.suspected or session is None or sees_all(session, row.round, who):
        return row
    return replace(row, questions=()) if session.rounds.hidden(row.round) else row
