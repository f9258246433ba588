"""What is said of the table: facts, and items for a person, each in its round."""

from collections.abc import Iterable
from typing import TypeAlias

from models.events import AnyFact
from models.judgements import Review, ReviewRaised

Said: TypeAlias = AnyFact | ReviewRaised


class Voice:
    """Collects what is said, and counts the rounds it belongs to."""

    def __init__(self) -> None:
        self._said: list[Said] = []
        self.round = 0
        self.in_play = False

    def spoken(self) -> tuple[Said, ...]:
        """Return what was said since the last call."""
        said, self._said = tuple(self._said), []
        return said

    def say(self, fact: AnyFact) -> None:
        """State a fact."""
        self._said.append(fact)

    def ask(self, review: Review) -> None:
        """Leave something to a person; between rounds it concerns the next one."""
        number = self.round if self.in_play else self.round + 1
        self._said.append(ReviewRaised(round=number, review=review))

    def doubt(self, what: str, candidates: Iterable[str], evidence: tuple[int, ...]) -> None:
        """Leave it to a person which of ``candidates`` is so."""
        self.ask(Review(what, tuple(candidates), evidence))
