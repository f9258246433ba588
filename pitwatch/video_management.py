"""The destinations that come with Pitwatch as a package of its own would bring them."""

from server.integration.genetec import GENETEC
from server.integration.milestone import MILESTONE

__all__ = ["GENETEC", "MILESTONE"]
