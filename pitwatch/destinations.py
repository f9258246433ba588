"""The interface of a site's own message destination; see docs/integration.md."""

from server.integration.config import Settings, Site
from server.integration.delivery import Deliverer, Fate, NotDelivered
from server.integration.message import Message
from server.integration.registry import Registration

__all__ = ["Deliverer", "Fate", "Message", "NotDelivered", "Registration", "Settings", "Site"]
