"""A command that ends early reports it in one line and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from server.process.exit_status import Exit
from tests.server.evenings import as_file, as_journal, evening, packed

pytestmark = pytest.mark.slow

PITWATCH = (sys.executable, "-m", "server")
RULES = ("-r", "kansas-shoe")
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return as_file(tmp_path_factory.mktemp("ends") / "facts.jsonl", evening(60))


def shell(line: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run ``line`` in a shell, in which ``pitwatch`` is the command and ``$1`` an argument."""
    script = f'pitwatch() {{ "{sys.executable}" -m server "$@"; }}\n{line}'
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", script, "-", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        check=False,
    )


def one_line(text: str) -> str:
    (line,) = text.splitlines()
    assert line.startswith("pitwatch: ")
    return line


# --- closed standard streams --------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        'settle "$1" -r kansas-shoe',
        'settle "$1" -r kansas-shoe --json',
        "rulebooks list",
        "--help",
    ],
)
def test_a_closed_stdout_is_refused_before_anything_is_done(facts: Path, command: str) -> None:
    ran = shell(f"pitwatch {command} >&-", facts)
    assert ran.returncode == Exit.REFUSED
    assert "stdout: it is closed, and nothing was done" in one_line(ran.stderr)


def test_no_file_takes_the_number_of_a_closed_stdout(facts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    ran = shell('pitwatch settle "$1" -r kansas-shoe --json --out "$2" >&-', facts, out)
    assert ran.returncode == Exit.REFUSED
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["", "--json"])
def test_a_reader_that_has_enough_ends_the_command(facts: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / "out.parquet"
    ran = shell(
        f'facts=$1; pitwatch settle $facts $facts $facts $facts -r kansas-shoe {form} --out "$2"'
        " | head -n 1",
        facts,
        out,
    )
    assert ran.returncode == Exit.CUT_OFF
    assert one_line(ran.stderr).endswith("stdout: it was closed before everything was printed")
    assert len(ran.stdout.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_behind_stdout_is_reported(facts: Path) -> None:
    ran = shell('pitwatch settle "$1" -r kansas-shoe --json > /dev/full', facts)
    assert ran.returncode == Exit.REFUSED
    assert "not everything was printed (No space left on device)" in one_line(ran.stderr)


def test_a_closed_stdin_is_refused_only_where_it_is_read(facts: Path) -> None:
    ran = shell("pitwatch settle - -r kansas-shoe <&-")
    assert ran.returncode == Exit.REFUSED
    assert "stdin: it is closed" in one_line(ran.stderr)
    assert shell('pitwatch settle "$1" -r kansas-shoe --summary <&-', facts).returncode == 0


def test_with_stderr_closed_the_results_stay_whole(facts: Path) -> None:
    plain = shell('pitwatch settle "$1" nothing-there.jsonl -r kansas-shoe --json', facts)
    silent = shell('pitwatch settle "$1" nothing-there.jsonl -r kansas-shoe --json 2>&-', facts)
    assert (silent.returncode, silent.stdout) == (plain.returncode, plain.stdout)


# --- signals ------------------------------------------------------------------------------


def started(*arguments: object, temporary: Path, group: bool = False) -> subprocess.Popen[str]:
    """Start the command; SIGHUP ends it even where the tests themselves run under ``nohup``."""
    return subprocess.Popen(
        ["env", "--default-signal=HUP", *PITWATCH, *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(temporary)},
        start_new_session=group,
    )


def until(happened: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not happened() and time.monotonic() < limit:
        time.sleep(0.01)


def children_of(process: int) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(place.read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(place.parent.name))
    return found


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def settles_in_children(process: int, temporary: Path) -> bool:
    """Return whether processes of the pool have begun to read the archives' journals."""
    return len(children_of(process)) >= 2 and any(temporary.rglob("*.journal"))


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Archives of journals that take several processes some seconds."""
    folder = tmp_path_factory.mktemp("month")
    for day in range(4):
        for shift in range(8):
            as_journal(folder / f"{day}" / f"{shift}.journal", evening(300, day))
        packed(folder / f"{day}", folder / f"{day}.tar")
    return folder


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_every_process_and_removes_every_file(
    month: Path, tmp_path: Path, by: signal.Signals
) -> None:
    temporary, place = tmp_path / "tmp", tmp_path / "out"
    temporary.mkdir()
    place.mkdir()
    archives = [month / f"{day}.tar" for day in range(4)]
    run = ("settle", *archives, *RULES, "--summary", "--jobs", 2, "--out", place / "tables")
    with started(*run, temporary=temporary, group=True) as process:
        until(lambda: settles_in_children(process.pid, temporary))
        children = children_of(process.pid)
        process.send_signal(by)
        _, printed = process.communicate(timeout=30)
    assert process.returncode == -by
    assert one_line(printed) == f"pitwatch: ended by {by.name}"
    assert len(children) >= 2
    until(lambda: not any(map(is_alive, children)))
    assert list(temporary.iterdir()) == []
    assert list(place.iterdir()) == []


def test_processes_end_with_a_first_one_that_is_killed(month: Path, tmp_path: Path) -> None:
    """They would wait for work for ever; the first had no time to end them, or to clean up."""
    archives = [month / f"{day}.tar" for day in range(4)]
    run = ("settle", *archives, *RULES, "--summary", "--jobs", 2)
    with started(*run, temporary=tmp_path, group=True) as process:
        until(lambda: settles_in_children(process.pid, tmp_path))
        children = children_of(process.pid)
        process.kill()
        process.communicate(timeout=30)
    assert len(children) >= 2
    until(lambda: not any(map(is_alive, children)))
    assert not any(map(is_alive, children))
    assert list(tmp_path.iterdir()) == []


FINALISER = """
import sys, time
from server.process.signals import as_process

class Slow:
    def __del__(self):
        print("begun", flush=True)
        time.sleep(2)

def command():
    Slow()
    time.sleep(60)
    return 0

sys.exit(as_process(command))
"""


def test_a_signal_that_comes_in_a_finaliser_ends_the_command_all_the_same() -> None:
    """Python ignores what is raised there."""
    command = [sys.executable, "-c", FINALISER]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.terminate()
        _, printed = process.communicate(timeout=20)
    assert process.returncode == -signal.SIGTERM
    assert one_line(printed) == "pitwatch: ended by SIGTERM"


def test_a_simulation_that_is_ended_leaves_no_folder(tmp_path: Path) -> None:
    place = tmp_path / "sessions"
    place.mkdir()
    run = ("simulate", place / "evening", "--rounds", 3)
    with started(*run, temporary=tmp_path) as process:
        until(lambda: any(place.glob(".evening.*")))
        process.terminate()
        _, printed = process.communicate(timeout=30)
    assert "pitwatch: ended by SIGTERM" in printed
    assert list(place.iterdir()) == []


def test_a_hang_up_that_is_ignored_stays_ignored(facts: Path) -> None:
    line = """
        trap '' HUP
        exec 3> >(exec "$0" -m server settle - -r kansas-shoe --json 2>&1)
        sleep 5; kill -HUP $!; cat "$1" >&3; exec 3>&-; wait $!
    """
    ran = subprocess.run(
        ["bash", "-c", line, sys.executable, str(facts)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        check=False,
    )
    assert ran.returncode == 0
    assert len(ran.stdout.splitlines()) == 60
