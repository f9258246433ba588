"""Faces that were read surely and yet are no card on the felt to the watcher: counted, with why.

A face may be held back for a moment, in a hand that lays it. It counts once it has neither been
told of since, nor was it before.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from models.cards import Card
from vision.felt import Pose

Why: TypeAlias = Literal["misfit", "moving", "cut", "felt", "print", "twice"]

WORDS: Final[dict[Why, str]] = {
    "misfit": "its outline is not a card's, and its edges do not show",
    "moving": "it did not come to rest",
    "cut": "only a part of it was read",
    "felt": "the felt shows where it would lie",
    "print": "it looks like print of cards that lie there",
    "twice": "another face was read in its place",
}
WAIT_NS: Final = 2_000_000_000
"""How long a face may be held back before it counts: a card that comes to rest is told of 0.3 s
later, and one beside an arm when that has gone. Chosen."""
PAST_NS: Final = 5_000_000_000
"""A face told of so lately is the card that is being taken up. Chosen."""
CARRIED_NS: Final = 300_000_000
"""A face in motion that is found at one place for less long is carried. Chosen."""
SAME_MM: Final = 60.0
"""Finds of one face this near are of one card: a lone index may misplace it so far. Chosen."""


@dataclass(frozen=True, slots=True)
class Held:
    """A face that one look reads surely, and why it is held back."""

    card: Card
    pose: Pose
    why: Why


@dataclass(slots=True)
class _Waiting:
    held: Held
    since_ns: int
    last_ns: int
    counted: bool = False


@dataclass(slots=True)
class HeldBack:
    """What one camera's watcher holds back, from look to look."""

    _waiting: list[_Waiting] = field(default_factory=list)
    _told_ns: dict[Card, int] = field(default_factory=dict)
    """When each face was last on the felt, as told."""

    def look(self, held: Iterable[Held], at_ns: int) -> None:
        """Take in what a look holds back."""
        for one in held:
            known = next((other for other in self._waiting if _same(other.held, one)), None)
            if known is None:
                self._waiting.append(_Waiting(one, at_ns, at_ns))
            else:
                known.held, known.last_ns = one, at_ns

    def due(self, told: Sequence[tuple[Card, Pose]], at_ns: int) -> tuple[Held, ...]:
        """Return what counts now as held back, each once.

        Args:
            told: the faces that lie on the felt, as told.
            at_ns: the moment.
        """
        self._told_ns |= {card: at_ns for card, _ in told}
        self._waiting = [one for one in self._waiting if not self._is_told(one, told)]
        overdue = [one for one in self._waiting if _is_overdue(one, at_ns)]
        news = tuple(one.held for one in overdue if not one.counted)
        for one in overdue:
            one.counted = True
        self._waiting = [one for one in self._waiting if at_ns - one.last_ns < (PAST_NS + WAIT_NS)]
        return news

    def _is_told(self, one: _Waiting, told: Sequence[tuple[Card, Pose]]) -> bool:
        """Return whether a face was told of: where it lies, or of one in motion, lately."""
        if any(_same(one.held, Held(card, pose, one.held.why)) for card, pose in told):
            return True
        lately = self._told_ns.get(one.held.card)
        return one.held.why in ("moving", "cut") and (
            lately is not None and one.since_ns - lately < PAST_NS
        )


def _is_overdue(one: _Waiting, at_ns: int) -> bool:
    """Return whether a face has waited long enough; one in motion is carried past this place."""
    carried = one.held.why == "moving" and one.last_ns - one.since_ns < CARRIED_NS
    return at_ns - one.since_ns >= WAIT_NS and not carried


def _same(one: Held, other: Held) -> bool:
    return one.card is other.card and one.pose.distance_mm(other.pose) <= SAME_MM
