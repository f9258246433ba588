"""What facts are inferred with, and people's decisions: looks, places, counts, a round weighed."""

from typing import Final

from settlement.native import RECONCILER, found

_folder = found(RECONCILER)

COMPILED: Final = _folder is not None
"""Whether the reconciler runs in its compiled form."""

if _folder is not None:
    __path__.insert(0, _folder)

# The path must be set before the first of the modules is imported.
# ruff: noqa: E402
from settlement.reconcile.answers import Answering, Given, in_answer, in_words
from settlement.reconcile.decisions import (
    NOTHING_DECIDED,
    Decided,
    check_decision,
    decided,
    voided,
)
from settlement.reconcile.learned import NOTHING_LEARNED, Learned
from settlement.reconcile.reviews import Item, with_reviews

__all__ = [
    "COMPILED",
    "NOTHING_DECIDED",
    "NOTHING_LEARNED",
    "Answering",
    "Decided",
    "Given",
    "Item",
    "Learned",
    "check_decision",
    "decided",
    "in_answer",
    "in_words",
    "voided",
    "with_reviews",
]
