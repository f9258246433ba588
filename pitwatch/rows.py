"""The typed answers of :class:`pitwatch.Client`."""

from server.readmodel.incidents import IncidentRow, IncidentView
from server.readmodel.views import (
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
from server.service.request.answers import Me

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
