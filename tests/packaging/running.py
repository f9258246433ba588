"""Commands as a user types them in a folder: to their end, or until they are stopped."""

import resource
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from server.process.exit_status import Exit
from tests.packaging.wheel import Installed

_LONGEST_S = 300
_STOPPED = frozenset({Exit.CLEAN, Exit.FINDINGS, -signal.SIGTERM, -signal.SIGINT})


@dataclass
class Shell:
    """A folder in which the installed program is used; its home is beside it."""

    installed: Installed
    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    """How long each command took: to its end, or until it was at work."""
    cpu_s: dict[str, float] = field(default_factory=dict)
    """Processor time of each command that ran to its end."""
    umask: int = -1
    """The umask of every command; -1 for that of the tests."""

    def run(self, line: str, *allowed: int) -> str:
        """Run a command to its end and return what it printed on stdout."""
        began, cpu_s = time.monotonic(), _children_s()
        done = subprocess.run(
            shlex.split(line),
            cwd=self.folder,
            env=self._environment(),
            umask=self.umask,
            capture_output=True,
            text=True,
            timeout=_LONGEST_S,
            check=False,
        )
        self.seconds[line] = time.monotonic() - began
        self.cpu_s[line] = _children_s() - cpu_s
        ended = f"{line}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
        assert done.returncode in (allowed or (Exit.CLEAN, Exit.FINDINGS)), ended
        assert "Traceback" not in done.stderr, ended
        return done.stdout

    @contextmanager
    def running(
        self, line: str, at_work: Callable[[], bool], stop: signal.Signals = signal.SIGTERM
    ) -> Iterator[None]:
        """Run a command until the body has ended; the body begins once it is at work."""
        began = time.monotonic()
        output = (self.folder.parent / "output").open("w+")
        process = subprocess.Popen(
            shlex.split(line),
            cwd=self.folder,
            env=self._environment(),
            umask=self.umask,
            stdout=output,
            stderr=output,
        )
        try:
            while not at_work():
                assert process.poll() is None, (line, _content(output.name))
                assert time.monotonic() - began < _LONGEST_S, (line, _content(output.name))
                time.sleep(0.05)
            self.seconds[line] = time.monotonic() - began
            yield
            process.send_signal(stop)
            status = process.wait(timeout=60)
        finally:
            process.kill()
            process.wait()
            output.close()
        assert status in _STOPPED, (line, status, _content(output.name))
        assert "Traceback" not in _content(output.name), _content(output.name)

    @contextmanager
    def beside(self, line: str) -> Iterator[None]:
        """Run a command beside others once it prints that they may start; it ends by itself."""
        began = time.monotonic()
        process = subprocess.Popen(
            shlex.split(line),
            cwd=self.folder,
            env=self._environment(),
            umask=self.umask,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        try:
            while "now run in another terminal" not in (first := process.stdout.readline()):
                assert first, f"{line}: exit {process.wait()}"
            self.seconds[line] = time.monotonic() - began
            yield
            assert process.wait(timeout=_LONGEST_S) == Exit.CLEAN
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def _environment(self) -> dict[str, str]:
        home = self.folder.parent / "home"
        home.mkdir(exist_ok=True)
        return {**self.installed.environment(home), **self.variables}


def _children_s() -> float:
    """Return the processor time of all processes that ran to their end so far."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _content(name: str) -> str:
    return Path(name).read_text(encoding="utf-8")[-4000:]


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Whether nothing listens on a port."""
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) != 0


def answers(port: int) -> bool:
    """Whether a service listens and is ready."""
    try:
        return httpx.get(f"http://127.0.0.1:{port}/ready", timeout=20).status_code == 200
    except httpx.TransportError:
        return False
