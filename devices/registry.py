"""The available drivers: our own, one line each, and those that a site has installed.

A site's driver is a Python package with a :class:`Registration` under the entry point
``pitwatch.drivers``; ``docs/drivers.md`` shows a complete one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, Final

import msgspec

from devices.driver import Driver
from devices.plates import PlateConfig, Plates
from devices.port import PortConfig
from devices.shoes.angel_eye import AngelEyeConfig, AngelEyeShoe
from devices.shoes.line import LineConfig, LineShoe
from devices.tags.id12 import Id12, Id12Config
from devices.tags.idteck import Idteck, IdteckConfig
from devices.tags.rdm6300 import Rdm6300, Rdm6300Config
from models.errors import InstallerError
from models.faults import first_fault
from stream.plugins import package_of, registered_under

ENTRY_POINTS: Final = "pitwatch.drivers"
"""The entry point group in which a site's package registers its drivers."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A driver's settings and the driver itself."""

    config: type[PortConfig]
    driver: Callable[[Any], Driver[Any]]


DRIVERS: Final[Mapping[str, Registration]] = {
    "angel-eye": Registration(AngelEyeConfig, AngelEyeShoe),
    "line": Registration(LineConfig, LineShoe),
    "plate": Registration(PlateConfig, Plates),
    "id12": Registration(Id12Config, Id12),
    "rdm6300": Registration(Rdm6300Config, Rdm6300),
    "idteck": Registration(IdteckConfig, Idteck),
}
"""Our own drivers."""


def driver_names() -> tuple[str, ...]:
    """Return every valid driver name of a port, our own before a site's."""
    return (
        *DRIVERS,
        *sorted({entry.name for entry in registered_under(ENTRY_POINTS)} - DRIVERS.keys()),
    )


def registered(name: str) -> Registration:
    """Return the driver ``name``, our own or a site's.

    Raises:
        InstallerError: there is none, there is more than one, or a site's cannot be loaded.
    """
    entries = [entry for entry in registered_under(ENTRY_POINTS) if entry.name == name]
    own = DRIVERS.get(name)
    if len(entries) + (own is not None) > 1:
        packages = ", ".join(map(package_of, entries))
        raise InstallerError(
            f"the driver {name!r} is there more than once: in {packages}"
            + (" and in Pitwatch itself" if own else ""),
            where="driver",
            way_out="Give the site's driver a name of its own, or uninstall its package",
        )
    if own is not None:
        return own
    if entries:
        return _loaded(entries[0])
    raise InstallerError(
        f"no driver is called {name!r}",
        where="driver",
        way_out=f"Choose one of {', '.join(driver_names())}, or install the package that has it",
    )


def driver_config(name: str, settings: Mapping[str, object] | None = None) -> PortConfig:
    """Return the checked settings of the driver ``name``, with defaults for missing fields.

    Raises:
        InstallerError: there is no such driver, or a setting is not one of its own.
    """
    kind = registered(name).config
    try:
        return msgspec.convert(settings or {}, kind)
    except msgspec.ValidationError as refused:
        fault = first_fault(kind, settings or {})
        raise InstallerError(
            f"a setting is wrong: {fault or refused}",
            where=f"driver {name}",
            way_out=f"Its settings are {', '.join(kind.__struct_fields__)}",
        ) from refused


def make_driver(name: str, settings: Mapping[str, object] | None = None) -> Driver[Any]:
    """Build the driver ``name`` with ``settings``; raises as :func:`driver_config`."""
    config = driver_config(name, settings)
    return registered(name).driver(config)


def _loaded(entry: EntryPoint) -> Registration:
    try:
        found = entry.load()
    except Exception as fault:  # a site's code may fail in any way; the error must name it
        raise _refused(entry, f"cannot be loaded: {type(fault).__name__}: {fault}") from fault
    if not isinstance(found, Registration):
        raise _refused(entry, f"is no Registration but {type(found).__name__}")
    if not (isinstance(found.config, type) and issubclass(found.config, PortConfig)):
        raise _refused(entry, "has settings that are no PortConfig")
    return found


def _refused(entry: EntryPoint, why: str) -> InstallerError:
    return InstallerError(
        f"the driver {entry.name!r} ({entry.value}) {why}",
        where=f"package {package_of(entry)}",
        way_out="Correct or uninstall that package; docs/drivers.md describes what a driver needs",
    )
