"""The second factor: one's own, and another's that was lost."""

from typing import Final

from fastapi import APIRouter, Request, Response

from server.service.access.activity import Outcome
from server.service.access.people import Person, Right
from server.service.access.second_factor import Enrolment, Recovery
from server.service.http.problems import Problem
from server.service.request.answers import give
from server.service.request.body import Body
from server.service.request.credentials import (
    LOCKED,
    WRONG_PASSWORD,
    Code,
    Password,
    counted,
)
from server.service.request.guard import Who, guarded, note, records_of

_NO_ACCOUNT: Final = "There is no such account."

router = APIRouter()


class OwnPassword(Body, json_schema_extra={"example": {"password": "the password of kim"}}):
    """One's own password again, for a sensitive action."""

    password: Password


class OwnFactor(
    Body, json_schema_extra={"example": {"password": "the password of kim", "code": "287082"}}
):
    """One's own password and a code, for turning the second factor off."""

    password: Password
    code: Code
    """Of the authenticator, or a recovery code."""


class OwnCode(Body, json_schema_extra={"example": {"code": "287082"}}):
    """A code of the authenticator."""

    code: Code


@router.post(
    "/api/me/second-factor",
    **guarded(
        Right.KEEP_SELF,
        Enrolment,
        status=201,
        problems={409: "The password is wrong, or a second factor exists already.", 429: LOCKED},
        action=None,
        is_in_person=True,
    ),
)
async def begin_factor(request: Request, who: Who, sent: OwnPassword) -> Response:
    """Create a secret for an authenticator app; it takes effect once a code is confirmed."""
    made = await counted(request, who.name, lambda kept: kept.begin_factor(who.name, sent.password))
    if made is None:
        raise Problem(409, WRONG_PASSWORD)
    await note(request, who.name, who.by, "second_factor_begun", target=who.name)
    return give(made, 201)


@router.post(
    "/api/me/second-factor/confirmation",
    **guarded(
        Right.KEEP_SELF,
        Recovery,
        problems={409: "The code does not belong to the new secret, or there is no new secret."},
        action=None,
        is_in_person=True,
    ),
)
async def confirm_factor(request: Request, who: Who, sent: OwnCode) -> Response:
    """Turn the second factor on; from now on a sign-in requires a code."""
    codes = await records_of(request).accounts(
        lambda kept: kept.confirm_factor(who.name, sent.code)
    )
    outcome: Outcome = "refused" if codes is None else "done"
    await note(request, who.name, who.by, "second_factor_on", outcome=outcome, target=who.name)
    if codes is None:
        raise Problem(
            409,
            "this code does not belong to the new secret; check the clock and try the next code",
        )
    return give(codes)


@router.post(
    "/api/me/second-factor/removal",
    **guarded(
        Right.KEEP_SELF,
        status=204,
        problems={409: "Password or code is wrong, or there is no second factor.", 429: LOCKED},
        action=None,
        is_in_person=True,
    ),
)
async def drop_own_factor(request: Request, who: Who, sent: OwnFactor) -> Response:
    """Turn one's own second factor off, with a code; every session of the account ends."""
    dropped = await counted(
        request,
        who.name,
        lambda kept: kept.drop_own_factor(who.name, sent.password, sent.code),
    )
    if dropped is None:
        raise Problem(409, "the password or the code is wrong")
    await _note_dropped(request, who, who.name, is_dropped=dropped)
    return Response(status_code=204)


@router.delete(
    "/api/accounts/{name}/second-factor",
    **guarded(
        Right.KEEP_ACCOUNTS,
        status=204,
        problems={404: _NO_ACCOUNT, 409: "It has none, or it is your own account."},
        action=None,
        is_in_person=True,
    ),
)
async def drop_factor(request: Request, who: Who, name: str) -> Response:
    """Turn another person's lost second factor off; the account's sessions end."""
    if name == who.name:
        raise Problem(409, "remove your own second factor with one of its codes: /api/me")
    known = await records_of(request).accounts(lambda kept: kept.all())
    if name not in {one.name for one in known}:
        raise Problem(404, "there is no such account")
    dropped = await records_of(request).accounts(lambda kept: kept.drop_factor(name))
    await _note_dropped(request, who, name, is_dropped=dropped)
    return Response(status_code=204)


async def _note_dropped(request: Request, who: Person, name: str, *, is_dropped: bool) -> None:
    if not is_dropped:
        raise Problem(409, "there is no second factor")
    await note(request, who.name, who.by, "second_factor_off", target=name)
