"""Whether a picture is mirrored: a 3 in a mirror reads as an 8, and nothing in it shows a doubt.

Two things tell. Indices stand in a card's left upper corner, in a mirror in the right one; only
four-corner decks have both. And a patch of a mirrored picture reads more surely once it is mirrored
back, where its sign has a left and a right: that of a sound picture never does.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from models.cards import DECK, Card
from vision.indices import Indices
from vision.networks import Network
from vision.patches import NUDGES_MM, cut_patches, log_softmax, mean_answers
from vision.sightings import Sightings

_READ_P: Final = 0.4
"""Probability. Indices and faces that are read less surely tell nothing."""
_TELLS: Final = 0.05
"""Lead of a logarithm. Of 461 sure indices on 40 photographs 1 in 100 had one of 0.00 or more in
favour of the mirror; of 292 on the same pictures mirrored, a quarter had 0.01 to 0.06 or more, and
1 in 50 at most one against it."""
_BY_CORNER: Final = 0.5
"""The weight of a card whose indices stand in right upper corners alone, beside one that reads
more surely. Chosen, as are those below. Of 238 sure indices of two-corner decks on photographs none
stood there, mirrored 150 of 155."""
_FACES: Final = 12
"""The last faces that count, each once: looks at one card share their errors."""
_LEAST_FACES: Final = 4
_MIRRORED: Final = 2.5
_DETAIL: Final = "the picture is mirrored: its cards are not read"


def mirrored(
    network: Network, picture: NDArray[np.uint8], indices: Indices, cards: list[list[int]]
) -> NDArray[np.float32]:
    """Return what each card says, ``(N,)``: 1 the picture is mirrored, -1 it is not, 0 nothing."""
    found = np.zeros(len(cards), np.float32)
    sure = np.exp(indices.card_log.max(1, initial=-np.inf)) >= _READ_P
    if not sure.any():
        return found
    lead = np.zeros(len(sure))
    if indices.right_hand[sure].any():
        lead[sure] = _lead(network, picture, indices.only(sure))
    for at, members in enumerate(cards):
        own = [one for one in members if sure[one]]
        if not own:
            continue
        surest = max((float(lead[one]) for one in own), key=abs)
        right = indices.right_hand[own]
        if abs(surest) >= _TELLS:
            found[at] = np.sign(surest)
        elif right.all() or not right.any():
            found[at] = _BY_CORNER if right.all() else -_BY_CORNER
    return found


def _lead(network: Network, picture: NDArray[np.uint8], indices: Indices) -> NDArray[np.float64]:
    """Return by how much more surely each rank is read once its patch is mirrored."""
    patches = cut_patches(picture, indices.maps, indices.right_hand, NUDGES_MM)
    temperature = network.manifest["calibration"]["rank_temperature"]
    as_is, back = (
        log_softmax(mean_answers(network, part)[:, :14] / temperature)[:, :13].max(1)
        for part in (patches, np.ascontiguousarray(patches[:, :, :, ::-1]))
    )
    return np.asarray(back - as_is, np.float64)


class Mirror:
    """Follows what a camera's cards say, and holds back those that a mirror may have made."""

    def __init__(self) -> None:
        self._said: dict[Card, float] = {}
        self._is_mirrored = False

    @property
    def detail(self) -> str | None:
        """What is wrong, for people; ``None`` where the picture is not known to be mirrored."""
        return _DETAIL if self._is_mirrored else None

    def see(self, seen: Sightings) -> Sightings:
        """Take in what was read; return it without the faces that may be another card's."""
        if seen.mirrored is None or not len(seen):
            return seen
        best = seen.card_p.argmax(1)
        read = seen.face_up & (seen.card_p.max(1) >= _READ_P)
        for at in np.flatnonzero(read & (seen.mirrored != 0)):
            face = DECK[int(best[at])]
            self._said.pop(face, None)
            self._said[face] = float(seen.mirrored[at])
        for face in [*self._said][:-_FACES]:
            del self._said[face]
        total = sum(self._said.values())
        if len(self._said) >= _LEAST_FACES:
            self._is_mirrored = total > 0 if self._is_mirrored else total >= _MIRRORED
        hidden = seen.face_up & (self._is_mirrored | ((seen.mirrored > 0) & (total > 0)))
        return seen.only(~hidden) if hidden.any() else seen
