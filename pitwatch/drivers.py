"""The interface of a site's own driver of a shoe or another device; see docs/drivers.md."""

from devices.driver import Driver
from devices.framing import FrameFault, exclusive_or
from devices.port import PortConfig
from devices.reading import Reading
from devices.registry import Registration
from models.cards import RANKS, SUITS, Card
from models.events import ShoeCardRead

__all__ = [
    "RANKS",
    "SUITS",
    "Card",
    "Driver",
    "FrameFault",
    "PortConfig",
    "Reading",
    "Registration",
    "ShoeCardRead",
    "exclusive_or",
]
