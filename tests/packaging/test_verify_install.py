"""``pitwatch verify-install`` in an environment that the wheel was installed into."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from server.process.exit_status import Exit
from tests.packaging.wheel import Installed

pytestmark = pytest.mark.slow

NETWORK = "pitwatch/models/networks/reader.onnx"


def verified(installed: Installed, home: Path) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [installed.pitwatch, "verify-install", "--json"],
        cwd=home,
        env=installed.environment(home),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


@contextmanager
def changed(path: Path, content: bytes | None) -> Iterator[None]:
    """A file with another content, or none, while the body runs."""
    before = path.read_bytes() if path.exists() else None
    try:
        path.unlink() if content is None else path.write_bytes(content)
        yield
    finally:
        path.unlink(missing_ok=True) if before is None else path.write_bytes(before)


def test_changed_missing_and_added_files_are_named(installed: Installed, tmp_path: Path) -> None:
    status, clean = verified(installed, tmp_path)
    assert (status, clean["state"]) == (Exit.CLEAN, "unchanged"), clean
    site = Path(clean["folder"])
    assert site.is_relative_to(installed.place)
    network = bytearray((site / NETWORK).read_bytes())
    network[1000] ^= 1
    with (
        changed(site / NETWORK, bytes(network)),
        changed(site / "pitwatch" / "settlement" / "extra.py", b""),
        changed(site / "pitwatch" / "vision" / "scenes" / "art" / "decks.toml", None),
    ):
        status, printed = verified(installed, tmp_path)
    assert (status, printed["state"]) == (Exit.REFUSED, "altered")
    assert printed["changed"] == [NETWORK]
    assert printed["missing"] == ["pitwatch/vision/scenes/art/decks.toml"]
    assert printed["added"] == ["pitwatch/settlement/extra.py"]
    assert printed["program_hash"] != clean["program_hash"]
    assert printed["networks"]["reader.onnx"] != clean["networks"]["reader.onnx"]
    assert verified(installed, tmp_path) == (Exit.CLEAN, clean)
