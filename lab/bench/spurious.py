"""What a report of nothing came from, by what lay and moved where the camera saw a card."""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias, get_args

import numpy as np

from models.cards import Card
from models.events import CardSighted
from tests.vision.scoring import Rest, touches
from vision.felt import Felt, Pose
from vision.scenes.film import Hands

Cause: TypeAlias = Literal[
    "a card told twice beside an arm",
    "a card told twice",
    "a strip of a card beside an arm",
    "print of a card",
    "an arm",
    "the felt",
]
CAUSES: Final[tuple[Cause, ...]] = get_args(Cause)
TWICE_MM: Final = 60.0
"""A report of a face is that face told twice where it lies this near."""
REACHES_MM: Final = 90.0
"""A report is of a part of a card where its middle lies this near."""
ABOUT_NS: Final = 1_000_000_000  # a card counts so long before and after it lies there


def cause(event: CardSighted, every: Sequence[Rest], felt: Felt, hands: Hands) -> Cause:
    """Return what a report of nothing came from.

    Args:
        event: the report, of no card that came to lie there.
        every: the cards that lay, and when.
        felt: where the felt lies in the picture.
        hands: where hands and arms are.
    """
    at_ns = event.at or 0
    near = [rest for rest in every if _lies(rest, at_ns) and _apart_mm(rest, event) <= REACHES_MM]
    place = Pose(event.x_mm, event.y_mm, event.angle_deg)
    arm = touches(felt, place, hands.over(at_ns))
    likely = max(event.candidates, key=event.candidates.__getitem__, default=None)
    named = event.card or (None if likely is None else Card(likely))
    if any(rest.move.card is named and _apart_mm(rest, event) <= TWICE_MM for rest in near):
        return "a card told twice beside an arm" if arm else "a card told twice"
    if near:
        return "a strip of a card beside an arm" if arm else "print of a card"
    return "an arm" if arm else "the felt"


def _lies(rest: Rest, at_ns: int) -> bool:
    return rest.from_ns - ABOUT_NS <= at_ns <= rest.until_ns + ABOUT_NS


def _apart_mm(rest: Rest, event: CardSighted) -> float:
    end = rest.move.end
    assert end is not None
    return float(np.hypot(end.x_mm - event.x_mm, end.y_mm - event.y_mm))
