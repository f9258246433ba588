"""What is said of the table: facts, and items for a person, each in its round."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from models.events import AnyFact, RoundOpened
from models.judgements import Review, ReviewRaised
from settlement.phases import RoundPhases

Said: TypeAlias = AnyFact | ReviewRaised


class Voice:
    """Collects what is said, and counts the rounds it belongs to."""

    def __init__(self) -> None:
        self._said: list[Said] = []
        self.record: list[AnyFact] = []
        """The facts of the round in play, from its opening."""
        self._held_from: int | None = None
        self._asked_before = False
        """Whether that was asked since the last round."""
        self.asked = False
        """Whether a person must be heard before the round in play settles."""
        self.round = 0
        self._phases = RoundPhases()

    @property
    def in_play(self) -> bool:
        """Whether a round was opened and is not closed yet."""
        return self._phases.in_play

    def spoken(self) -> tuple[Said, ...]:
        """Return what was said since the last call."""
        said = tuple(self._said[: self._held_from])
        self._said = self._said[len(said) :]
        self._held_from = None if self._held_from is None else 0
        return said

    def hold(self) -> None:
        """Say nothing more for now: what comes next may yet be stated otherwise."""
        if self._held_from is None:
            self._held_from = len(self._said)

    def release(self) -> None:
        """Say what was held back."""
        self._held_from = None

    def holds(self, places: Iterable[int]) -> bool:
        """Tell whether the facts at these places of the record were not said yet."""
        held = [] if self._held_from is None else self._said[self._held_from :]
        return all(any(said is self.record[at] for said in held) for at in places)

    def amend(self, instead: Mapping[int, AnyFact]) -> None:
        """State held facts, by their place in the record, otherwise."""
        for at, fact in instead.items():
            place = next(n for n, said in enumerate(self._said) if said is self.record[at])
            self._said[place] = self.record[at] = fact

    def say(self, fact: AnyFact) -> int:
        """State a fact; returns its place in the round's record."""
        if isinstance(fact, RoundOpened):
            self.record = []
            self.asked = self._asked_before
            self._asked_before = False
        self._phases.follow_event(fact)
        self._said.append(fact)
        self.record.append(fact)
        return len(self.record) - 1

    def ask(self, review: Review, *, settles_alike: bool = False) -> None:
        """Leave something to a person; between rounds it concerns the next one.

        Args:
            review: what is asked.
            settles_alike: whether the round settles the same whatever the answer.
        """
        number = self.round if self.in_play else self.round + 1
        if not settles_alike:
            self.asked, self._asked_before = True, not self.in_play
        self._said.append(ReviewRaised(round=number, review=review, settles_alike=settles_alike))

    def doubt(self, what: str, candidates: Iterable[str], evidence: tuple[int, ...]) -> None:
        """Leave it to a person which of ``candidates`` is so."""
        self.ask(Review(what, tuple(candidates), evidence))
