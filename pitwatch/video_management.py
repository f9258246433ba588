"""The shipped destinations, registered the way an external package registers its own."""

from server.integration.genetec import GENETEC
from server.integration.milestone import MILESTONE

__all__ = ["GENETEC", "MILESTONE"]
