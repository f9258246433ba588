"""People's actions at the service: events in a separate journal, chained like a table's."""

from typing import Literal, TypeAlias

from models.events import Event

Outcome: TypeAlias = Literal["done", "refused"]


class PersonActed(Event, frozen=True, kw_only=True, tag="person_acted"):
    """One action, done or refused. It holds no password, token or cookie."""

    person: str
    """Account name; at a sign-in, the name as typed."""
    by: str
    """``password``, ``session`` or ``token:ID``."""
    action: str
    """``signed_in``, ``saw``, ``account_added`` …"""
    target: str = ""
    """The object of the action: an account, a token, a path with its query."""
    outcome: Outcome
    address: str = ""
    """The client's network address; empty where several are counted together."""
    count: int = 1
    """Number of occurrences: after the first of a minute, a stranger's attempts are counted."""
    names: tuple[str, ...] = ()
    """Some of the attempted names, where there were several."""
