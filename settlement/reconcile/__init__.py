"""Observations of several sensors reconciled into the facts of the table."""

from settlement.reconcile.decisions import (
    NOTHING_DECIDED,
    Decided,
    check_decision,
    decided,
    facts_of_round,
    voided,
)
from settlement.reconcile.reconciler import Reconciler
from settlement.reconcile.reviews import with_reviews

__all__ = [
    "NOTHING_DECIDED",
    "Decided",
    "Reconciler",
    "check_decision",
    "decided",
    "facts_of_round",
    "voided",
    "with_reviews",
]
