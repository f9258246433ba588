"""A command that needs an extra which is not installed names it, and what to install."""

import subprocess
import sys
from pathlib import Path

import pytest

from server.process.exit_status import Exit
from tests.server.evenings import evening, lines

pytestmark = pytest.mark.slow

_FLOOR = ("--floor", "postgresql://nobody@localhost/none")
_RULES = ("-r", "kansas-shoe")
_MQTT = """service_url = "https://pitwatch.example"
[[destinations]]
name = "broker"
kind = "mqtt"
[destinations.settings]
host = "localhost"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with facts and a configuration of destinations."""
    folder = tmp_path_factory.mktemp("extras")
    (folder / "facts.jsonl").write_bytes(lines(evening(1, 2)))
    (folder / "to.toml").write_text(_MQTT)
    return folder


@pytest.mark.parametrize(
    ("package", "extra", "words"),
    [
        ("pyarrow", "parquet", ("settle", "facts.jsonl", *_RULES, "--out", "out")),
        ("pyarrow", "parquet", ("resettle", "facts.jsonl", *_RULES, "--out", "out")),
        ("pyarrow", "parquet", ("archive", "write", "facts.jsonl", "history")),
        ("pyarrow", "parquet", ("export", "a.journal", "--what", "hands", "--out", "a.parquet")),
        ("pyarrow", "parquet", ("floor", "retire", "2026-03-01", "history", *_FLOOR)),
        (
            "distributed",
            "cluster",
            ("resettle", ".", *_RULES, "--parts", "parts", "--cluster", "tcp://localhost:1"),
        ),
        ("psycopg", "floor", ("floor", "status", *_FLOOR)),
        ("psycopg", "floor", ("forward", "a.journal", *_FLOOR)),
        ("psycopg", "floor", ("serve", "--state", "state", *_FLOOR)),
        ("paho", "mqtt", ("relay", "try", "to.toml", "broker")),
    ],
    ids=lambda one: " ".join(one[:2]) if isinstance(one, tuple) else one,
)
def test_what_to_install_is_named(
    place: Path, package: str, extra: str, words: tuple[str, ...]
) -> None:
    hidden = (
        f"import sys; sys.modules[{package!r}] = None; from server.commands.app import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", hidden, *words],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == Exit.REFUSED, done.stderr
    (refused,) = done.stderr.splitlines()
    assert "not installed" in refused
    assert "pip install 'pitwatch[" in refused
    assert extra in refused.rpartition("[")[2]
