"""What people did at the service: events in a journal of its own, chained like a table's."""

from typing import Literal, TypeAlias

from models.events import Event

Outcome: TypeAlias = Literal["done", "refused"]


class PersonActed(Event, frozen=True, kw_only=True, tag="person_acted"):
    """One thing that somebody did, or was refused. It holds no password, token or cookie."""

    person: str
    """Account name; at a sign-in, the name that was given."""
    by: str
    """``password``, ``session`` or ``token:ID``."""
    action: str
    """``signed_in``, ``saw``, ``account_added`` …"""
    target: str = ""
    """What it was done to: an account, a token, a path with its query."""
    outcome: Outcome
    address: str = ""
    """The network address it came from; empty where several are counted together."""
    count: int = 1
    """How often it happened: a stranger's tries after the first of a minute are counted."""
    names: tuple[str, ...] = ()
    """Some of the names that were tried, where there were several."""
