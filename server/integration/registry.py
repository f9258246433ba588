"""The kinds of destinations: our own, one line each, and those of packages.

A package names a :class:`Registration` under the entry point ``pitwatch.destinations``. The
destinations for video management come with Pitwatch in the same way.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any, Final

import msgspec

from models.errors import InstallerError
from models.faults import first_fault
from server.integration.config import Destination, Settings, Site
from server.integration.delivery import Deliverer
from stream.plugins import package_of, registered_under

ENTRY_POINTS: Final = "pitwatch.destinations"
"""The entry point group in which packages register their kinds of destinations."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A kind's settings and its deliverer."""

    settings: type[Settings]
    make: Callable[[Any, Site], Deliverer]


OWN: Final[Mapping[str, str]] = {
    "webhook": ".webhook:WEBHOOK",
    "mqtt": ".mqtt:MQTT",
}
"""Our own kinds, each with its module here; loaded on use."""


def kinds() -> tuple[str, ...]:
    """Return every valid kind of destination."""
    return (*OWN, *sorted({entry.name for entry in registered_under(ENTRY_POINTS)} - OWN.keys()))


def registered(kind: str) -> Registration:
    """Return a kind of destination.

    Raises:
        InstallerError: there is none, there is more than one, or it cannot be loaded.
    """
    entries = [entry for entry in registered_under(ENTRY_POINTS) if entry.name == kind]
    if len(entries) + (kind in OWN) > 1:
        raise InstallerError(
            f"the kind {kind!r} is there more than once: {', '.join(map(package_of, entries))}",
            where="kind",
            way_out="Give the site's kind a name of its own, or uninstall its package",
        )
    if kind in OWN:
        module, _, name = OWN[kind].partition(":")
        found: Registration = getattr(import_module(module, __package__), name)
        return found
    if entries:
        return _loaded(entries[0])
    raise InstallerError(
        f"no kind of destination is called {kind!r}",
        where="kind",
        way_out=f"Choose one of {', '.join(kinds())}, or install the package that has it",
    )


def settings_of(destination: Destination) -> Settings:
    """Return a destination's checked settings.

    Raises:
        InstallerError: there is no such kind, or a setting is not one of its own.
    """
    kind = registered(destination.kind).settings
    try:
        return msgspec.convert(destination.settings, kind)
    except msgspec.ValidationError as refused:
        fault = first_fault(kind, destination.settings)
        raise InstallerError(
            f"a setting is wrong: {fault or refused}",
            where=f"destination {destination.name}",
            way_out=f"The settings of {destination.kind} are {', '.join(kind.__struct_fields__)}",
        ) from refused


def make_deliverer(destination: Destination, site: Site) -> Deliverer:
    """Build a destination's deliverer; it reads secrets but opens no connection yet.

    Raises:
        InstallerError: a setting is wrong, a secret is missing, or a package is not installed.
    """
    return registered(destination.kind).make(settings_of(destination), site)


def _loaded(entry: EntryPoint) -> Registration:
    try:
        found = entry.load()
    except Exception as fault:  # a site's code may fail in any way
        raise _refused(entry, f"cannot be loaded: {type(fault).__name__}: {fault}") from fault
    if not isinstance(found, Registration):
        raise _refused(entry, f"is no Registration but {type(found).__name__}")
    return found


def _refused(entry: EntryPoint, why: str) -> InstallerError:
    return InstallerError(
        f"the kind {entry.name!r} ({entry.value}) {why}",
        where=f"package {package_of(entry)}",
        way_out="Correct or uninstall that package; docs/integration.md describes what it needs",
    )
