"""Send a table's checkpoints to places where nobody who can change its journal can write.

Each target has a thread: neither an unresponsive mounted disk nor a stopped server delays the
table. Failed checkpoints are sent again, the newest ones for longest: each covers every entry
before it. At its next start the table asks files and services for the checkpoints that they hold.
"""

import errno
import os
import socket
import ssl
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, quote, urlsplit

import msgspec

from stream.checkpoints import Checkpoint, read_checkpoints
from stream.clock import elapsed_ns

if TYPE_CHECKING:
    import httpx

_KEPT: Final = 1_000
"""Checkpoints that may wait for a target."""
_RETRY_S: Final = 5.0
_PATIENCE_S: Final = 5.0
"""Seconds that a server may take, and that the table waits for all targets at its stop."""
_ASK_S: Final = 3.0
"""Seconds that a starting table waits for all services' checkpoints together."""
_NOTICE: Final = 109
"""Facility 13, log audit; severity 5, notice."""
_UDP_PORT: Final = 514
_TCP_PORT: Final = 601
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})

Send = Callable[[Checkpoint], None]
"""Sends one checkpoint; raises ``OSError`` on failure."""
Ask = Callable[[], tuple[Checkpoint, ...]]
"""Returns a target's checkpoints of the table's journals; raises ``OSError`` on failure."""


@dataclass(frozen=True, slots=True)
class Target:
    """A destination of checkpoints."""

    name: str
    send: Send
    file: Path | None = None
    """The file, where it is one: the table reads it again at its next start."""
    ask: Ask | None = None
    """Requests the checkpoints of a service."""


@dataclass(frozen=True, slots=True)
class Access:
    """A table's credentials for a service, and its trust in that service."""

    token_file: str | None = None
    ca_file: str | None = None
    table: str = ""
    key: str | None = None
    """The public key that signs the table's checkpoints, in hex."""


def target_at(address: str, folder: Path, access: Access | None = None) -> Target:
    """Return the target of a configured address; file names are relative to ``folder``.

    Raises:
        ValueError: there is no such kind of target; the message gives the expected forms.
    """
    parts = urlsplit(address)
    token_file = None if access is None else access.token_file
    match parts.scheme:
        case "syslog" if not parts.netloc and parts.path:
            return Target(address, _over_unix(parts.path))
        case "syslog" if parts.hostname:
            return Target(address, _over_udp(parts.hostname, parts.port or _UDP_PORT))
        case "syslog+tcp" if parts.hostname:
            return Target(address, _over_tcp(parts.hostname, parts.port or _TCP_PORT))
        case "https" | "http" if access is not None and _is_private(parts):
            if token_file is None:
                raise ValueError("token_file beside it: a file with a token of the service")
            ca_file = None if access.ca_file is None else folder / access.ca_file
            keeper = _Service(address.rstrip("/"), folder / token_file, ca_file)
            return Target(address, keeper.keep, ask=lambda: keeper.kept(access))
        case "":
            file = folder / address
            return Target(str(file), _to_file(file), file)
    service = "" if access is None else ", https://HOST:8443"
    raise ValueError(f"a file, syslog://HOST:514, syslog+tcp://HOST:601, syslog:/dev/log{service}")


def _is_private(address: SplitResult) -> bool:
    """Return whether a token may be sent there: over TLS, or without leaving this machine."""
    return bool(address.hostname) and (address.scheme == "https" or address.hostname in _LOOPBACK)


def known_checkpoints(
    targets: Iterable[Target], warn: Callable[[str], None] = lambda _: None
) -> tuple[Checkpoint, ...]:
    """Return the checkpoints of earlier runs from those targets that are files or services.

    Args:
        targets: the targets.
        warn: receives a line for every service that does not answer within some seconds.
    """
    targets = tuple(targets)
    asked = [_Asked(one.name, one.ask) for one in targets if one.ask is not None]
    for question in asked:
        question.start()
    files = [one.file for one in targets if one.file is not None and one.file.exists()]
    found = [checkpoint for file in files for checkpoint in read_checkpoints(file)]
    until_ns = elapsed_ns() + round(_ASK_S * 1e9)
    for question in asked:
        question.join(max(0, until_ns - elapsed_ns()) / 1e9)
        found += question.answer
        if question.fault is not None:
            warn(f"{question.target}: its checkpoints are not compared: {question.fault}")
    return tuple(found)


class _Asked(Thread):
    """A request for a service's checkpoints, in a thread so that the table can stop waiting."""

    def __init__(self, target: str, ask: Ask) -> None:
        super().__init__(name=f"what {target} keeps", daemon=True)
        self.target, self._ask = target, ask
        self.answer: tuple[Checkpoint, ...] = ()
        self.fault: str | None = f"no answer in {_ASK_S:g} s"

    def run(self) -> None:
        """Ask."""
        try:
            self.answer, self.fault = self._ask(), None
        except Exception as fault:  # such as a host's name that no library can encode
            self.fault = _reason(fault)


class Sender:
    """Sends checkpoints to every target. Use as a context manager."""

    def __init__(self, targets: Iterable[Target]) -> None:
        self._queues = [_Queue(target) for target in targets]

    def send(self, checkpoint: Checkpoint) -> None:
        """Queue a checkpoint for every target; return at once."""
        for queue in self._queues:
            queue.put(checkpoint)

    @property
    def fault(self) -> str | None:
        """The failing target and the reason; ``None`` while all work."""
        return next((queue.fault for queue in self._queues if queue.fault is not None), None)

    def __enter__(self) -> "Sender":
        for queue in self._queues:
            queue.start()
        return self

    def __exit__(self, *_: object) -> None:
        for queue in self._queues:
            queue.finish()
        for queue in self._queues:
            queue.join(_PATIENCE_S)


class _Queue(Thread):
    """The checkpoints waiting for one target, and the thread that sends them."""

    def __init__(self, target: Target) -> None:
        super().__init__(name=f"checkpoints to {target.name}", daemon=True)
        self._target = target
        self._waiting: deque[Checkpoint] = deque(maxlen=_KEPT)
        self._changed = Condition()
        self._ends = False
        self.fault: str | None = None

    def put(self, checkpoint: Checkpoint) -> None:
        """Add one."""
        with self._changed:
            self._waiting.append(checkpoint)
            self._changed.notify()

    def finish(self) -> None:
        """Send the waiting checkpoints, each once, and end."""
        with self._changed:
            self._ends = True
            self._changed.notify()

    def run(self) -> None:
        """Send until the end."""
        while (checkpoint := self._next()) is not None:
            if self._sent(checkpoint):
                self._drop(checkpoint)
            elif self._ends:
                return
            else:
                with self._changed:
                    self._changed.wait_for(lambda: self._ends, _RETRY_S)

    def _next(self) -> Checkpoint | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ends)
            return self._waiting[0] if self._waiting else None

    def _drop(self, checkpoint: Checkpoint) -> None:
        with self._changed:
            if self._waiting and self._waiting[0] is checkpoint:
                self._waiting.popleft()

    def _sent(self, checkpoint: Checkpoint) -> bool:
        try:
            self._target.send(checkpoint)
        except Exception as fault:  # the thread goes on, and the status line shows the fault
            self.fault = f"{self._target.name}: {_reason(fault)}"
            return False
        self.fault = None
        return True


def _reason(fault: Exception) -> str:
    return getattr(fault, "strerror", None) or str(fault) or type(fault).__name__


def _to_file(file: Path) -> Send:
    def send(checkpoint: Checkpoint) -> None:
        with file.open("ab", buffering=0) as opened:
            line = msgspec.json.encode(checkpoint) + b"\n"
            if opened.write(line) < len(line):
                raise OSError(errno.ENOSPC, "only a part of a checkpoint could be written")
            os.fsync(opened.fileno())

    return send


def _over_unix(path: str) -> Send:
    def send(checkpoint: Checkpoint) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
            server.settimeout(_PATIENCE_S)
            server.connect(path)
            server.send(syslog_message(checkpoint))

    return send


def _over_udp(host: str, port: int) -> Send:
    def send(checkpoint: Checkpoint) -> None:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as server:
            server.settimeout(_PATIENCE_S)
            server.connect(address)
            server.send(syslog_message(checkpoint))

    return send


def _over_tcp(host: str, port: int) -> Send:
    """Send each message with its length before it (RFC 6587, octet counting)."""

    def send(checkpoint: Checkpoint) -> None:
        message = syslog_message(checkpoint)
        with socket.create_connection((host, port), _PATIENCE_S) as server:
            server.sendall(b"%d " % len(message) + message)

    return send


@dataclass(frozen=True, slots=True)
class _Service:
    """A Pitwatch service that stores checkpoints."""

    address: str
    token_file: Path
    ca_file: Path | None

    def keep(self, checkpoint: Checkpoint) -> None:
        """Post a checkpoint; the service has stored it when it answers."""
        body = msgspec.json.encode(checkpoint)
        self._request("POST", "/api/checkpoints", content=body)

    def kept(self, access: Access) -> tuple[Checkpoint, ...]:
        """Return the service's last checkpoint of each of the table's journals."""
        asked = {} if access.key is None else {"key": access.key}
        path = f"/api/tables/{quote(access.table, safe='')}/checkpoints"
        answer = self._request("GET", path, params=asked)
        try:
            return msgspec.json.decode(answer.content, type=tuple[Checkpoint, ...])
        except msgspec.DecodeError as fault:
            raise OSError(f"its answer is no list of checkpoints ({fault})") from fault

    def _request(self, method: str, path: str, **more: Any) -> "httpx.Response":
        import httpx

        token = self.token_file.read_bytes().decode("ascii", "replace").strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        ca_file = None if self.ca_file is None else str(self.ca_file)
        try:
            answer = httpx.request(
                method,
                self.address + path,
                headers=headers,
                verify=ssl.create_default_context(cafile=ca_file),
                timeout=_PATIENCE_S,
                trust_env=False,  # neither a proxy nor a password comes from the environment
                **more,
            )
        except httpx.HTTPError as fault:
            raise OSError(str(fault) or "no answer in time") from fault
        if not answer.is_success:
            raise OSError(f"it answered {answer.status_code}")
        return answer


def syslog_message(checkpoint: Checkpoint) -> bytes:
    """Return a checkpoint as a syslog message (RFC 5424)."""
    at = datetime.fromtimestamp(checkpoint.at // 1_000_000_000, UTC)
    head = f"<{_NOTICE}>1 {at:%Y-%m-%dT%H:%M:%SZ} {socket.gethostname()} pitwatch - checkpoint - "
    return head.encode("ascii", "replace") + msgspec.json.encode(checkpoint)
