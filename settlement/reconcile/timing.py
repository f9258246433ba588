"""How long the reconciler waits for what, in nanoseconds of the table's own time."""

from typing import Final

MS: Final = 1_000_000
SECOND: Final = 1_000 * MS

HOLD_NS: Final = 2_500 * MS
"""A happening waits this long for an earlier one that was seen later: an arm was in the way."""

DUE_HOLD_NS: Final = SECOND
"""So long waits a card of the deal that was due next, and of which both sensors say the same. No
card can have come before it, however late it is seen; chips, and cards that never left the shoe,
are seen within this time."""

PATIENCE_NS: Final = 2_500 * MS
"""A draw waits this long before a card without a readable face is taken to be it."""

SECOND_LOOK_NS: Final = 2 * PATIENCE_NS
"""A face that only the camera tells, and told once, is looked at again within this time."""

DISPUTE_NS: Final = 6 * SECOND
"""Further looks may end a dispute of shoe and camera within this time; then the round goes on, and
its course is to tell."""

DEADLINE_NS: Final = 10 * SECOND
"""A card that left the shoe and was not seen on the felt by then is a matter for a person."""

HIDDEN_NS: Final = 6 * SECOND
"""A card may have left the shoe this long before it is first seen: an arm lay over it."""

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

SIGNAL_NS: Final = 12 * SECOND
"""Chips laid beside a wager are explained by what happens within this time."""

ENTRY_NS: Final = 8 * SECOND
"""A person's entry at the console may be this far from what it tells of."""
