"""However a journal's writer ends, nobody is accused of it, and nothing passes for intact."""

import itertools
import os
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from models.errors import TechnicianError
from models.events import RoundOpened
from stream.files import JournalFiles
from stream.journal import Journal, verify_journal
from tests.faults.ended_anywhere import DUE, WAYS, laid
from tests.stream.test_journal import Stopped, stop_at
from tests.thoroughness import ALL

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).with_name("mortal.c")


EVERY = 1 if ALL else 7


def with_mortality(tmp_path: Path, module: str, *arguments: object) -> str:
    """Run a module with the library of ``mortal.c`` preloaded; return what it printed."""
    library = tmp_path / "mortal.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
    ran = subprocess.run(
        [sys.executable, "-m", f"tests.faults.{module}", tmp_path, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None, reason="no C compiler to count changes with"
)


@needs_compiler
def test_a_kill_before_any_change_of_a_file_accuses_nobody_and_hides_nothing(
    tmp_path: Path,
) -> None:
    printed = with_mortality(tmp_path, "ended_anywhere")
    assert printed.count("killed before each of") == len(WAYS), printed


@needs_compiler
def test_archive_backup_and_restore_ended_anywhere_lose_nothing_and_are_done_again(
    tmp_path: Path,
) -> None:
    printed = with_mortality(tmp_path, "moved_anywhere", EVERY)
    assert printed.count(": killed before ") == printed.count(": on a full disk from ") >= 6, (
        printed
    )


def test_a_signal_at_any_line_of_a_close_leaves_a_seal_or_a_log(tmp_path: Path) -> None:
    for line in itertools.count(1):
        path = tmp_path / str(line) / "t.journal"
        path.parent.mkdir()
        child = os.fork()
        if not child:
            status = 0
            journal = Journal.create(path, DUE)
            journal.append(RoundOpened(round=1))
            with contextmanager(stop_at)(line), suppress(Stopped):
                journal.close()
                status = 1
            del journal
            os._exit(status)
        _, status = os.waitpid(child, 0)
        found = verify_journal(path)
        assert (found.entries, found.lacks_log) == (1, False), line
        Journal.open(path, DUE).close()
        after = verify_journal(path)
        assert (after.sealed, after.gaps) == (True, ()), line
        if os.waitstatus_to_exitcode(status):
            break
    assert line > 20


def contents(folder: Path) -> dict[str, bytes]:
    """What lies in a folder, without locks and the log's index."""
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if not file.name.endswith(("-lock", "-shm"))
    }


@pytest.mark.parametrize("way", ["closed", "killed"])
def test_a_start_that_fails_leaves_the_files_as_found(tmp_path: Path, way: str) -> None:
    path = tmp_path / "t.journal"
    entries = laid(path, way)
    before = contents(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = max(JournalFiles(path).log_bytes, 2_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        with pytest.raises(TechnicianError):
            Journal.open(path, DUE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert contents(tmp_path) == before
    Journal.open(path, DUE).close()
    found = verify_journal(path)
    assert (found.sealed, found.gaps) == (True, ())
    assert found.entries == entries + (way == "killed"), "the tail that was found is marked"
