"""Sign-in and sign-out, and one's own password."""

from typing import Annotated, Final

from fastapi import APIRouter, Request, Response
from pydantic import Field

from server.service.access.accounts import SESSION_NS, CodeDue, SignedIn
from server.service.access.people import Right
from server.service.access.records import FIRST_ACCOUNT, PASSWORD_FILE
from server.service.http.problems import Problem
from server.service.request.answers import Me, give, responses_of
from server.service.request.body import Body
from server.service.request.credentials import (
    LOCKED,
    WRONG_PASSWORD,
    Code,
    NewPassword,
    Password,
    counted,
    note_sign_in,
)
from server.service.request.guard import (
    COOKIE,
    Who,
    guarded,
    is_of_another_site,
    limit_sign_ins,
    note,
    records_of,
)
from server.service.request.services import services_of

_CHALLENGE: Final = {"WWW-Authenticate": "Bearer"}

router = APIRouter()


class SignIn(
    Body, json_schema_extra={"example": {"name": "kim", "password": "the password of kim"}}
):
    """A name and its password."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    password: Password
    code: Code | None = None
    """Of the authenticator, or a recovery code, where the account requires one."""


class PasswordChange(
    Body,
    json_schema_extra={"example": {"old": "the password of kim", "new": "the next one of kim"}},
):
    """One's own password, old and new."""

    old: Password
    new: NewPassword
    keep_tokens: bool = False
    """Whether one's tokens stay valid; else they end with the password."""


@router.post(
    "/api/sign-in",
    status_code=200,
    responses=responses_of(
        SignedIn,
        200,
        {
            401: "Name, password or code is wrong. With `needs`, a code is required.",
            403: "The request came from another site's page.",
            422: "A field is invalid.",
            429: LOCKED,
        },
    ),
)
async def sign_in(request: Request, sent: SignIn) -> Response:
    """Begin a session: a cookie, and the CSRF token that every unsafe request sends back."""
    if is_of_another_site(request):
        raise Problem(403, "sign in from the service's own page")
    await limit_sign_ins(request)
    try:
        begun = await counted(
            request, sent.name, lambda kept: kept.sign_in(sent.name, sent.password, sent.code)
        )
    except CodeDue as due:
        await note_sign_in(request, sent.name, "code asked for")
        raise Problem(401, f"{due.what}: {due.way_out}", _CHALLENGE, needs="code") from None
    await note_sign_in(request, sent.name, "done" if begun else "wrong")
    if begun is None:
        raise Problem(401, "name, password or code is wrong", _CHALLENGE)
    answer = give(begun.shown)
    answer.set_cookie(
        COOKIE,
        begun.session,
        max_age=SESSION_NS // 1_000_000_000,
        secure=services_of(request).is_secure,
        httponly=True,
        samesite="strict",
    )
    return answer


@router.post(
    "/api/sign-out", **guarded(Right.KEEP_SELF, status=204, action=None, is_in_person=True)
)
async def sign_out(request: Request, who: Who) -> Response:
    """End this session."""
    session = request.cookies.get(COOKIE, "")
    await records_of(request).accounts(lambda kept: kept.sign_out(session))
    await note(request, who.name, who.by, "signed_out", target="")
    answer = Response(status_code=204)
    answer.delete_cookie(COOKIE)
    return answer


@router.get("/api/me", **guarded(Right.KEEP_SELF, Me))
async def me(request: Request, who: Who) -> Response:
    """Return the account behind the request, with its rights."""
    factor, password = await records_of(request).accounts(lambda kept: kept.standing(who.name))
    return give(Me(who.name, who.role, tuple(sorted(who.rights)), factor, password))


@router.post(
    "/api/me/password",
    **guarded(
        Right.KEEP_SELF,
        status=204,
        problems={409: "The old password is wrong, or the new one is refused.", 429: LOCKED},
        action=None,
        is_in_person=True,
    ),
)
async def change_password(request: Request, who: Who, sent: PasswordChange) -> Response:
    """Change one's own password; every session of the account ends, and its tokens."""
    records = records_of(request)
    if not await counted(request, who.name, lambda kept: kept.is_password(who.name, sent.old)):
        raise Problem(409, WRONG_PASSWORD)
    await records.accounts(
        lambda kept: kept.change(who.name, password=sent.new, keep_tokens=sent.keep_tokens)
    )
    if who.name == FIRST_ACCOUNT:
        (records.folder / PASSWORD_FILE).unlink(missing_ok=True)
    await note(request, who.name, who.by, "password_changed", target=who.name)
    return Response(status_code=204)
