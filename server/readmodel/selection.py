"""What of the index is asked for, and what comes back."""

from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from server.readmodel.views import Row

R = TypeVar("R", bound=Row)
Key: TypeAlias = tuple[int, str, int, int]
"""``at``, session, ``seq``, and a number that distinguishes rows of one event."""

ENDLESS: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Placed(Generic[R]):
    """A row at its key."""

    key: Key
    row: R


@dataclass(frozen=True, slots=True)
class Sought(Generic[R]):
    """A selection of rows of a kind, the newest first."""

    kind: type[R]
    before: Key = (ENDLESS, "", 0, 0)
    table: str | None = None
    tables: frozenset[str] | None = None
    """The tables that the requester may see; ``None`` for all."""
    session: str | None = None
    from_ns: int | None = None
    noticed: bool = False
    """Whether to select only rounds that need attention."""
    fields: tuple[tuple[str, object], ...] = ()
    """Further fields with their required values."""
    oldest_first: bool = False
    """Whether they come in the order of time; they then begin at ``from_ns``."""
