"""The journals that the service's tests use."""

from tests.server.service.conftest import evening

__all__ = ["evening"]
