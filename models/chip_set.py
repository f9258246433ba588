"""A house's chips: their sizes."""

from typing import Final

CHIP_DIAMETER_MM: Final = 39.0  # of a usual casino chip
CHIP_THICK_MM: Final = 3.3
