"""The journal on disks that fail, and under processes that are killed."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from stream.journal import verify_journal

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
KILLS = 50


def python(script: str, *arguments: object, prefix: tuple[str, ...] = ()) -> str:
    """Run a script of its own process and return what it printed."""
    done = subprocess.run(
        [*prefix, sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def mounts_allowed() -> bool:
    """Whether this user may mount a small disk in a namespace of his own."""
    tried = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    try:
        return subprocess.run(tried, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


needs_mounts = pytest.mark.skipif(
    not mounts_allowed(), reason="mounting a small disk (unshare -rm) is not allowed here"
)
SMALL_DISK = (
    "unshare",
    "-rm",
    "sh",
    "-c",
    'mount -t tmpfs -o size=600k tmpfs "$0" && exec "$@"',
)

FULL = """
    import sys
    from pathlib import Path
    from models.errors import TechnicianError
    from models.events import ReaderFault
    from stream.journal import Journal, verify_journal

    folder = Path(sys.argv[1])
    ballast = folder / "ballast"
    ballast.write_bytes(bytes(200_000))
    path = folder / "table.journal"
    journal = Journal.create(path)
    kept = 0
    try:
        while True:
            journal.append(ReaderFault(source="shoe", kind="x", detail="y" * 500))
            kept += 1
    except TechnicianError as refused:
        print(refused)
    assert journal.last_seq == kept == verify_journal(path).entries
    ballast.unlink()
    assert journal.append(ReaderFault(source="shoe", kind="x", detail="room again")).seq == kept + 1
    journal.close()
    found = verify_journal(path)
    assert (found.entries, found.sealed) == (kept + 1, True)
    assert kept > 50
"""


@needs_mounts
def test_a_full_disk_is_reported_keeps_what_was_acknowledged_and_goes_on_with_room(
    tmp_path: Path,
) -> None:
    printed = python(FULL, tmp_path, prefix=(*SMALL_DISK, str(tmp_path)))
    assert f"{tmp_path}/table.journal: the journal cannot be read or written" in printed
    assert "the disk is full. Make room; nothing of this was written" in printed


LIMITED = """
    import resource, sys
    from pathlib import Path
    from models.errors import TechnicianError
    from models.events import ReaderFault
    from stream.journal import Journal, verify_journal

    path = Path(sys.argv[1])
    journal = Journal.create(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
    kept = 0
    try:
        while True:
            journal.append(ReaderFault(source="shoe", kind="x", detail="y" * 500))
            kept += 1
    except TechnicianError as refused:
        print(refused)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert journal.append(ReaderFault(source="shoe", kind="x", detail="more")).seq == kept + 1
    journal.close()
    assert verify_journal(path).entries == kept + 1
    assert kept > 20
"""


def test_a_file_that_may_not_grow_is_reported_and_goes_on_once_it_may(tmp_path: Path) -> None:
    printed = python(LIMITED, tmp_path / "table.journal")
    assert "table.journal: the journal cannot be read or written" in printed


READ_ONLY = """
    import subprocess, sys
    from pathlib import Path
    from models.errors import TechnicianError
    from models.events import RoundClosed
    from stream.copies import backup_journal
    from stream.journal import Journal, verify_journal

    folder = Path(sys.argv[1])
    path = folder / "table.journal"
    with Journal.create(path) as journal:
        journal.append(RoundClosed())
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    for attempt in (
        lambda: Journal.open(path).append(RoundClosed()),
        lambda: Journal.create(folder / "new.journal"),
        lambda: backup_journal(path, folder / "copy.journal"),
    ):
        try:
            attempt()
        except TechnicianError as refused:
            print(refused)
    found = verify_journal(path)
    assert (found.entries, found.sealed) == (1, True)
"""


@needs_mounts
def test_a_read_only_disk_is_reported_and_what_is_on_it_verifies(tmp_path: Path) -> None:
    lines = python(READ_ONLY, tmp_path, prefix=(*SMALL_DISK, str(tmp_path))).splitlines()
    assert len(lines) == 3
    assert all("the journal cannot be read or written" in line for line in lines)
    assert all("may only be read" in line for line in lines)


def test_whatever_was_acknowledged_outlives_kills_at_random_moments(tmp_path: Path) -> None:
    path = tmp_path / "table.journal"
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.kills", "--kills", str(KILLS), "--journal", str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = verify_journal(path)
    assert found.sealed
    assert found.signed == found.entries > KILLS
