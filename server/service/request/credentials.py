"""What a person proves about themselves: passwords and codes, and the count of wrong ones."""

from collections.abc import Callable
from typing import Annotated, Final, TypeVar

from fastapi import Request
from pydantic import Field

from server.service.access.accounts import Accounts, LockedOut
from server.service.access.activity import Outcome
from server.service.access.passwords import SHORTEST_PASSWORD
from server.service.http.problems import Problem, retry_after
from server.service.request.guard import note, records_of
from server.service.request.services import services_of

LOCKED: Final = "Too many wrong passwords or codes; Retry-After gives the seconds to wait."
WRONG_PASSWORD: Final = "the password is wrong"

T = TypeVar("T")

Password = Annotated[str, Field(min_length=1, max_length=200)]
NewPassword = Annotated[str, Field(min_length=SHORTEST_PASSWORD, max_length=200)]
Code = Annotated[str, Field(min_length=6, max_length=40)]


async def counted(request: Request, name: str, work: Callable[[Accounts], T]) -> T:
    """Run work that counts wrong passwords and codes; raises ``Problem`` 429 once locked."""
    try:
        return await records_of(request).accounts(work)
    except LockedOut as locked:
        await note_sign_in(request, name, "locked")
        raise Problem(429, locked.what, retry_after(locked.left_ns)) from None


async def note_sign_in(request: Request, name: str, how: str) -> None:
    """Count an attempt to sign in, and record it."""
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
