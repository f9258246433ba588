"""How long a fact is held because it may yet be stated otherwise, in nanoseconds."""

from typing import Final

from settlement.reconcile.timing import PLATE_DWELL_NS, SECOND

UNSEEN_HOLD_NS: Final = 6 * SECOND
"""A card that a story needs and nobody saw may come into view within this time."""

READ_HOLD_NS: Final = 5 * SECOND
"""A face that was not read is looked at again within this time."""

SHOWN_HOLD_NS: Final = 2 * SECOND
"""Cards of a hand that come up together are seen within this time."""

CHIPS_HOLD_NS: Final = PLATE_DWELL_NS + SECOND // 5
"""Chips that changed before something that a camera saw are reported within this time after it."""

PAID_HOLD_NS: Final = 3 * SECOND // 2
"""A hand that was taken up and is not paid within this time was left alone."""

ENTRY_HOLD_NS: Final = 3 * SECOND // 2
"""Chips that lay there before a person's entry are reported within this time after it."""

UNTIL_CLOSED: Final = 2**62
"""A fact that the course of the whole round may yet change is held until its end."""

LATE_ENTRY_NS: Final = 4 * SECOND
"""A split that the cards show is entered within this time after it."""

CLOSE_HOLD_NS: Final = 2 * SECOND
"""After the dealer's cards went, what is still to be seen of the round is seen in this time."""

SETTLED_HOLD_NS: Final = SECOND // 5
"""The same where every hand was paid and no card lies there: reports of one moment come within
0.2 s (`lab/notes/2026-11-24-one-form-of-sighting.md`)."""
