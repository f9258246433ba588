"""Tells a picture that is surely new from one that a camera or a decoder may show a second time.

A card in flight that is seen twice in one place looks like a card at rest. Motion anywhere in the
picture proves the picture new: a repeat shows none, whether it comes bit for bit or an encoder has
changed its noise. A picture in which all but nothing moved any more proves nothing; so many in a
row are no repeats but a table at rest.

How many depends on how often this camera repeats a picture. In a repeat nothing at all moves, and
after it the table has moved on by two pictures, so as much moves as before or more. A hand that
holds still comes to rest and sets off again more slowly.
"""

from math import ceil, log
from typing import Final

MOST_STILL: Final = 5
"""So many pictures in a row in which the motion has stopped show a table at rest, whatever the
camera. Counted in pictures: repeats are, too."""
_LEAST_STILL: Final = 2
"""As many do where a camera is not known to repeat any."""
_RUN_P: Final = 1e-4
"""The share of pictures that begin a run of repeats taken for a table at rest. Chosen."""
_STOPPED: Final = 0.15
"""Share of the change before: below it, what moved has stopped. A hand that lets go of a card and
holds still for one picture gave 0.11 (filmed session 9104)."""
_PRIOR: Final = 3
"""Repeats that a camera is believed to have shown already, so that it must prove itself for 300
pictures with motion. Films without repeats gave 2 to 5 in 1,600 (filmed sessions 9343 to 9348),
films with a tenth of the pictures repeated 87."""
_REMEMBERED: Final = 2_000
"""Pictures with motion after which what was counted weighs half: a camera may begin to repeat."""


class Repeats:
    """Follows one camera's pictures."""

    def __init__(self) -> None:
        self._still, self._change = MOST_STILL, 0.0
        self._moved_last = True
        """Whether anything moved in the last picture, however little."""
        self._moving = self._repeats = 0.0

    @property
    def still(self) -> int:
        """How many still pictures in a row show a table at rest."""
        share = (self._repeats + _PRIOR) / max(self._moving, _PRIOR)
        if share >= 1.0:
            return MOST_STILL
        return min(MOST_STILL, max(_LEAST_STILL, ceil(log(_RUN_P) / log(share))))

    def possible(self, change: float) -> bool:
        """Take the next picture; return whether it may repeat an earlier one.

        Args:
            change: from the last picture that was taken for new, in any unit; 0 without motion.
        """
        if 0 < change >= _STOPPED * self._change:
            self._count(change)
            self._still = 0
        else:
            self._still += 1
        self._moved_last = change > 0.0
        if 0 < self._still < self.still:
            return True
        self._change = change
        return False

    def _count(self, change: float) -> None:
        self._moving += 1
        stood = self._still == 1 and not self._moved_last
        self._repeats += stood and change >= self._change
        if self._moving >= _REMEMBERED:
            self._moving, self._repeats = self._moving / 2, self._repeats / 2
