"""The typed answers of :class:`pitwatch.Client`."""

from server.service.answers import Me
from server.service.incidents import IncidentRow, IncidentView
from server.service.views import (
    HandRow,
    LedgerRow,
    Moment,
    Page,
    PaymentRow,
    ReviewRow,
    RoundRow,
    SessionView,
    TableView,
    ViolationRow,
)

__all__ = [
    "HandRow",
    "IncidentRow",
    "IncidentView",
    "LedgerRow",
    "Me",
    "Moment",
    "Page",
    "PaymentRow",
    "ReviewRow",
    "RoundRow",
    "SessionView",
    "TableView",
    "ViolationRow",
]
