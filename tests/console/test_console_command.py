"""``pitwatch console``: a session, an account and a page, with one command."""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread

import httpx
import pytest

from models.errors import OperatorError
from server.commands.console import ACCOUNT, PASSWORD_FILE, account_in
from server.process.exit_status import Exit
from simulation.session import Settings, simulate
from stream.clock import HostClock
from stream.journal import verify_journal
from tests.console.conftest import SMALL
from tests.server.service.house import until

pytestmark = pytest.mark.slow


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def test_the_first_start_makes_one_account_and_later_ones_keep_it(tmp_path: Path) -> None:
    first = account_in(tmp_path, HostClock())
    assert account_in(tmp_path, HostClock()) == first
    assert stat.S_IMODE((tmp_path / PASSWORD_FILE).stat().st_mode) == 0o600


def test_a_password_that_was_lost_is_not_made_up(tmp_path: Path) -> None:
    account_in(tmp_path, HostClock())
    (tmp_path / PASSWORD_FILE).unlink()
    with pytest.raises(OperatorError, match="password file is missing"):
        account_in(tmp_path, HostClock())


@dataclass
class Running:
    """A console at work; what it prints on stderr is gathered."""

    process: subprocess.Popen[str]
    url: str
    lines: list[str] = field(default_factory=list)

    def gather(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stderr:
            self.lines.extend(line.rstrip() for line in stderr)

    def line(self, pattern: str) -> re.Match[str] | None:
        return next(filter(None, (re.search(pattern, line) for line in self.lines)), None)

    def wait_for(self, pattern: str) -> re.Match[str]:
        until(lambda: self.line(pattern) is not None)
        found = self.line(pattern)
        assert found is not None
        return found

    @contextmanager
    def officer(self) -> Iterator[httpx.Client]:
        """Sign in with what was printed, once the console answers."""
        word = self.wait_for(rf"{self.url}  sign in as {ACCOUNT}, password (\S+)")[1]
        with httpx.Client(base_url=self.url, timeout=20, verify=False) as client:
            until(lambda: answers(client))
            body = {"name": ACCOUNT, "password": word}
            assert client.post("/api/sign-in", json=body).status_code == 200
            yield client

    def replaying(self) -> int | None:
        """Return the id of the process that replays."""
        for children in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            with suppress(FileNotFoundError, ProcessLookupError):  # a thread or a child that ended
                for child in children.read_text().split():
                    if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                        return int(child)
        return None

    def stop_replay(self) -> int:
        """Stop the process that replays as soon as it runs; return its id."""
        until(lambda: self.replaying() is not None)
        replaying = self.replaying()
        assert replaying is not None
        os.kill(replaying, signal.SIGSTOP)
        return replaying


@contextmanager
def console(
    session: Path, state: Path, *options: str, port: int | None = None
) -> Iterator[Running]:
    port = port or free_port()
    command = [sys.executable, "-m", "server", "console", str(session), *options]
    process = subprocess.Popen(
        [*command, "--state", str(state), "--port", str(port)],
        stderr=subprocess.PIPE,
        text=True,
    )
    running = Running(process, f"http://127.0.0.1:{port}")
    reader = Thread(target=running.gather)
    reader.start()
    try:
        yield running
    finally:
        process.terminate()
        process.wait(timeout=20)
        reader.join(timeout=20)


def test_it_prints_where_to_sign_in_and_as_whom(recorded: Path, tmp_path: Path) -> None:
    """A journal that is there already is not replayed again."""
    state = tmp_path / "state"
    state.mkdir()
    (state / "bj-07.journal").write_bytes((recorded / "bj-07.journal").read_bytes())
    house = tmp_path / "house.toml"
    house.write_text('zone = "Asia/Tokyo"\nlocale = "ja-JP"\ncurrency = "JPY"\n')
    with (
        console(recorded / "bj-07", state, "--house", str(house)) as running,
        running.officer() as officer,
    ):
        (table,) = officer.get("/api/tables").json()
        assert table["table"] == "BJ-07"
        written = officer.get("/api/house").json()
        assert (written["zone"], written["locale"]) == ("Asia/Tokyo", "ja-JP")
        assert written["others"] == {"BJ-07": {"code": "USD", "decimals": 2}}
        assert running.line("^replay") is None
        assert officer.get("/api/no-such-thing").status_code == 404
    assert "password" in running.lines[-1], "no request pushes the password out of sight"


def test_on_a_taken_port_it_prints_neither_an_address_nor_a_password(
    recorded: Path, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with console(recorded / "bj-07", tmp_path / "state", port=port) as running:
            assert running.process.wait(timeout=60) == Exit.REFUSED
    (refused,) = running.lines[1:]
    assert refused.startswith(f"pitwatch: --port: port {port} of 127.0.0.1 is taken"), refused
    assert "another `pitwatch console`" in refused
    assert "--port" in refused.partition(". ")[2]
    assert list((tmp_path / "state").iterdir()) == [], "nothing was begun"


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A round at one spot, its video small: what is replayed while a test waits."""
    session = tmp_path_factory.mktemp("short") / "bj-07"
    simulate(Settings(table="BJ-07", rounds=1, spots=(2,), look=replace(SMALL, fps=5)), session)
    return session


def test_the_page_answers_while_the_session_is_still_replayed(short: Path, tmp_path: Path) -> None:
    with console(short, tmp_path / "state") as running:
        replaying = running.stop_replay()
        with running.officer() as officer:
            assert running.line("^replayed: ") is None
            os.kill(replaying, signal.SIGCONT)
            settled = int(running.wait_for(r"^replayed: (\d+) rounds? settled")[1])
            assert settled > 0
            until(lambda: len(officer.get("/api/rounds").json()["items"]) == settled)
    assert running.lines[0] == f"opening {short}"
    assert running.line(r"^replayed \d0% in \d+ s$") is not None


def test_a_replay_that_was_interrupted_begins_anew(tmp_path: Path) -> None:
    session, journal = tmp_path / "bj-07", tmp_path / "state" / "bj-07.journal"
    simulate(Settings(table="BJ-07", rounds=1, spots=(2,), video=False), session)
    with console(session, journal.parent) as running:
        stopped = running.stop_replay()
        running.process.kill()
        running.process.wait(timeout=20)
        os.kill(stopped, signal.SIGKILL)
    with console(session, journal.parent) as running:
        running.wait_for("^replayed: ")
    assert verify_journal(journal).sealed


def test_a_session_that_is_not_sound_is_refused_and_not_shown(
    recorded: Path, tmp_path: Path
) -> None:
    session = tmp_path / "session"
    shutil.copytree(recorded / "bj-07", session)
    (session / "overhead.mp4").write_bytes(b"no video")
    with console(session, tmp_path / "state") as running:
        assert running.process.wait(timeout=60) == Exit.REFUSED
    assert running.line("overhead.mp4") is not None
    assert running.line("sign in as") is None


def answers(client: httpx.Client) -> bool:
    try:
        return client.get("/ready").status_code == 200
    except httpx.ConnectError:
        return False
