"""The drivers there are. A new device is one file and one line here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from devices.driver import Driver
from devices.plates import PlateConfig, Plates
from devices.shoes.angel_eye import AngelEyeConfig, AngelEyeShoe
from devices.shoes.line import LineConfig, LineShoe
from models.errors import InstallerError


@dataclass(frozen=True, slots=True)
class Registration:
    """A driver's settings and the driver itself."""

    config: type[msgspec.Struct]
    driver: Callable[[Any], Driver[Any]]


DRIVERS: Final[Mapping[str, Registration]] = {
    "angel-eye": Registration(AngelEyeConfig, AngelEyeShoe),
    "line": Registration(LineConfig, LineShoe),
    "plate": Registration(PlateConfig, Plates),
}


def make_driver(name: str, settings: Mapping[str, object] | None = None) -> Driver[Any]:
    """Build the driver ``name`` with ``settings``, defaults for the rest.

    Raises:
        InstallerError: there is no such driver, or a setting is not one of its own.
    """
    registration = DRIVERS.get(name)
    if registration is None:
        raise InstallerError(
            f"no driver is called {name!r}",
            where="driver",
            way_out=f"Choose one of {', '.join(DRIVERS)}",
        )
    try:
        config = msgspec.convert(settings or {}, registration.config)
    except msgspec.ValidationError as fault:
        raise InstallerError(
            f"a setting is wrong: {fault}",
            where=f"driver {name}",
            way_out=f"Its settings are {', '.join(registration.config.__struct_fields__)}",
        ) from fault
    return registration.driver(config)
