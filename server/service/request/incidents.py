"""The incident that a request names."""

from fastapi import Request

from server.readmodel.cases import Cases
from server.readmodel.incidents import IncidentView, found_round, incident_row
from server.readmodel.session import Session
from server.readmodel.views import RoundRow
from server.service.access.people import Person
from server.service.http.problems import Problem
from server.service.request.services import services_of
from server.service.request.sessions import floor_of, shown


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
        incident=incident_row(session, row, case),
        round=shown(session, row, who),
        violations=tuple(
            shown(session, one, who) for one in session.rounds.violations_of(row.round)
        ),
        reviews=tuple(shown(session, one, who) for one in session.rounds.reviews_of(row.round)),
        proposals=case.proposals,
        history=case.history,
    )
