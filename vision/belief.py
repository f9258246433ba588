"""Which finds of a picture of unknown scale are cards: by the finder, and by what else it shows.

Cards in one picture have about one size. A find in doubt is believed the more readily beside a
certain card of its size; in a picture that shows none it may as well be writing, a key or a chip.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

ALIKE_SIZE: Final = 1.6
"""Ratio up to which two cards have about one size: perspective, and what one index misjudges."""
FACE_ALONE, FACE_BESIDE = 0.65, 0.45
"""The finder's probability from which a face in doubt is believed: without and beside a certain
card. Of 86 finds on written pages, keyboards and chips 99% have less than the first; 0.6 instead
finds no further card of the 2,034 on training photographs."""
BACK_ALONE, BACK_BESIDE = 0.6, 0.4
"""The same for a back: of 91 finds on such pictures 88% have less than the first; on films, where
the scale is known, a back of which all shows has 0.56 and more."""


def believed(
    found_p: NDArray[np.floating],
    widths_px: NDArray[np.floating],
    certain_px: NDArray[np.floating],
    *,
    face_up: bool,
) -> NDArray[np.bool_]:
    """Return which finds in doubt are believed to be cards, ``(N,)``.

    Args:
        found_p: ``(N,)``, the finder's probability that a card lies there.
        widths_px: ``(N,)``, their widths.
        certain_px: ``(M,)``, the widths of the certain cards of the picture.
        face_up: whether they are faces, not backs.
    """
    alone, beside = (FACE_ALONE, FACE_BESIDE) if face_up else (BACK_ALONE, BACK_BESIDE)
    apart = np.abs(np.log(widths_px[:, None] / certain_px[None]))
    accompanied = (apart < np.log(ALIKE_SIZE)).any(1)
    return np.asarray(found_p >= np.where(accompanied, beside, alone), np.bool_)


def widths(corners_px: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the widths of cards ``(N, 4, 2)`` in the picture, ``(N,)``."""
    return np.asarray(np.hypot(*(corners_px[:, 1] - corners_px[:, 0]).T), np.float64)
