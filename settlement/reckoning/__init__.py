"""What happened at a table, inferred from every sensor at once.

It reads every game that is dealt by hand. For games with a shoe it is on trial: they are read by
``settlement.reconcile`` unless somebody asks for the reckoning.

A *story* is one account of the round: what lies where, and the facts so far. An observation
may mean several things. Each meaning continues a story, weighed by how likely the observation is
in it. Unlikely stories are dropped. Facts are published once the remaining stories agree on them.
When the round is over, the engine settles each remaining story, and a person is asked where money
or a verdict differs.

=================  ==========================================================================
``odds``           how likely each thing is: every constant of the inference
``in_play``        the cards and hands of the round in play
``story``          what lies on the table and what happened, by one account
``shoe``           what left a shoe that reads its cards, and which card it became
``grammar``        who gets the next card, and how likely each card would be
``camera``         what a sighting may mean
``chips``          what a change of chips may mean
``entries``        what people state
``missed``         mistakes that a card unseen would explain
``closing``        what is asked of a round that is over
``reckoning``      the stories side by side, and what is published
=================  ==========================================================================
"""

from typing import Final

from settlement.native import RECKONING, found

_folder = found(RECKONING)

COMPILED: Final = _folder is not None
"""Whether the reckoning runs in its compiled form."""

if _folder is not None:
    __path__.insert(0, _folder)

# The path must be set before the first of the modules is imported.
# ruff: noqa: E402
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol, TypeAlias

from models.events import AnyFact, AnyObservation
from models.judgements import AnyEvent, ReviewRaised
from models.layout import TableLayout
from models.rulebook import Rulebook
from settlement.reckoning.reckoning import Dealing, Reckoning
from settlement.reconcile import Reconciler

Inference: TypeAlias = Literal["reconciler", "reckoning"]


class Sensors(Protocol):
    """Turns what a table's sensors report into facts and items for a person."""

    def recall(self, events: Iterable[AnyEvent]) -> None:
        """Learn from rounds of the session that are over."""

    def learned(self) -> tuple[int, ...]:
        """Return what rounds that are over taught, as numbers for :meth:`go_on`."""

    def go_on(self, learned: Sequence[int]) -> None:
        """Go on between two shoes, from what an earlier table had learned there."""

    def feed(
        self, observation: AnyObservation, through_ns: int
    ) -> tuple[AnyFact | ReviewRaised, ...]:
        """Take one observation in; ``through_ns`` is how far the sources have been read."""

    def advance(self, now_ns: int) -> tuple[AnyFact | ReviewRaised, ...]:
        """Learn that the sources have been read up to ``now_ns``."""

    def finish(self) -> tuple[AnyFact | ReviewRaised, ...]:
        """Learn that the session is over."""


def sensors(
    rules: Rulebook,
    layout: TableLayout,
    dealing: Dealing = "shoe",
    *,
    played: int = 0,
    inference: Inference = "reconciler",
) -> Sensors:
    """Return what reads the sensors of a table.

    Args:
        rules: the rulebook in force.
        layout: the felt that the cameras' millimetres are of.
        dealing: whether cards come from a shoe that reads them, or from the dealer's hand.
        played: the rounds of the session that are over.
        inference: what reads a game with a shoe; a game dealt by hand has the reckoning alone.
    """
    if dealing == "shoe" and inference == "reconciler":
        return Reconciler(rules, layout, played=played)
    return Reckoning(rules, layout, dealing, played=played)


__all__ = ["COMPILED", "Dealing", "Inference", "Reckoning", "Sensors", "sensors"]
