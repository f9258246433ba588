"""``table.toml``: everything that one live table is told, field by field.

Files are named from the folder that the configuration lies in.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from devices.cameras.live import CameraConfig
from models.decode import from_toml, from_tree, toml_tree
from models.errors import InputRefused, InstallerError
from models.layout import TableLayout
from models.money import Cents
from models.session import CameraPose, Name, ReferencePoint
from stream.recording import table_layout

MOST_FAULTS: Final = 50


class Camera(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One camera over the felt."""

    name: Name
    """What its observations are called after: ``camera:NAME``."""
    stream: CameraConfig
    """Where its pictures come from."""
    pose: str | None = None
    """The file that ``pitwatch calibrate --out`` wrote for it."""
    reference_points: tuple[ReferencePoint, ...] = ()
    """In place of a pose: at least four points of the picture whose place on the felt is known."""
    fps: Annotated[float, Meta(gt=0, le=240)] = 30.0
    """Pictures a second that it is set to, as its recordings will say."""
    deck: str | None = None
    """The deck's id where it is known."""


class Port(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One byte device: a shoe, the bet plates, an RFID reader."""

    name: Name
    """What it is called in the journal and in recordings, ``shoe`` or ``plates``."""
    url: str
    """Where it is: ``/dev/serial/by-id/…``, ``socket://host:4001``, ``rfc2217://…``."""
    driver: str
    """What speaks to it; ``docs/drivers.md`` lists them."""
    settings: dict[str, bool | int | str] = {}
    """The driver's own settings, where they are not its defaults."""


class Recorder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is kept of the table beside its journal: session folders that ``replay`` takes."""

    folder: str
    """Where the session folders go; it is made where it is not there."""
    session_hours: Annotated[float, Meta(gt=0, le=168)] = 8.0
    """After so many hours a new session folder is begun, between two shoes."""
    segment_minutes: Annotated[float, Meta(gt=0, le=1440)] = 10.0
    """How many minutes of video go into one file."""
    keep_days: Annotated[int, Meta(ge=1, le=3650)] = 14
    """How many days a session is kept, if there is room."""
    most_gb: Annotated[float, Meta(gt=0, le=1_000_000)] = 500.0
    """How many gigabytes (10^9 bytes) all sessions together may take; the oldest go first."""
    least_free_gb: Annotated[float, Meta(ge=0, le=1_000_000)] = 10.0
    """Below so many free gigabytes on the disk the alarm is raised."""
    crf: Annotated[int, Meta(ge=0, le=51)] = 23
    """How hard video is compressed: 0 not at all, 23 usual, 51 worst."""


class SentCheckpoints(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the journal's checkpoints go as they are made, so that its end cannot be cut off."""

    to: Annotated[tuple[str, ...], Meta(min_length=1, max_length=8)]
    """Files that are appended to, best on another machine's disk, mounted here; syslog servers:
    ``syslog://HOST:514``, ``syslog+tcp://HOST:601``, ``syslog:/dev/log``; and a service:
    ``https://HOST:8443``."""
    token_file: str | None = None
    """The file with the token for the service."""
    ca_file: str | None = None
    """The authority that signed the service's certificate, in PEM; else those of this machine."""
    entries: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000
    """At the latest after so many entries …"""
    seconds: Annotated[float, Meta(ge=1, le=86_400)] = 60.0
    """… or with the first entry after so long."""


class TableConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One live table."""

    table: Name
    """The table's id, as it stands in every event."""
    rulebook: str
    """A shipped rulebook's id, or a TOML file."""
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}$")]
    """The currency's three letters; amounts are in its minor unit."""
    table_min: Annotated[Cents, Meta(ge=0)]
    """The least wager, in cents."""
    table_max: Annotated[Cents, Meta(ge=1)] | None = None
    """The highest wager, in cents; left out where there is none."""
    chips: Annotated[tuple[Annotated[Cents, Meta(ge=1)], ...], Meta(min_length=1)]
    """The chips' values, in cents."""
    layout: str
    """A shipped felt's id, or a TOML file."""
    dealing: Literal["shoe", "pitch"]
    """Whether cards come from a shoe that reads them, or from the dealer's hand."""
    journal: str
    """The table's journal; made at the first start, gone on with at every other."""
    signing_key: str | None = None
    """The private key of ``pitwatch journal keys``; without one the journal is not signed."""
    checkpoints: SentCheckpoints | None = None
    """Where checkpoints of the journal are sent; left out, they stay in the journal alone."""
    clock: Literal["warn", "require"] = "warn"
    """What to do where the host's clock is not synchronised at the start, or stands before the
    journal's last entry: say so and go on, or refuse to start."""
    console: str | None = None
    """Where people's entries come from, a JSON line each: a pipe, a file, or ``-`` for stdin."""
    decks: tuple[Name, ...] = ()
    """The learnt decks in use, all of them; empty where they are not known."""
    hold_ms: Annotated[int, Meta(ge=0, le=30_000)] = 3_000
    """How long the other sensors' word waits for a camera that is behind with its pictures."""
    cameras: Annotated[tuple[Camera, ...], Meta(max_length=8)] = ()
    """The cameras over the felt."""
    ports: Annotated[tuple[Port, ...], Meta(max_length=32)] = ()
    """The byte devices."""
    recorder: Recorder | None = None
    """What is recorded; left out, nothing is."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A configuration and the file that it stands in."""

    file: Path
    config: TableConfig

    def beside(self, name: str) -> Path:
        """Return the path of a file that the configuration names."""
        return self.file.parent / name

    def view(self, camera: Camera) -> CameraPose | tuple[ReferencePoint, ...]:
        """Return how the felt lies in a camera's picture.

        Raises:
            InstallerError: neither a pose nor four points are given, or the pose is not there.
            InputRefused: the pose is not what its format says.
        """
        if camera.pose is not None:
            file = self.beside(camera.pose)
            return from_toml(read_text(file, "Run pitwatch calibrate"), CameraPose, str(file))
        if len(camera.reference_points) < 4:
            raise InstallerError(
                "expected a pose or at least 4 reference_points, "
                f"found {len(camera.reference_points)}",
                where=f"{self.file}, camera {camera.name}",
                way_out="Run pitwatch calibrate --out POSE.toml and name that file as its pose",
            )
        return camera.reference_points

    def settings(self, port: Port) -> dict[str, bool | int | str]:
        """Return a port's settings, with the tag register where it lies."""
        settings = dict(port.settings)
        if "register" in settings:
            settings["register"] = str(self.beside(str(settings["register"])))
        return settings


def read_config(file: Path) -> Placed:
    """Read a table's configuration.

    Raises:
        InputRefused: a field is not what it must be.
        InstallerError: the file is missing.
    """
    text = read_text(file, "Name the table's configuration; `pitwatch examples` writes one")
    return Placed(file, from_toml(text, TableConfig, str(file)))


def field_faults(file: Path, kind: type[Any] = TableConfig) -> tuple[InputRefused, ...]:
    """Return every field of a configuration that is not what it must be, as far as can be told.

    A field at fault is taken for left out when the next is looked for.

    Raises:
        InputRefused: the file is not TOML at all.
        InstallerError: it is missing.
    """
    text = read_text(file, "Name the table's configuration; `pitwatch examples` writes one")
    return tuple(_field_faults(text, str(file), kind))


def _field_faults(text: str, source: str, kind: type[Any]) -> Iterator[InputRefused]:
    tree = toml_tree(text, source)
    for _ in range(MOST_FAULTS):
        try:
            from_tree(tree, kind, source, text)
        except InputRefused as refused:
            yield refused
            if not _left_out(tree, refused.field):
                return
        else:
            return


def _left_out(tree: Any, field: str) -> bool:
    """Take ``field`` (``cameras[0].stream.url``) out of the tree; tell whether it was there."""
    *way, last = field.replace("[", ".").replace("]", "").split(".")
    for step in way:
        tree = tree[int(step)] if isinstance(tree, list) else tree.get(step)
        if tree is None:
            return False
    if isinstance(tree, list):
        return False
    return tree.pop(last, None) is not None


def read_text(file: Path, way_out: str) -> str:
    """Return a file's text; raises ``InstallerError`` where it cannot be read."""
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        why = getattr(fault, "strerror", None) or "it is not UTF-8 text"
        raise InstallerError(
            f"the file cannot be read ({why})", where=str(file), way_out=way_out
        ) from fault


def layout_of(placed: Placed) -> TableLayout:
    """Return the felt; raises as :func:`stream.recording.table_layout` does."""
    file = placed.beside(placed.config.layout)
    return table_layout(str(file) if file.suffix == ".toml" else placed.config.layout)
