"""How far the camera clings to its errors, by its own record since the last shuffle.

A face that the shoe denies and that look after look names may be the shoe's error, or one that
the camera falls into as long as the card lies there. What tells the two apart is how this
camera errs: whether its next look mostly corrects it, or mostly repeats it.
"""

from typing import Final

from models.cards import Card
from settlement.reconcile.looks import Reading

_LEAST: Final = 0.05
"""No record, however long, speaks for more: a gleam or a worn print may come at any time."""


class Clinging:
    """Counts the camera's errors, judged by the shoe: those that lasted, and those that did not."""

    def __init__(self) -> None:
        self._lasted = self._slips = 0

    def forget(self) -> None:
        """Begin a record: what follows a fresh shoe does not depend on what was before it."""
        self._lasted = self._slips = 0

    def note(self, said: Card | None, reading: Reading | None) -> None:
        """Count what all looks at one card say against what the shoe said of it.

        Where it was the shoe that misread, that counts as an error that lasted, too.
        """
        if said is None or reading is None:
            return
        runs = reading.runs or (reading,)
        for run, following in zip(runs, (*runs[1:], None), strict=True):
            if run.p(said) >= run.listed[0][1]:
                continue
            self._lasted += run.looks > 1
            self._slips += run.looks == 1 and following is not None and not following.afresh

    @property
    def share(self) -> float:
        """The share of its errors that last, at worst: all of them until the next look told."""
        return max(_LEAST, (self._lasted + 1) / (self._lasted + self._slips + 1))
