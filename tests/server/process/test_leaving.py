"""A process ends with its status while a driver still holds one of its threads."""

import socket
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

_COMMAND = """
import ctypes
import sys
import threading

import av

from server.process.signals import as_process, leave

libc = ctypes.CDLL(None)
libc.on_exit(libc.sleep, None)  # a library that takes long to be unloaded: it sleeps status seconds
url = sys.argv[1]
threading.Thread(target=lambda: av.open(url, timeout=60.0), daemon=True).start()
threading.Event().wait(0.53)  # the decoder looks at its time-out each 0.1 s: not during the end
print("ready")
leave(as_process(lambda: 1))
"""


def test_a_decoder_that_waits_for_its_camera_does_not_crash_the_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/stream"
        done = subprocess.run(
            [sys.executable, "-c", _COMMAND, url],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout, done.stderr) == (1, "ready\n", "")
