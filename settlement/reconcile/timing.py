"""How long the reconciler waits for what, in nanoseconds of the table's own time."""

from typing import Final

MS: Final = 1_000_000
SECOND: Final = 1_000 * MS

BETWEEN_CARDS_NS: Final = 300 * MS
"""No hand deals two cards faster than this."""

PATIENCE_NS: Final = 2_500 * MS
"""A draw waits this long before a card without a readable face is taken to be it."""

ORPHAN_NS: Final = 3 * SECOND
"""A card on the felt that no draw explains by then came there some other way."""

CARRY_NS: Final = 550 * MS
"""From the shoe's mouth to its place a card is carried about this long."""

SHORTEST_CARRY_NS: Final = 100 * MS
PLATE_DWELL_NS: Final = 300 * MS
"""A plate reports an amount that has rested this long."""

TAKING_NS: Final = 4 * SECOND
"""Between a hand's payment and its cards being taken up there is no more than this."""

SWEPT_NS: Final = 300 * MS
"""A hand taken up this near to the dealer's own cards was swept up with them, unsettled."""

ENTRY_NS: Final = 8 * SECOND
"""A person's entry at the console may be this far from what it tells of."""
