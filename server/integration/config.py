"""``integration.toml``: the destinations, and what each receives.

File names are relative to the configuration's folder.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from models.decode import from_toml
from models.session import Name
from server.table.config import read_text

WAY_OUT: Final = "Name the integrations' configuration; `pitwatch examples` writes one"
Url = Annotated[str, Meta(pattern=r"^https?://[^/?#@\s]+(/[^?#\s]*)?$", max_length=2000)]
"""An address without user, password or query, so that it holds no secret."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of every kind of destination."""

    timeout_ms: Annotated[int, Meta(ge=100, le=60_000)] = 10_000
    """Milliseconds that the receiver may take to answer."""


class HttpSettings(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of every HTTP receiver."""

    url: Url
    """The receiver's address; without user, password or query, so that it holds no secret."""
    ca_file: str | None = None
    """Certificates (PEM) that verify the receiver's; by default, those of this machine."""


class Destination(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One receiver, and what it receives."""

    name: Name
    """Its name in log, metrics and dead letters; a new name is a new destination."""
    kind: str
    """The protocol: ``webhook``, ``mqtt``, ``milestone``, ``genetec``, or a site's own."""
    send: Annotated[tuple[str, ...], Meta(min_length=1)] = ("violation", "review_raised")
    """The messages to send: ``violation``, event types of the stream, or ``*`` for everything."""
    tables: tuple[Name, ...] = ()
    """The tables that it receives messages of; by default all."""
    start: Literal["now", "beginning"] = "now"
    """Whether it receives messages from its first start on, or all of the journals' history."""
    tries: Annotated[int, Meta(ge=1, le=100)] = 12
    """Number of failures of a message after which it becomes a dead letter."""
    first_wait_ms: Annotated[int, Meta(ge=1, le=60_000)] = 1_000
    """Milliseconds to wait after the first failure; the wait doubles after each further one."""
    longest_wait_s: Annotated[float, Meta(gt=0, le=3_600)] = 300.0
    """The longest wait between two attempts, in seconds."""
    settings: dict[str, Any] = {}
    """The kind's own settings; ``docs/integration.md`` lists them."""


class IntegrationConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All destinations of a service."""

    service_url: Url
    """The console's address: the base of links, and the source of events."""
    destinations: Annotated[tuple[Destination, ...], Meta(min_length=1, max_length=50)]
    """The receivers."""


@dataclass(frozen=True, slots=True)
class Site:
    """The site's data for a destination."""

    folder: Path
    """The configuration's folder, the base of file names."""
    service_url: str
    """Without a trailing slash."""


@dataclass(frozen=True, slots=True)
class PlacedIntegration:
    """A configuration and its file."""

    file: Path
    config: IntegrationConfig

    @property
    def site(self) -> Site:
        """The site's data for the destinations."""
        return Site(self.file.parent, self.config.service_url.rstrip("/"))


def read_integration(file: Path) -> PlacedIntegration:
    """Read the integrations' configuration.

    Raises:
        InputRefused: a field is invalid.
        InstallerError: the file is missing.
    """
    text = read_text(file, WAY_OUT)
    return PlacedIntegration(file, from_toml(text, IntegrationConfig, str(file)))
