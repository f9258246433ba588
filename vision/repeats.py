"""Tells a picture that is surely new from one that a camera or a decoder may show a second time.

A card in flight that is seen twice in one place looks like a card at rest. Motion anywhere in the
picture proves the picture new: a repeat shows none, whether it comes bit for bit or an encoder has
changed its noise. A picture in which all but nothing moved any more proves nothing; so many in a
row are no repeats but a table at rest.
"""

from typing import Final

STILL: Final = 5
"""So many pictures in a row in which the motion has stopped show a table at rest. Of a camera that
repeats every tenth picture, one run of repeats in 100,000 pictures is so long; a table on which
nothing at all moves is read that many pictures late. Counted in pictures: repeats are, too."""
_STOPPED: Final = 0.15
"""Share of the change before: below it, what moved has stopped. A hand that lets go of a card and
holds still for one picture gave 0.11 (filmed session 9104)."""


class Repeats:
    """Follows one camera's pictures."""

    def __init__(self) -> None:
        self._still, self._change = STILL, 0.0

    def possible(self, change: float) -> bool:
        """Take the next picture; return whether it may repeat an earlier one.

        Args:
            change: from the last picture that was taken for new, in any unit; 0 without motion.
        """
        moved = 0 < change >= _STOPPED * self._change
        self._still = 0 if moved else self._still + 1
        if 0 < self._still < STILL:
            return True
        self._change = change
        return False
