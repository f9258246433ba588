"""Observations of several sensors reconciled into the facts of the table."""

from settlement.reconcile.reconciler import Reconciler
from settlement.reconcile.reviews import with_reviews

__all__ = ["Reconciler", "with_reviews"]
