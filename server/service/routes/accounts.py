"""Accounts, by those who administer them."""

from typing import Annotated, Final

from fastapi import APIRouter, Request, Response
from pydantic import Field

from server.service.access.accounts import Account
from server.service.access.people import Right, Role
from server.service.http.problems import Problem
from server.service.request.answers import give
from server.service.request.body import Body
from server.service.request.credentials import NewPassword
from server.service.request.guard import Who, guarded, note, records_of

_NO_ACCOUNT: Final = "There is no such account."
_TAKEN: Final = "The current state does not allow it; the detail gives the reason."

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9._-]{0,39}$")]
Tables = Annotated[
    tuple[Annotated[str, Field(min_length=1, max_length=80)], ...], Field(max_length=200)
]

router = APIRouter()


class NewAccount(
    Body,
    json_schema_extra={
        "example": {"name": "kim", "role": "pit", "password": "the password of kim"}
    },
):
    """A new account."""

    name: Name
    role: Role
    password: NewPassword
    tables: Tables = ()
    """The tables that it may see; where empty, all."""


class AccountChange(Body, json_schema_extra={"example": {"active": False}}):
    """The changes of an account; missing fields stay unchanged."""

    role: Role | None = None
    active: bool | None = None
    password: NewPassword | None = None
    tables: Tables | None = None
    """The tables that it may see; an empty list for all."""


@router.get("/api/accounts", **guarded(Right.KEEP_ACCOUNTS, tuple[Account, ...]))
async def accounts(request: Request) -> Response:
    """List every account."""
    return give(await records_of(request).accounts(lambda kept: kept.all()))


@router.post(
    "/api/accounts",
    **guarded(
        Right.KEEP_ACCOUNTS,
        Account,
        status=201,
        problems={409: _TAKEN},
        action=None,
        is_in_person=True,
    ),
)
async def add_account(request: Request, who: Who, sent: NewAccount) -> Response:
    """Create an account; its first password must be changed at the first sign-in."""
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
        is_in_person=True,
    ),
)
async def change_account(request: Request, who: Who, name: str, sent: AccountChange) -> Response:
    """Change a role or password, close or reopen an account; its sessions end.

    Where everything sent is as it was, nothing ends. With a new password, which must be changed at
    the next sign-in, its tokens end too.
    """
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
    named = ("password" if key == "password" else f"{key}={given[key]}" for key in given)
    return ", ".join(named) or "nothing"
