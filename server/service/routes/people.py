"""Sign-in and sign-out, accounts, tokens, and people's actions."""

from collections.abc import Callable
from typing import Annotated, Final, TypeVar

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from server.readmodel.views import Page
from server.service.access.accounts import (
    SESSION_NS,
    Account,
    Accounts,
    CodeDue,
    LockedOut,
    SignedIn,
)
from server.service.access.activity import Outcome, PersonActed
from server.service.access.passwords import SHORTEST_PASSWORD
from server.service.access.people import Person, Right, Role
from server.service.access.records import FIRST_ACCOUNT, PASSWORD_FILE
from server.service.access.second_factor import Enrolment, Recovery
from server.service.access.tokens import Token
from server.service.http.problems import Problem, retry_after
from server.service.request.answers import MadeToken, Me, give, responses_of
from server.service.request.body import Body
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

DAY_NS: Final = 86_400_000_000_000
_NO_ACCOUNT: Final = "There is no such account."
_TAKEN: Final = "The current state does not allow it; the detail gives the reason."

_LOCKED: Final = "Too many wrong passwords or codes; Retry-After gives the seconds to wait."
_CHALLENGE: Final = {"WWW-Authenticate": "Bearer"}
_WRONG_PASSWORD: Final = "the password is wrong"

router = APIRouter()
T = TypeVar("T")

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9._-]{0,39}$")]
Password = Annotated[str, Field(min_length=1, max_length=200)]
NewPassword = Annotated[str, Field(min_length=SHORTEST_PASSWORD, max_length=200)]
Tables = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=80)], ...], Field(max_length=200)
]
Code = Annotated[str, Field(min_length=6, max_length=40)]


class SignIn(Body):
    """A name and its password."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    password: Password
    code: Code | None = None
    """Of the authenticator, or a recovery code, where the account asks for one."""


class OwnPassword(Body):
    """One's own password once more, before something that matters."""

    password: Password


class OwnFactor(Body):
    """One's own password and a code, before the second factor goes."""

    password: Password
    code: Code
    """Of the authenticator, or a recovery code."""


class OwnCode(Body):
    """A code of the authenticator."""

    code: Code


class NewAccount(Body):
    """An account to be made."""

    name: Name
    role: Role
    password: NewPassword
    tables: Tables = ()
    """The tables that it sees; where none is named, all."""


class AccountChange(Body):
    """What is to be changed of an account; what is left out stays."""

    role: Role | None = None
    active: bool | None = None
    password: NewPassword | None = None
    tables: Tables | None = None
    """The tables that it sees; an empty list for all."""


class PasswordChange(Body):
    """One's own password, old and new."""

    old: Password
    new: NewPassword
    keep_tokens: bool = False
    """Whether one's tokens go on; else they end with the password."""


class NewToken(Body):
    """A token to be made; it can never do more than the account."""

    label: Annotated[str, Field(min_length=1, max_length=80)]
    scopes: Annotated[set[Right], Field(min_length=1)]
    days: Annotated[int, Field(ge=1, le=366)] = 30


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
            429: _LOCKED,
        },
    ),
)
async def sign_in(request: Request, sent: SignIn) -> Response:
    """Begin a session: a cookie, and the CSRF token that every unsafe request sends back."""
    if is_of_another_site(request):
        raise Problem(403, "sign in from the service's own page")
    await limit_sign_ins(request)
    try:
        begun = await _counted(
            request, sent.name, lambda kept: kept.sign_in(sent.name, sent.password, sent.code)
        )
    except CodeDue as due:
        await _note_sign_in(request, sent.name, "code asked for")
        raise Problem(401, f"{due.what}: {due.way_out}", _CHALLENGE, needs="code") from None
    await _note_sign_in(request, sent.name, "done" if begun else "wrong")
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


async def _counted(request: Request, name: str, work: Callable[[Accounts], T]) -> T:
    """Run work that counts wrong passwords and codes; raises ``Problem`` 429 once locked."""
    try:
        return await records_of(request).accounts(work)
    except LockedOut as locked:
        await _note_sign_in(request, name, "locked")
        raise Problem(429, locked.what, retry_after(locked.left_ns)) from None


async def _note_sign_in(request: Request, name: str, how: str) -> None:
    services_of(request).meters.sign_ins.labels(how).inc()
    outcome: Outcome = "done" if how == "done" else "refused"
    target = "" if how in {"done", "wrong"} else how
    is_stranger = how in {"wrong", "locked"}
    await note(
        request,
        name,
        "password",
        "signed_in",
        outcome=outcome,
        target=target,
        is_stranger=is_stranger,
    )


@router.post("/api/sign-out", **guarded(Right.KEEP_SELF, status=204, action=None))
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
    """Say who asks and what they may do."""
    factor, password = await records_of(request).accounts(lambda kept: kept.standing(who.name))
    return give(Me(who.name, who.role, tuple(sorted(who.rights)), factor, password))


@router.post(
    "/api/me/password",
    **guarded(
        Right.KEEP_SELF,
        status=204,
        problems={409: "The old password is wrong, or the new one is refused.", 429: _LOCKED},
        action=None,
    ),
)
async def change_password(request: Request, who: Who, sent: PasswordChange) -> Response:
    """Change one's own password; every session of the account ends, and its tokens."""
    _in_person(who)
    records = records_of(request)
    if not await _counted(request, who.name, lambda kept: kept.is_password(who.name, sent.old)):
        raise Problem(409, _WRONG_PASSWORD)
    await records.accounts(
        lambda kept: kept.change(who.name, password=sent.new, keep_tokens=sent.keep_tokens)
    )
    if who.name == FIRST_ACCOUNT:
        (records.folder / PASSWORD_FILE).unlink(missing_ok=True)
    await note(request, who.name, who.by, "password_changed", target=who.name)
    return Response(status_code=204)


def _in_person(who: Person) -> None:
    if who.by != "session":
        raise Problem(403, "a token cannot do this; sign in")


# --- second factor ------------------------------------------------------------------------


@router.post(
    "/api/me/second-factor",
    **guarded(
        Right.KEEP_SELF,
        Enrolment,
        status=201,
        problems={409: "The password is wrong, or a second factor exists already.", 429: _LOCKED},
        action=None,
    ),
)
async def begin_factor(request: Request, who: Who, sent: OwnPassword) -> Response:
    """Make a secret for an authenticator app; it asks for nothing until a code is confirmed."""
    _in_person(who)
    made = await _counted(
        request, who.name, lambda kept: kept.begin_factor(who.name, sent.password)
    )
    if made is None:
        raise Problem(409, _WRONG_PASSWORD)
    await note(request, who.name, who.by, "second_factor_begun", target=who.name)
    return give(made, 201)


@router.post(
    "/api/me/second-factor/confirmation",
    **guarded(
        Right.KEEP_SELF,
        Recovery,
        problems={409: "The code does not belong to the new secret, or there is no new secret."},
        action=None,
    ),
)
async def confirm_factor(request: Request, who: Who, sent: OwnCode) -> Response:
    """Turn the second factor on; from now on a sign-in asks for a code."""
    _in_person(who)
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
        problems={409: "Password or code is wrong, or there is no second factor.", 429: _LOCKED},
        action=None,
    ),
)
async def drop_own_factor(request: Request, who: Who, sent: OwnFactor) -> Response:
    """Turn one's own second factor off, with a code of it; every session of the account ends."""
    _in_person(who)
    dropped = await _counted(
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
    ),
)
async def drop_factor(request: Request, who: Who, name: str) -> Response:
    """Turn another's second factor off, where they have lost it; the account's sessions end."""
    _in_person(who)
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


# --- accounts -----------------------------------------------------------------------------


@router.get("/api/accounts", **guarded(Right.KEEP_ACCOUNTS, tuple[Account, ...]))
async def accounts(request: Request) -> Response:
    """List every account."""
    return give(await records_of(request).accounts(lambda kept: kept.all()))


@router.post(
    "/api/accounts",
    **guarded(Right.KEEP_ACCOUNTS, Account, status=201, problems={409: _TAKEN}, action=None),
)
async def add_account(request: Request, who: Who, sent: NewAccount) -> Response:
    """Make an account; its first password must be changed at the first sign-in."""
    _in_person(who)
    made = await records_of(request).accounts(
        lambda kept: kept.add(
            sent.name, sent.role, sent.password, is_first=True, tables=sent.tables
        )
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
    """Change a role or password, close an account or open it again; its sessions end.

    With a new password, which must be changed at the next sign-in, its tokens end too.
    """
    _in_person(who)
    changed = await records_of(request).accounts(
        lambda kept: kept.change(
            name,
            role=sent.role,
            active=sent.active,
            password=sent.password,
            is_first=True,
            tables=sent.tables,
        )
    )
    if changed is None:
        raise Problem(404, "there is no such account")
    await note(request, who.name, who.by, "account_changed", target=f"{name}: {_describe(sent)}")
    return give(changed)


def _describe(sent: AccountChange) -> str:
    """Describe the change, without the password."""
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
    """Make a token for a program; its scopes lie within one's own rights.

    One that a token makes ends with it, at the latest when that does.
    """
    beyond = sent.scopes - who.rights
    if beyond:
        raise Problem(403, f"these scopes go beyond your rights: {', '.join(sorted(beyond))}")
    token, secret = await records_of(request).accounts(
        lambda kept: kept.add_token(
            who.name, sent.label, sent.scopes, sent.days * DAY_NS, _token_of(who)
        )
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


def _token_of(who: Person) -> str:
    kind, _, key = who.by.partition(":")
    return key if kind == "token" else ""


@router.get(
    "/api/accounts/{name}/tokens",
    **guarded(Right.KEEP_ACCOUNTS, tuple[Token, ...], problems={404: _NO_ACCOUNT}),
)
async def tokens_of(request: Request, name: str) -> Response:
    """List an account's tokens."""
    known = await records_of(request).accounts(lambda kept: kept.all())
    if name not in {one.name for one in known}:
        raise Problem(404, "there is no such account")
    return give(await records_of(request).accounts(lambda kept: kept.tokens(name)))


@router.delete(
    "/api/accounts/{name}/tokens/{key}",
    **guarded(
        Right.KEEP_ACCOUNTS,
        status=204,
        problems={404: "There is no such token of that account."},
        action=None,
    ),
)
async def revoke_token(request: Request, who: Who, name: str, key: str) -> Response:
    """Take back a token of somebody's, and those that it made."""
    if not await records_of(request).accounts(lambda kept: kept.drop_token(name, key)):
        raise Problem(404, "there is no such token of that account")
    await note(request, who.name, who.by, "token_revoked", target=f"{name}: {key}")
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
