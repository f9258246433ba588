"""nginx as it ships, placed for a test: before a service on this machine, with its own folders."""

import os
import pwd
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.deploy.tools import DEPLOY, ROOT

SHIPPED: Final = DEPLOY / "nginx" / "pitwatch.conf"


def placed_configuration(
    folder: Path,
    certificate: Path,
    key: Path,
    inner: int,
    outer: int,
    otherwise: Mapping[str, str],
) -> Path:
    """Write the shipped configuration with these places, and what ``otherwise`` replaces."""
    me = pwd.getpwuid(os.getuid()).pw_name
    (folder / "temporary").mkdir()
    temporary = "".join(
        f"    {kind}_temp_path {folder}/temporary/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    replaced = {
        **otherwise,
        "user www-data;": f"user {me};",
        "/run/nginx.pid": f"{folder}/nginx.pid",
        "/var/log/nginx/error.log": f"{folder}/error.log",
        "/var/log/nginx/pitwatch.log": f"{folder}/pitwatch.log",
        "/etc/pitwatch/secrets/tls.crt": str(certificate),
        "/etc/pitwatch/secrets/tls.key": str(key),
        "server 127.0.0.1:8707": f"server 127.0.0.1:{inner}",
        "listen 443 ssl": f"listen 127.0.0.1:{outer} ssl",
        "        listen [::]:443 ssl;\n": "",
        "        listen 8443 ssl;\n": "",
        "        listen [::]:8443 ssl;\n": "",
        "http {\n": f"http {{\n{temporary}",
    }
    text = SHIPPED.read_text("utf-8")
    for shipped, here in replaced.items():
        assert text.count(shipped) == 1, shipped
        text = text.replace(shipped, here)
    placed = folder / "nginx.conf"
    placed.write_text(text, "utf-8")
    return placed


def nginx_command(nginx: str, folder: Path, placed: Path) -> list[str | Path]:
    """Return the command that runs nginx in the foreground."""
    return [nginx, "-p", folder, "-c", placed, "-e", "stderr", "-g", "daemon off;"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


@contextmanager
def running(command: list[str | Path], log: Path) -> Iterator[int]:
    """Run a program until the end of the body; yield its process number."""
    with (
        log.open("wb") as writing,
        subprocess.Popen(list(map(str, command)), cwd=ROOT, stderr=writing) as process,
    ):
        try:
            yield process.pid
        finally:
            process.send_signal(signal.SIGTERM)
