"""Deliver one message to one receiver: the interface of a kind, and its failures."""

from enum import Enum
from typing import Protocol

from server.integration.message import Message


class Fate(Enum):
    """What happens to an undelivered message."""

    WAIT = "wait"
    """The failure is not the message's: the receiver is away, or not set up. It is retried without
    end."""
    COUNT = "count"
    """The receiver failed on it; it is retried up to the destination's ``tries``."""
    REFUSED = "refused"
    """The receiver will never accept it: it becomes a dead letter at once."""


class NotDelivered(Exception):
    """A message was not accepted. ``why`` is for people and holds no secret."""

    def __init__(self, why: str, fate: Fate, wait_s: float | None = None) -> None:
        super().__init__(why)
        self.why, self.fate = why, fate
        self.wait_s = wait_s
        """Seconds until the next attempt, as the receiver asks."""


class Deliverer(Protocol):
    """Delivers to one receiver. Called from one thread at a time."""

    def deliver(self, message: Message) -> None:
        """Return once the receiver has the message.

        Raises:
            NotDelivered: it was not accepted; any other exception counts as ``COUNT``.
        """

    def close(self) -> None:
        """Close the connection to the receiver."""
