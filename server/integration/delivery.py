"""One message handed to one receiver: what a kind of destination does, and how it fails."""

from enum import Enum
from typing import Protocol

from server.integration.message import Message


class Fate(Enum):
    """What becomes of a message that was not taken."""

    WAIT = "wait"
    """It says nothing about the message: the receiver is away, or not set up. Tried for ever."""
    COUNT = "count"
    """The receiver failed at it; tried as often as the destination's ``tries`` say."""
    REFUSED = "refused"
    """It will never be taken: a dead letter at once."""


class NotDelivered(Exception):
    """A message was not taken. ``why`` is for people and holds no secret."""

    def __init__(self, why: str, fate: Fate, wait_s: float | None = None) -> None:
        super().__init__(why)
        self.why, self.fate = why, fate
        self.wait_s = wait_s
        """How long the receiver asks to be left alone, in seconds."""


class Deliverer(Protocol):
    """Speaks to one receiver. Called from one thread at a time."""

    def deliver(self, message: Message) -> None:
        """Return once the receiver has the message.

        Raises:
            NotDelivered: it was not taken; anything else that is raised counts as ``COUNT``.
        """

    def close(self) -> None:
        """Let go of the receiver."""
