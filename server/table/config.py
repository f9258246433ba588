"""``table.toml``: the configuration of one live table, field by field.

File names are relative to the configuration's folder.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from devices.cameras.config import CameraConfig
from models.decode import from_toml, toml_refusals, toml_tree
from models.errors import InputRefused, InstallerError
from models.layout import TableLayout
from models.money import Cents
from models.rulebook import Rulebook
from models.session import CameraPose, Lettering, Name, ReferencePoint
from server.house.rulebooks import at_table, cited
from stream.recording import table_layout


class Camera(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One camera over the felt."""

    name: Name
    """The name in its observations: ``camera:NAME``."""
    stream: CameraConfig
    """The source of its pictures."""
    pose: str | None = None
    """The file from ``pitwatch calibrate --out``."""
    reference_points: tuple[ReferencePoint, ...] = ()
    """Instead of a pose: at least four points of the picture with known places on the felt."""
    fps: Annotated[float, Meta(gt=0, le=240)] = 30.0
    """The camera's frame rate in pictures a second; its recordings state it."""
    deck: str | None = None
    """The deck's id where it is known."""


class Port(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One byte device: a shoe, the bet plates, an RFID reader."""

    name: Name
    """The name in the journal and in recordings, ``shoe`` or ``plates``."""
    url: str
    """The address: ``/dev/serial/by-id/…``, ``socket://host:4001``, ``rfc2217://…``."""
    driver: str
    """The driver; ``docs/drivers.md`` lists them."""
    settings: dict[str, bool | int | str] = {}
    """The driver's settings that differ from its defaults."""


class Recorder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The recordings of the table beside its journal: session folders for ``replay``."""

    folder: str
    """The folder of the session folders; created where missing."""
    session_hours: Annotated[float, Meta(gt=0, le=168)] = 8.0
    """Hours after which a new session folder begins, between two shoes."""
    segment_minutes: Annotated[float, Meta(gt=0, le=1440)] = 10.0
    """Minutes of video in one file."""
    keep_days: Annotated[int, Meta(ge=1, le=3650)] = 14
    """Days that a session is kept, if there is room."""
    most_gb: Annotated[float, Meta(gt=0, le=1_000_000)] = 500.0
    """Gigabytes (10^9 bytes) for all sessions in the folder; this table's oldest go first."""
    least_free_gb: Annotated[float, Meta(ge=0, le=1_000_000)] = 10.0
    """Free gigabytes on the disk below which the alarm is raised."""
    crf: Annotated[int, Meta(ge=0, le=51)] = 23
    """Compression of video: 0 none, 23 usual, 51 worst."""


class SentCheckpoints(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The destinations of the journal's checkpoints, which expose a cut-off end."""

    to: Annotated[tuple[str, ...], Meta(min_length=1, max_length=8)]
    """Files to append to, best on another machine's disk, mounted here; syslog servers:
    ``syslog://HOST:514``, ``syslog+tcp://HOST:601``, ``syslog:/dev/log``; and a service:
    ``https://HOST:8443``."""
    token_file: str | None = None
    """The file with the token for the service."""
    ca_file: str | None = None
    """The authority that signed the service's certificate, in PEM; by default those of this
    machine."""
    entries: Annotated[int, Meta(ge=1, le=1_000_000)] = 1000
    """Entries after which a checkpoint is due …"""
    seconds: Annotated[float, Meta(ge=1, le=86_400)] = 60.0
    """… or seconds after which the next entry makes one due."""


class TableConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One live table."""

    table: Name
    """The table's id in every event."""
    rulebook: str
    """A shipped rulebook's id, or a TOML file."""
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}$")]
    """The currency's three letters; amounts are in its minor unit."""
    table_min: Annotated[Cents, Meta(ge=0)]
    """The minimum wager, in cents."""
    table_max: Annotated[Cents, Meta(ge=1)] | None = None
    """The maximum wager, in cents; by default none."""
    chips: Annotated[tuple[Annotated[Cents, Meta(ge=1)], ...], Meta(min_length=1)]
    """The chips' values, in cents."""
    layout: str
    """A shipped felt's id, or a TOML file."""
    dealing: Literal["shoe", "pitch"]
    """Whether cards come from a shoe that reads them, or from the dealer's hand."""
    journal: str
    """The table's journal; the first start creates it, later ones continue it."""
    signing_key: str | None = None
    """The private key from ``pitwatch journal keys``; without one the journal is unsigned."""
    checkpoints: SentCheckpoints | None = None
    """Destinations of the journal's checkpoints; by default they stay in the journal."""
    clock: Literal["warn", "require"] = "warn"
    """The reaction where the host's clock is not synchronised at the start, or is behind the
    journal's last entry: warn and continue, or refuse to start."""
    console: str | None = None
    """The source of people's entries, one JSON line each: a pipe, a file, or ``-`` for stdin."""
    decks: tuple[Name, ...] = ()
    """All learnt decks in use; empty where they are unknown."""
    letters: tuple[Lettering, ...] = ()
    """Every language of the decks' letters; empty where it is unknown."""
    hold_ms: Annotated[int, Meta(ge=0, le=30_000)] = 3_000
    """Milliseconds that other sensors' observations wait for a camera that is behind."""
    cameras: Annotated[tuple[Camera, ...], Meta(max_length=8)] = ()
    """The cameras over the felt."""
    ports: Annotated[tuple[Port, ...], Meta(max_length=32)] = ()
    """The byte devices."""
    recorder: Recorder | None = None
    """The recording; by default none."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A configuration and its file."""

    file: Path
    config: TableConfig

    def beside(self, name: str) -> Path:
        """Return the path of a file that the configuration names."""
        return self.file.parent / name

    def view(self, camera: Camera) -> CameraPose | tuple[ReferencePoint, ...]:
        """Return the felt in a camera's picture.

        Raises:
            InstallerError: neither a pose nor four points are given, or the pose is missing.
            InputRefused: the pose does not match its format.
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
        """Return a port's settings, with the path of its tag register."""
        settings = dict(port.settings)
        if "register" in settings:
            settings["register"] = str(self.beside(str(settings["register"])))
        return settings


def read_config(file: Path) -> Placed:
    """Read a table's configuration.

    Raises:
        InputRefused: a field is invalid.
        InstallerError: the file is missing.
    """
    text = read_text(file, "Name the table's configuration; `pitwatch examples` writes one")
    return Placed(file, from_toml(text, TableConfig, str(file)))


def field_faults(file: Path, kind: type[Any] = TableConfig) -> tuple[InputRefused, ...]:
    """Return every invalid field of a configuration.

    Raises:
        InputRefused: the file is not TOML at all.
        InstallerError: it is missing.
    """
    text = read_text(file, "Name the table's configuration; `pitwatch examples` writes one")
    return tuple(toml_refusals(toml_tree(text, str(file)), kind, str(file), text))


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


def rules_of(placed: Placed) -> Rulebook:
    """Return the rules in force: the rulebook's, with the table's own limits."""
    config = placed.config
    rules = cited(config.rulebook, placed.file.parent, placed.file).rules
    return at_table(rules, config.table_min, config.table_max)
