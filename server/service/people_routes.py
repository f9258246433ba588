"""Signing in and out, accounts, tokens, and what people did."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from server.service.accounts import (
    SESSION_NS,
    SHORTEST_PASSWORD,
    Account,
    LockedOut,
    SignedIn,
    Token,
)
from server.service.activity import Outcome, PersonActed
from server.service.answers import MadeToken, Me, give, said
from server.service.guard import COOKIE, Who, guarded, note, records_of
from server.service.people import Right, Role
from server.service.problems import Problem
from server.service.records import FIRST_ACCOUNT, PASSWORD_FILE
from server.service.views import Page

DAY_NS: Final = 86_400_000_000_000
_NO_ACCOUNT: Final = "There is no such account."
_TAKEN: Final = "It cannot be done as things are; the detail says why."

router = APIRouter()

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9._-]{0,39}$")]
Password = Annotated[str, Field(min_length=1, max_length=200)]
NewPassword = Annotated[str, Field(min_length=SHORTEST_PASSWORD, max_length=200)]


class Body(BaseModel):
    """What is sent. A field that is not known is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False, hide_input_in_errors=True)


class SignIn(Body):
    """A name and its password."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    password: Password


class NewAccount(Body):
    """An account to be made."""

    name: Name
    role: Role
    password: NewPassword


class AccountChange(Body):
    """What is to be changed of an account; what is left out stays."""

    role: Role | None = None
    active: bool | None = None
    password: NewPassword | None = None


class PasswordChange(Body):
    """One's own password, old and new."""

    old: Password
    new: NewPassword


class NewToken(Body):
    """A token to be made; it can never do more than the account."""

    label: Annotated[str, Field(min_length=1, max_length=80)]
    scopes: Annotated[set[Right], Field(min_length=1)]
    days: Annotated[int, Field(ge=1, le=366)] = 30


@router.post(
    "/api/sign-in",
    status_code=200,
    responses=said(
        SignedIn,
        200,
        {
            401: "Name or password is wrong.",
            422: "A field is not what it must be.",
            429: "Too many wrong passwords for this name; Retry-After says how many seconds.",
        },
    ),
)
async def sign_in(request: Request, sent: SignIn) -> Response:
    """Begin a session: a cookie, and the CSRF token that every unsafe request sends back."""
    try:
        begun = await records_of(request).accounts(
            lambda kept: kept.sign_in(sent.name, sent.password)
        )
    except LockedOut as locked:
        await note(request, sent.name, "password", "signed_in", outcome="refused", target="locked")
        wait_s = max(locked.left_ns // 1_000_000_000, 1)
        raise Problem(429, "too many wrong passwords; wait", {"Retry-After": str(wait_s)}) from None
    outcome: Outcome = "done" if begun else "refused"
    await note(request, sent.name, "password", "signed_in", outcome=outcome, target="")
    if begun is None:
        raise Problem(401, "name or password is wrong", {"WWW-Authenticate": "Bearer"})
    answer = give(begun)
    answer.set_cookie(
        COOKIE,
        begun.session,
        max_age=SESSION_NS // 1_000_000_000,
        secure=request.app.state.is_secure,
        httponly=True,
        samesite="strict",
    )
    return answer


@router.post("/api/sign-out", **guarded(Right.KEEP_TOKENS, status=204, action=None))
async def sign_out(request: Request, who: Who) -> Response:
    """End this session."""
    session = request.cookies.get(COOKIE, "")
    await records_of(request).accounts(lambda kept: kept.sign_out(session))
    await note(request, who.name, who.by, "signed_out", target="")
    answer = Response(status_code=204)
    answer.delete_cookie(COOKIE)
    return answer


@router.get("/api/me", **guarded(Right.KEEP_TOKENS, Me))
async def me(who: Who) -> Response:
    """Say who asks and what they may do."""
    return give(Me(who.name, who.role, tuple(sorted(who.rights))))


@router.post(
    "/api/me/password",
    **guarded(
        Right.KEEP_TOKENS,
        status=204,
        problems={409: "The old password is wrong."},
        action=None,
    ),
)
async def change_password(request: Request, who: Who, sent: PasswordChange) -> Response:
    """Change one's own password; every session of the account ends."""
    if who.by != "session":
        raise Problem(403, "a token cannot change a password; sign in")
    records = records_of(request)
    if not await records.accounts(lambda kept: kept.is_password(who.name, sent.old)):
        raise Problem(409, "the old password is wrong")
    await records.accounts(lambda kept: kept.change(who.name, password=sent.new))
    if who.name == FIRST_ACCOUNT:
        (records.folder / PASSWORD_FILE).unlink(missing_ok=True)
    await note(request, who.name, who.by, "password_changed", target=who.name)
    return Response(status_code=204)


@router.get("/api/accounts", **guarded(Right.KEEP_ACCOUNTS, tuple[Account, ...]))
async def accounts(request: Request) -> Response:
    """List every account."""
    return give(await records_of(request).accounts(lambda kept: kept.all()))


@router.post(
    "/api/accounts",
    **guarded(Right.KEEP_ACCOUNTS, Account, status=201, problems={409: _TAKEN}, action=None),
)
async def add_account(request: Request, who: Who, sent: NewAccount) -> Response:
    """Make an account."""
    made = await records_of(request).accounts(
        lambda kept: kept.add(sent.name, sent.role, sent.password)
    )
    await note(request, who.name, who.by, "account_added", target=f"{sent.name} as {sent.role}")
    return give(made, 201)


@router.patch(
    "/api/accounts/{name}",
    **guarded(
        Right.KEEP_ACCOUNTS,
        Account,
        problems={404: _NO_ACCOUNT, 409: _TAKEN},
        action=None,
    ),
)
async def change_account(request: Request, who: Who, name: str, sent: AccountChange) -> Response:
    """Change a role or password, close an account or open it again; its sessions end."""
    changed = await records_of(request).accounts(
        lambda kept: kept.change(name, role=sent.role, active=sent.active, password=sent.password)
    )
    if changed is None:
        raise Problem(404, "there is no such account")
    await note(request, who.name, who.by, "account_changed", target=f"{name}: {_told(sent)}")
    return give(changed)


def _told(sent: AccountChange) -> str:
    """Say what was changed, without the password."""
    given = sent.model_dump(exclude_none=True)
    return ", ".join("password" if key == "password" else f"{key}={given[key]}" for key in given)


@router.get("/api/tokens", **guarded(Right.KEEP_TOKENS, tuple[Token, ...]))
async def tokens(request: Request, who: Who) -> Response:
    """List one's own tokens."""
    return give(await records_of(request).accounts(lambda kept: kept.tokens(who.name)))


@router.post(
    "/api/tokens",
    **guarded(Right.KEEP_TOKENS, MadeToken, status=201, action=None),
)
async def add_token(request: Request, who: Who, sent: NewToken) -> Response:
    """Make a token for a program; its scopes lie within one's own rights."""
    beyond = sent.scopes - who.rights
    if beyond:
        raise Problem(403, f"these scopes go beyond your rights: {', '.join(sorted(beyond))}")
    token, secret = await records_of(request).accounts(
        lambda kept: kept.add_token(who.name, sent.label, sent.scopes, sent.days * DAY_NS)
    )
    await note(request, who.name, who.by, "token_added", target=token.id)
    return give(MadeToken(token, secret), 201)


@router.delete(
    "/api/tokens/{key}",
    **guarded(
        Right.KEEP_TOKENS,
        status=204,
        problems={404: "There is no such token of yours."},
        action=None,
    ),
)
async def drop_token(request: Request, who: Who, key: str) -> Response:
    """Take back one of one's own tokens."""
    if not await records_of(request).accounts(lambda kept: kept.drop_token(who.name, key)):
        raise Problem(404, "there is no such token of yours")
    await note(request, who.name, who.by, "token_dropped", target=key)
    return Response(status_code=204)


@router.get("/api/activity", **guarded(Right.SEE_ACTIVITY, Page[PersonActed]))
async def activity(
    request: Request,
    cursor: Annotated[int | None, Query(ge=1, le=2**63 - 1)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> Response:
    """Show what people did at this service, the newest first."""
    found = await records_of(request).activity(cursor, limit)
    last = found[-1].seq if found else None
    return give(Page(found, str(last) if last is not None and last > 1 else None))
