"""``integration.toml``: to whom what is told, field by field.

Files are named from the folder that the configuration lies in.
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
"""An address without user, password or query: no secret stands in one."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every kind of destination is told."""

    timeout_ms: Annotated[int, Meta(ge=100, le=60_000)] = 10_000
    """How long the receiver may take to answer, in milliseconds."""


class HttpSettings(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every receiver reached over HTTP is told."""

    url: Url
    """Where it listens; without user, password or query, so that no secret stands here."""
    ca_file: str | None = None
    """Certificates (PEM) that its own must go back to; left out, those of this machine."""


class Destination(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One receiver, and what it is told."""

    name: Name
    """What it is called in log, metrics and dead letters; a new name is a new destination."""
    kind: str
    """What speaks to it: ``webhook``, ``mqtt``, ``milestone``, ``genetec``, or a site's own."""
    send: Annotated[tuple[str, ...], Meta(min_length=1)] = ("violation", "review_raised")
    """What it is told: ``violation``, event types of the stream, or ``*`` for everything."""
    tables: tuple[Name, ...] = ()
    """The tables that it is told of; left out, all."""
    start: Literal["now", "beginning"] = "now"
    """Whether it is told from its first start on, or everything that the journals hold."""
    tries: Annotated[int, Meta(ge=1, le=100)] = 12
    """After so many failures of its own a message is laid aside as a dead letter."""
    first_wait_ms: Annotated[int, Meta(ge=1, le=60_000)] = 1_000
    """How long to wait after the first failure, in milliseconds; twice as long after each more."""
    longest_wait_s: Annotated[float, Meta(gt=0, le=3_600)] = 300.0
    """The longest wait between two tries, in seconds."""
    settings: dict[str, Any] = {}
    """The kind's own settings; ``docs/integration.md`` lists them."""


class IntegrationConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All destinations of a service."""

    service_url: Url
    """Where people reach the console: links point there, and it names the events' source."""
    destinations: Annotated[tuple[Destination, ...], Meta(min_length=1, max_length=50)]
    """The receivers."""


@dataclass(frozen=True, slots=True)
class Site:
    """What a destination is told of the place that it is used in."""

    folder: Path
    """The configuration's: files are named from there."""
    service_url: str
    """Without a slash at its end."""


@dataclass(frozen=True, slots=True)
class PlacedIntegration:
    """A configuration and the file that it stands in."""

    file: Path
    config: IntegrationConfig

    @property
    def site(self) -> Site:
        """The place that the destinations are used in."""
        return Site(self.file.parent, self.config.service_url.rstrip("/"))


def read_integration(file: Path) -> PlacedIntegration:
    """Read the integrations' configuration.

    Raises:
        InputRefused: a field is not what it must be.
        InstallerError: the file is missing.
    """
    text = read_text(file, WAY_OUT)
    return PlacedIntegration(file, from_toml(text, IntegrationConfig, str(file)))
