"""Tokens for programs: one's own, and those of an account."""

from typing import Annotated, Final

from fastapi import APIRouter, Request, Response
from pydantic import Field

from server.service.access.people import Person, Right
from server.service.access.tokens import Token
from server.service.http.problems import Problem
from server.service.request.answers import MadeToken, give
from server.service.request.body import Body
from server.service.request.guard import Who, guarded, note, records_of

DAY_NS: Final = 86_400_000_000_000
_NO_ACCOUNT: Final = "There is no such account."

router = APIRouter()


class NewToken(
    Body, json_schema_extra={"example": {"label": "board", "scopes": ["see_tables", "see_rounds"]}}
):
    """A new token; its rights never exceed the account's."""

    label: Annotated[str, Field(min_length=1, max_length=80)]
    scopes: Annotated[set[Right], Field(min_length=1)]
    days: Annotated[int, Field(ge=1, le=366)] = 30


@router.get("/api/tokens", **guarded(Right.KEEP_TOKENS, tuple[Token, ...]))
async def tokens(request: Request, who: Who) -> Response:
    """List one's own tokens."""
    return give(await records_of(request).accounts(lambda kept: kept.tokens(who.name)))


@router.post(
    "/api/tokens",
    **guarded(Right.KEEP_TOKENS, MadeToken, status=201, action=None),
)
async def add_token(request: Request, who: Who, sent: NewToken) -> Response:
    """Create a token for a program; its scopes lie within one's own rights.

    A token created by a token ends with it at the latest.
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
    """Revoke one of one's own tokens."""
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
    """Revoke a person's token, and those that it created."""
    if not await records_of(request).accounts(lambda kept: kept.drop_token(name, key)):
        raise Problem(404, "there is no such token of that account")
    await note(request, who.name, who.by, "token_revoked", target=f"{name}: {key}")
    return Response(status_code=204)
