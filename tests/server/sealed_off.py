"""A program run where nothing can be reached, with every try to reach something recorded.

``unshare -n`` gives it a network of its own with nothing but loopback; strace records what it
asks of the network. Its home and cache folders are empty.
"""

import fcntl
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
HOMES: Final = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
_IN_A_NETWORK_OF_ITS_OWN: Final = ("unshare", "--map-root-user", "--net")
_ASKS: Final = "connect,sendto,sendmsg,sendmmsg"
_ADDRESS: Final = re.compile(
    r'sin6?_port=htons\((\d+)\).*?(?:inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)")'
)
_NAME_SERVICE: Final = 53
_LONGEST_S: Final = 240
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


@dataclass(frozen=True)
class Run:
    """What came of a run."""

    status: int
    output: str
    reached_for: tuple[str, ...]
    """``address:port`` of every peer beyond loopback, and of every name server, that it tried."""
    left_behind: tuple[str, ...]
    """Files and folders that it made in its home."""


def needs_a_sealed_network() -> pytest.MarkDecorator:
    """Skip where this user may not have a network of their own, or strace is absent."""
    if shutil.which("strace") is None:
        return pytest.mark.skip(reason="strace is not installed: apt-get install strace")
    allowed = (
        shutil.which("unshare")
        and not subprocess.run(
            [*_IN_A_NETWORK_OF_ITS_OWN, "strace", "-o", "/dev/null", "true"],
            capture_output=True,
            check=False,
        ).returncode
    )
    return pytest.mark.skipif(
        not allowed, reason="a network of its own (unshare -n) or strace is not allowed here"
    )


def sealed(folder: Path, *command: str) -> Run:
    """Run a command, traced from its first process to its last, with no way out."""
    home, trace = folder / "home", folder / "trace"
    home.mkdir()
    env = {**os.environ, **dict.fromkeys(HOMES, str(home)), "PITWATCH_DECKS": str(folder / "decks")}
    traced = [
        "strace",
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-e",
        f"trace={_ASKS}",
        "-e",
        "signal=none",
        "-o",
        str(trace),
    ]
    inside = [*_IN_A_NETWORK_OF_ITS_OWN, *traced, sys.executable, __file__]
    ended = subprocess.run(
        [*inside, *command],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
        check=False,
    )
    return Run(
        ended.returncode,
        ended.stdout + ended.stderr,
        peers_beyond(trace.read_text(errors="replace").splitlines()),
        tuple(sorted(str(path.relative_to(home)) for path in home.rglob("*"))),
    )


def peers_beyond(lines: Sequence[str]) -> tuple[str, ...]:
    """Return every peer in strace's lines that is not on this machine, or answers for names."""
    found = set()
    for port, four, six in (match.groups() for line in lines if (match := _ADDRESS.search(line))):
        address = four or six
        is_local = address.startswith("127.") or address in {"::1", "0.0.0.0", "::"}
        if int(port) == _NAME_SERVICE or not is_local:
            found.add(f"{address}:{port}")
    return tuple(sorted(found))


def raise_loopback() -> None:
    """Bring up the loopback interface of a network that was just made."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asked = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack("16sh14x", fcntl.ioctl(asking, _SIOCGIFFLAGS, asked))
        fcntl.ioctl(asking, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


# --- what is run inside ---------------------------------------------------------------------


@contextmanager
def _pitwatch(*words: str) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-m", "server", *words], stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _serve(folder: str) -> int:
    """Serve a folder of journals, sign in, and take out a signed report."""
    return _served(Path(folder, ".service"), folder)


def _floor(folder: str, owner: str, forwarder: str, reader: str) -> int:
    """Migrate a floor record, forward a folder of journals to it, and serve it from there."""
    migrate, forward = ("floor", "migrate"), ("forward", folder, "--once")
    for words, url in ((migrate, owner), (forward, forwarder)):
        command = [sys.executable, "-m", "server", *words, "--floor", url]
        if subprocess.run(command, check=False).returncode:
            return 1
    state = Path(folder, "state")
    return _served(state, "--floor", reader, "--state", str(state))


def _served(state: Path, *words: str) -> int:
    import httpx  # noqa: PLC0415 - only inside

    from tests.server.service.house import token_for  # noqa: PLC0415

    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    with _pitwatch("serve", *words, "--port", str(port)):
        for _ in range(400):
            try:
                if httpx.get(f"{url}/ready", verify=False).status_code == 200:
                    break
            except httpx.TransportError:
                time.sleep(0.1)
        headers = {"Authorization": f"Bearer {token_for(url, state, 'pit')}"}
        asked = ("/", "/health", "/api/tables", "/api/sessions/bj-07/report.pdf")
        answers = [
            httpx.get(url + path, headers=headers, timeout=60, verify=False) for path in asked
        ]
    return 0 if [one.status_code for one in answers] == [200] * len(asked) else 1


def _cluster(archive: str) -> int:
    """Settle an archive again on a scheduler and a worker of this machine."""
    dask, port = str(Path(sys.executable).with_name("dask")), str(_free_port())
    address = f"tcp://127.0.0.1:{port}"
    scheduler = (dask, "scheduler", "--host", "127.0.0.1", "--port", port)
    worker = (dask, "worker", address, "--nthreads", "1")
    with ExitStack() as ends:
        parts = ends.enter_context(tempfile.TemporaryDirectory())
        words = ("resettle", archive, "-r", "kansas-shoe", "--cluster", address, "--parts", parts)
        for command in (scheduler, worker):
            running = subprocess.Popen(command)
            ends.callback(running.wait)
            ends.callback(running.terminate)
        ready = f"import distributed; distributed.Client({address!r}).wait_for_workers(1)"
        subprocess.run([sys.executable, "-c", ready], check=True)
        return subprocess.run([sys.executable, "-m", "server", *words], check=False).returncode


def _relay(journals: str, folder: str) -> int:
    """Send messages to a broker and to a webhook on this machine until both took one."""
    from tests.server.integration import receivers, relays, test_brokers  # noqa: PLC0415
    from tests.server.service.house import until  # noqa: PLC0415

    place = Path(folder)
    with receivers.broker(place) as broker, receivers.receiving() as receiver:
        to = (test_brokers.destination(broker), relays.hook(receiver.url))
        with relays.relaying(Path(journals), place, relays.configured(place, *to)) as meters:
            for name in ("broker", "hook"):
                until(lambda name=name: relays.metric(meters, "delivered_total", name) >= 1)
    return 0


def _run(session: str, folder: str) -> int:
    """Run a live table until every device has connected, play a while, and stop it."""
    from server.table.playing import played  # noqa: PLC0415 - only inside

    with (
        played(Path(session), Path(folder)) as playing,
        _pitwatch("run", str(playing.config), "--json") as table,
    ):
        assert table.stderr is not None
        if not any("3 of 3 devices heard" in line for line in table.stderr):
            return 1
        playing.play()
        time.sleep(3)
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    raise_loopback()
    what, *given = sys.argv[1:]
    if what == "serve":
        sys.exit(_serve(*given))
    if what == "run":
        sys.exit(_run(*given))
    if what == "relay":
        sys.exit(_relay(*given))
    if what == "floor":
        sys.exit(_floor(*given))
    if what == "cluster":
        sys.exit(_cluster(*given))
    if what == "python":
        sys.exit(subprocess.run([sys.executable, "-c", *given], check=False).returncode)
    sys.exit(subprocess.run([sys.executable, "-m", "server", what, *given], check=False).returncode)
