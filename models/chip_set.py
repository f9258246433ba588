"""A house's chips: their values, sizes and looks, as a chip set's file describes them."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from models.money import Cents

CHIP_DIAMETER_MM: Final = 39.0  # of a usual casino chip
CHIP_THICK_MM: Final = 3.3

Colour = Annotated[str, Meta(pattern="^#[0-9a-f]{6}$")]
"""Red, green and blue as ``#rrggbb``."""


class EdgeSpots(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A group of spots of one colour around a chip's edge, evenly spread."""

    colour: Colour
    count: Annotated[int, Meta(ge=1, le=24)]
    width_deg: Annotated[float, Meta(gt=0, le=180)]
    """Of one spot."""
    from_deg: float = 0.0
    """Direction of the first spot's middle."""


class Chip(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One value's chip."""

    value: Annotated[Cents, Meta(ge=1)]
    name: Annotated[str, Meta(min_length=1, max_length=40)]
    """The body's colour as people call it."""
    body: Colour
    inlay: Colour
    """The paper in the middle of the face."""
    spots: tuple[EdgeSpots, ...] = ()


class ChipSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The chips of one house."""

    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
    diameter_mm: Annotated[float, Meta(ge=20, le=60)] = CHIP_DIAMETER_MM
    thick_mm: Annotated[float, Meta(ge=1.5, le=6)] = CHIP_THICK_MM
    chips: Annotated[tuple[Chip, ...], Meta(min_length=1, max_length=16)]

    def chip(self, value: Cents) -> Chip:
        """Return the chip of a value; raises ``KeyError`` where the set has none."""
        for chip in self.chips:
            if chip.value == value:
                return chip
        raise KeyError(value)
