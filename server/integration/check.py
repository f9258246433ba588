"""Check the configuration of integrations: fields, kinds, settings, secrets."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from models.decode import toml_tree
from models.errors import InputRefused, InstallerError, PitwatchError
from server.integration.config import (
    WAY_OUT,
    Destination,
    IntegrationConfig,
    PlacedIntegration,
    read_integration,
)
from server.integration.message import KINDS
from server.integration.registry import make_deliverer, settings_of
from server.table.config import field_faults, read_text


def is_integration(file: Path) -> bool:
    """Return whether a configuration is one of integrations: it names destinations.

    Raises:
        InputRefused: it is not TOML.
        InstallerError: it is missing.
    """
    return "destinations" in toml_tree(read_text(file, WAY_OUT), str(file))


def integration_faults(file: Path, *, at_rest: bool = False) -> tuple[PitwatchError, ...]:
    """Return every fault of a configuration.

    Args:
        file: the configuration.
        at_rest: whether to skip this machine's secrets and certificates.

    Raises:
        PitwatchError: the file is missing, or not TOML.
    """
    if found := field_faults(file, IntegrationConfig):
        return found
    return tuple(_faults(read_integration(file), at_rest=at_rest))


def checked_integration(file: Path) -> PlacedIntegration:
    """Read a complete configuration; raises its first fault."""
    if found := integration_faults(file):
        raise found[0]
    return read_integration(file)


def _faults(configured: PlacedIntegration, *, at_rest: bool) -> Iterator[PitwatchError]:
    source, destinations = str(configured.file), configured.config.destinations
    for name, number in Counter(one.name for one in destinations).items():
        if number > 1:
            yield _refused(source, "name", "a unique name for each destination", f"{name!r} twice")
    for number, one in enumerate(destinations):
        yield from _unknown_kinds(source, number, one)
        try:
            if at_rest:
                settings_of(one)
            else:
                make_deliverer(one, configured.site).close()
        except InstallerError as fault:
            where = f"{source}, destination {one.name}, {fault.where}"
            yield InstallerError(fault.what, where=where, way_out=fault.way_out)


def _unknown_kinds(source: str, number: int, one: Destination) -> Iterator[PitwatchError]:
    for kind in one.send:
        if kind not in KINDS:
            expected = f"one of {', '.join(sorted(KINDS))}"
            yield _refused(source, f"destinations[{number}].send", expected, repr(kind))


def _refused(source: str, field: str, expected: str, found: str) -> InputRefused:
    return InputRefused(source=source, field=field, expected=expected, found=found)
