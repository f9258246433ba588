"""``pitwatch console``: a session, an account and a page, with one command."""

import re
import socket
import stat
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from models.errors import OperatorError
from server.console_command import ACCOUNT, PASSWORD_FILE, account_in
from stream.clock import HostClock
from tests.server.service.house import until


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
    with pytest.raises(OperatorError, match="not known any more"):
        account_in(tmp_path, HostClock())


def test_it_says_where_to_sign_in_and_as_whom(recorded: Path, tmp_path: Path) -> None:
    """A journal that is there already is not replayed again."""
    state, port = tmp_path / "state", free_port()
    state.mkdir()
    (state / "bj-07.journal").write_bytes((recorded / "bj-07.journal").read_bytes())
    command = [sys.executable, "-m", "server", "console", str(recorded / "bj-07")]
    running = subprocess.Popen(
        [*command, "--state", str(state), "--port", str(port)],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stderr is not None
        told = running.stderr.readline()
        said = re.search(
            rf"(http://127\.0\.0\.1:{port})  sign in as {ACCOUNT}, password (\S+)", told
        )
        assert said is not None, told
        with httpx.Client(base_url=said[1], timeout=20) as officer:
            until(lambda: answers(officer))
            body = {"name": ACCOUNT, "password": said[2]}
            assert officer.post("/api/sign-in", json=body).status_code == 200
            (table,) = officer.get("/api/tables").json()
            assert table["table"] == "BJ-07"
    finally:
        running.terminate()
        running.communicate(timeout=20)


def answers(client: httpx.Client) -> bool:
    try:
        return client.get("/ready").status_code == 200
    except httpx.ConnectError:
        return False
