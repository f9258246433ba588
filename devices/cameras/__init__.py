"""Cameras: a table's pictures, each with the time it was taken."""

from collections.abc import Iterator
from typing import Protocol

from devices.cameras.frame import Frame

__all__ = ["Camera", "Frame"]


class Camera(Protocol):
    """A source of pictures in the order they were taken."""

    def frames(self) -> Iterator[Frame]:
        """Yield every picture; raises ``TechnicianError`` where one is lost or damaged."""
        ...
