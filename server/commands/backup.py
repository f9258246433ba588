"""``pitwatch backup``: a site's journals and service files copied, and old copies verified.

A backup is a folder named by its time in UTC. It has that name only once every file in it is
whole, verified and listed with its checksum. ``pitwatch restore`` puts it back.
"""

import os
import shutil
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Annotated, Final

import typer
from rich.text import Text

from models.errors import OperatorError, PitwatchError, TechnicianError
from server.bundle.bundle import Asked, head_of, is_folder_bundle, seal_folder
from server.bundle.manifest import Manifest
from server.commands.old_backups import ClockReading, remove_old
from server.commands.restore import FOLDERS, disk_faults
from server.commands.verified_backups import Intact, Memory, stats_of
from server.commands.verify import verified as verified_bundle
from server.process.atomic_file import write_whole
from server.process.exit_status import Exit
from server.process.file_modes import owner_only
from server.process.terminal import print_json, screen
from stream.clock import HostClock, kernel_sync, utc
from stream.copies import backup_journal
from stream.files import sync_folder
from stream.signing import Signer
from stream.sole import Lock

app = typer.Typer(no_args_is_help=True)


@app.command("make", epilog="[dim]pitwatch backup make /var/lib/pitwatch /backups[/dim]")
def make_backup(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="The folder that has journals/ and service/.")
    ],
    folder: Annotated[Path, typer.Argument(metavar="BACKUPS", help="The folder of backups.")],
    keep_days: Annotated[
        int,
        typer.Option(
            min=1, envvar="PITWATCH_KEEP_DAYS", help="Remove backups that are older, in days."
        ),
    ] = 35,
    checked_by: Annotated[
        str | None,
        typer.Option(
            "--clock-checked-by",
            metavar="NAME",
            help="Who compared the machine's clock with another one and found it right.",
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="Sign the backup with this private key. Default: the service's, "
            "service/report.key, if there is one.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Copy every journal and the service's files, and verify the copies.

    Tables and service may run meanwhile. The backup is a new folder, named after the time in UTC.
    It appears only when it is complete. The command prints its path.

    Old backups go only while the clock is synchronised, once it has run for a day without a jump;
    the newest seven never go. The folder's journal, backups.journal, records each removal.
    """
    clocks = ClockReading(HostClock().anchor(), kernel_sync(), checked_by)
    make(data, folder, keep_days, clocks, key)


@app.command("verify", epilog="[dim]pitwatch backup verify /var/backups/pitwatch[/dim]")
def verify_backups(
    place: Annotated[Path, typer.Argument(help="A backup, or a folder of backups.")],
    metrics: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write for Prometheus what came of it."),
    ] = None,
    remember: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep what was verified here. A backup in it is read again only if a file of it "
            "changed, and once in seven days.",
        ),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")] = False,
) -> None:
    """Verify backups, as `pitwatch verify --allow-unsigned` does.

    The command prints one line for each damaged backup, with the file. Exit 2 if any is damaged.
    """
    raise typer.Exit(verify(place, metrics, time(), as_json=as_json, remember=remember))


_NAMES: Final = "20*T*Z"
_PARTS: Final = f".{_NAMES}.part"
_LOCK: Final = ".backup-lock"
_PROMETHEUS: Final = "pitwatch_backup.prom"
_METRICS_PARTS: Final = f".{_PROMETHEUS}.*.part"


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of verifying a backup."""

    backup: Path
    files: int
    fault: str | None
    """Its fault, in one line."""


def make(
    data: Path, backups: Path, keep_days: int, clocks: ClockReading, key: Path | None = None
) -> None:
    """Back up a site, print the new folder, and remove backups that are too old.

    Args:
        data: the site's folder.
        backups: the folder of backups.
        keep_days: days that a backup is kept, if the clocks prove its age.
        clocks: name the backup, and tell what the age of others rests on.
        key: the file of the key that signs it; ``None`` for the service's, if there is one.

    Raises:
        OperatorError: ``data`` is not a site's.
        TechnicianError: a journal is damaged, or a disk refuses it; the message says whether a
            backup was made.
    """
    now_s = clocks.anchored.wall_ns // 1_000_000_000
    if not (data / "journals").is_dir():
        raise OperatorError(
            "there is no such folder",
            where=str(data / "journals"),
            way_out="Name the folder that has journals/ and service/",
        )
    made = backups / datetime.fromtimestamp(now_s, UTC).strftime("%Y%m%dT%H%M%SZ")
    with owner_only(), disk_faults("the backup was interrupted", backups):
        backups.mkdir(parents=True, exist_ok=True)
        with _alone(backups):
            if made.exists():
                raise OperatorError(
                    "this backup exists already",
                    where=str(made),
                    way_out="Run it again in a second",
                )
            _remove_parts(backups)
            own = data / "service" / "report.key"
            signing = key or (own if own.exists() else None)
            signer = None if signing is None else Signer.read(signing)
            journals = _made(data, made, clocks.anchored.wall_ns, signer)
            _write_metrics(
                backups / _PROMETHEUS,
                ("pitwatch_backup_time_seconds", "Time of the last complete backup.", now_s),
                ("pitwatch_backup_journals", "Journals in the last complete backup.", journals),
            )
            print(made, flush=True)
            there = [backup for backup in backups.glob(_NAMES) if backup.is_dir()]
            verdict = remove_old(made, there, keep_days, clocks)
            if (kept := verdict.in_words()) is not None:
                print(f"backups kept: {kept}", file=sys.stderr)


def verify(
    place: Path, metrics: Path | None, now_s: float, *, as_json: bool, remember: Path | None = None
) -> Exit:
    """Verify a backup, or every backup in a folder, and print one line for each that is damaged.

    The result is written to the file ``metrics`` for Prometheus. With a file ``remember``, backups
    that an earlier run verified are read again only if they changed or are due.

    Raises:
        OperatorError: there is no backup.
    """
    found = (place,) if is_folder_bundle(place) else tuple(sorted(place.glob(_NAMES)))
    if not found:
        raise OperatorError(
            "there is no backup",
            where=str(place),
            way_out="Name a folder that `pitwatch backup make` made, or the folder of several",
        )
    # `make` may remove an old backup during the check.
    made = _checked(found, remember, now_s)
    checked = [one for one in made if one.fault is None or one.backup.exists()]
    damaged = [one for one in checked if one.fault is not None]
    intact = len(checked) - len(damaged)
    if metrics is not None:
        _write_metrics(
            metrics,
            (
                "pitwatch_backups_verified_time_seconds",
                "Time of the last verification.",
                int(now_s),
            ),
            ("pitwatch_backups_intact", "Backups that verified.", intact),
            ("pitwatch_backups_damaged", "Backups that did not verify.", len(damaged)),
        )
    if as_json:
        print_json(
            [{"backup": str(one.backup), "files": one.files, "fault": one.fault} for one in checked]
        )
    else:
        for one in damaged:
            line = Text("damaged", style="bold red").append(f"  {one.fault}", "default")
            screen().print(line, soft_wrap=True)
        line = Text("intact", style="bold green" if not damaged else "")
        screen().print(line.append(f"  {intact} of {len(checked)} backups"))
    return Exit.REFUSED if damaged else Exit.CLEAN


def _checked(found: Iterable[Path], remember: Path | None, now_s: float) -> list[Checked]:
    """Verify backups, but for those that need not be read in this run."""
    if remember is None:
        return [verified(backup) for backup in found]
    memory = Memory(remember)
    intact = memory.unread(found, now_s)
    checked = []
    for backup in found:
        if backup in intact:
            checked.append(Checked(backup, intact[backup].files, None))
            continue
        stats = stats_of(backup)
        checked.append(verified(backup))
        if checked[-1].fault is None:
            intact[backup] = Intact(checked[-1].files, int(now_s), stats)
    memory.keep(intact)
    return checked


def verified(backup: Path) -> Checked:
    """Verify a backup."""
    try:
        bundle, _ = verified_bundle(backup, Asked(), "backup")
    except PitwatchError as fault:
        return Checked(backup, 0, str(fault))
    return Checked(backup, len(bundle.manifest.files), None)


def _made(data: Path, made: Path, now_ns: int, signer: Signer | None) -> int:
    """Copy everything, then name the copy; return the number of journals."""
    part = made.with_name(f".{made.name}.part")
    try:
        for folder in FOLDERS:
            (part / folder).mkdir(parents=True)
        journals = [file for folder in FOLDERS for file in sorted(data.glob(f"{folder}/*.journal"))]
        databases = sorted(data.glob("service/*.sqlite"))
        for file in (*journals, *databases):
            _check_file(file)
        heads = tuple(
            head_of(file.name, backup_journal(file, part / file.relative_to(data)))
            for file in journals
        )
        for file in databases:
            _copy_database(file, part / file.relative_to(data))
        named = f"the site at {utc(now_ns)}"
        manifest = Manifest(kind="backup", subject=named, at=now_ns, journals=heads)
        seal_folder(part, manifest, signer)
        for place in (*(part / name for name in FOLDERS), part):
            sync_folder(place)
        part.rename(made)
        sync_folder(made.parent)
    except BaseException:  # Ctrl-C too leaves no part of a backup
        shutil.rmtree(part, ignore_errors=True)
        raise
    return len(journals)


def _check_file(file: Path) -> None:
    """Refuse what cannot be copied, or listed in one line, before anything is copied."""
    if not file.is_file():
        raise _not_copied(file, "it is no file")
    if not file.name.isprintable():
        raise _not_copied(file, "its name has a character that cannot be printed")


def _copy_database(source: Path, target: Path) -> None:
    try:
        with (
            closing(_reading(source)) as reading,
            closing(sqlite3.connect(target)) as copy,
        ):
            reading.backup(copy)
            (found,) = copy.execute("PRAGMA integrity_check").fetchone()
    except sqlite3.Error as fault:
        raise _not_copied(source, str(fault)) from fault
    if found != "ok":
        raise _not_copied(source, found)
    with target.open("rb") as file:
        os.fsync(file.fileno())


def _reading(source: Path) -> sqlite3.Connection:
    """Open a database for reading, also one with a log in a folder that this user cannot write.

    SQLite then needs the log's index, which its writer has while it runs. Without a writer the
    file is whole.
    """
    address = f"{source.resolve().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.OperationalError:
        connection.close()
        if Path(f"{source}-wal").exists():
            raise
        return sqlite3.connect(f"{address}&immutable=1", uri=True)
    return connection


def _not_copied(source: Path, why: str) -> TechnicianError:
    return TechnicianError(
        f"it cannot be backed up ({why}); no backup was made",
        where=repr(str(source))[1:-1],
        way_out="Check this file and the disk of the backups",
    )


def _remove_parts(backups: Path) -> None:
    """Remove and report the remains of an interrupted backup."""
    for part in backups.glob(_PARTS):
        shutil.rmtree(part)
        print(f"{part}: an interrupted backup, removed", file=sys.stderr)
    for part in backups.glob(_METRICS_PARTS):
        part.unlink(missing_ok=True)


def _write_metrics(file: Path, *gauges: tuple[str, str, int]) -> None:
    """Write gauges, each as name, help and value, for the node exporter's text files."""
    lines = "".join(
        f"# HELP {name} {about}\n# TYPE {name} gauge\n{name} {value}\n"
        for name, about, value in gauges
    )
    write_whole(file, lines.encode())
    file.chmod(0o644)


@contextmanager
def _alone(backups: Path) -> Iterator[None]:
    """Lock a folder of backups, so that no other run removes the unfinished backup of this one."""
    try:
        lock = Lock(backups / _LOCK)
    except BlockingIOError as held:
        raise OperatorError(
            "another backup is being made there; this one was not begun",
            where=str(backups),
            way_out="Wait until that one has ended: systemctl status pitwatch-backup",
        ) from held
    try:
        yield
    finally:
        lock.let_go()
