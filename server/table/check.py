"""Check a table's configuration beyond its fields: everything that it names must exist."""

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from devices.registry import driver_config, make_driver
from models.errors import InputRefused, InstallerError, PitwatchError
from server.house.rulebooks import cited
from server.table.config import (
    Camera,
    Placed,
    Port,
    TableConfig,
    field_faults,
    layout_of,
    read_config,
)
from server.table.host_clock import check_synchronised
from server.table.journal import access_of
from server.table.sending import target_at
from stream.clock import kernel_sync
from stream.signing import Signer


def config_faults(file: Path, *, at_rest: bool = False) -> tuple[PitwatchError, ...]:
    """Return every fault that keeps a table from running as configured.

    Args:
        file: the configuration.
        at_rest: whether to skip plugged-in devices and this machine's files.

    Raises:
        PitwatchError: the file is missing, or not TOML.
    """
    if found := field_faults(file):
        return found
    placed = read_config(file)
    checks = _of_the_file(placed) if at_rest else [*_of_the_file(placed), *_of_machine(placed)]
    return tuple(fault for check in checks if (fault := _fault(check, file)) is not None)


Check = Callable[[], object]


def _of_the_file(placed: Placed) -> list[Check]:
    config = placed.config
    return [
        lambda: _names_once(placed),
        lambda: _limits(placed),
        lambda: _has_sensors(placed),
        lambda: cited(config.rulebook, placed.file.parent, placed.file),
        lambda: layout_of(placed),
        lambda: _targets(placed),
        *(_port_check(placed, port) for port in config.ports),
        *(_view_check(placed, camera) for camera in config.cameras),
    ]


def _of_machine(placed: Placed) -> list[Check]:
    config = placed.config
    checks: list[Check] = [lambda: _folder(placed, "journal", placed.beside(config.journal).parent)]
    checks.append(lambda: check_synchronised(placed, kernel_sync()))
    if config.signing_key is not None:
        key = placed.beside(config.signing_key)
        checks.append(lambda: Signer.read(key))
    for n, target in enumerate(() if config.checkpoints is None else config.checkpoints.to):
        checks.append(_target_check(placed, f"checkpoints.to[{n}]", target))
    if config.console not in (None, "-"):
        checks.append(lambda: _there(placed, "console", str(placed.beside(str(config.console)))))
    if config.recorder is not None:
        # The table creates it where missing; only the folder for it must exist.
        folder = placed.beside(config.recorder.folder)
        near = folder if folder.exists() else folder.parent
        checks.append(lambda: _folder(placed, "recorder.folder", near))
    for n, port in enumerate(config.ports):
        checks.append(_device_check(placed, f"ports[{n}].url", port.url))
    for n, camera in enumerate(config.cameras):
        if camera.stream.kind in ("usb", "file"):
            checks.append(_device_check(placed, f"cameras[{n}].stream.url", camera.stream.url))
    return checks


def _fault(check: Check, file: Path) -> PitwatchError | None:
    try:
        check()
    except PitwatchError as fault:
        return fault if str(file) in fault.where else _placed(fault, file)
    return None


def _placed(fault: PitwatchError, file: Path) -> InstallerError:
    return InstallerError(fault.what, where=f"{file}, {fault.where}", way_out=fault.way_out)


def _port_check(placed: Placed, port: Port) -> Check:
    def check() -> None:
        settings = placed.settings(port)
        try:
            driver_config(port.driver, settings)
            make_driver(port.driver, settings)
        except InstallerError as fault:
            where = f"{placed.file}, port {port.name}"
            raise InstallerError(fault.what, where=where, way_out=fault.way_out) from fault

    return check


def _view_check(placed: Placed, camera: Camera) -> Check:
    def check() -> None:
        from vision.felt import locate

        locate(placed.view(camera), where=f"{placed.file}, camera {camera.name}")

    return check


def _target_check(placed: Placed, field: str, target: str) -> Check:
    def check() -> None:
        if not target.startswith(("syslog", "http")):
            _folder(placed, field, placed.beside(target).parent)

    return check


def _device_check(placed: Placed, field: str, url: str) -> Check:
    return lambda: None if "://" in url else _there(placed, field, url)


def _names_once(placed: Placed) -> None:
    config = placed.config
    names = Counter([port.name for port in config.ports] + [one.name for one in config.cameras])
    for name, number in names.items():
        if number > 1:
            raise _refused(placed, "name", "a unique name for each device", f"{name!r} twice")


def _limits(placed: Placed) -> None:
    config = placed.config
    if config.table_max is not None and config.table_max < config.table_min:
        least = f"at least table_min, {config.table_min}"
        raise _refused(placed, "table_max", least, str(config.table_max))


def _targets(placed: Placed) -> None:
    for n, target in enumerate(
        () if placed.config.checkpoints is None else placed.config.checkpoints.to
    ):
        try:
            target_at(target, placed.file.parent, access_of(placed))
        except ValueError as fault:
            raise _refused(placed, f"checkpoints.to[{n}]", str(fault), repr(target)) from fault


def _has_sensors(placed: Placed) -> None:
    config: TableConfig = placed.config
    if not config.cameras:
        raise _refused(placed, "cameras", "at least one camera", "none")
    if config.dealing == "shoe" and not config.ports:
        raise _refused(placed, "ports", "the shoe that the cards are dealt from", "no port")


def _there(placed: Placed, field: str, name: str) -> None:
    if not Path(name).exists():
        raise _refused(placed, field, "a device or file that exists", repr(name))
    if not os.access(name, os.R_OK):
        raise _refused(placed, field, "a device or file that this user can read", repr(name))


def _folder(placed: Placed, field: str, folder: Path) -> None:
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise _refused(placed, field, "a folder that this user can write", repr(str(folder)))


def _refused(placed: Placed, field: str, expected: str, found: str) -> InputRefused:
    return InputRefused(source=str(placed.file), field=field, expected=expected, found=found)


def checked(file: Path) -> Placed:
    """Read a complete configuration; raises its first fault."""
    if found := config_faults(file, at_rest=True):
        raise found[0]
    return read_config(file)
