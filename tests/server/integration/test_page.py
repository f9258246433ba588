"""What docs/integration.md shows works as it stands there."""

import re
import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from models.errors import InstallerError
from models.events import RoundOpened
from server.integration.config import Destination
from server.integration.registry import OWN, kinds, registered
from tests.server.integration.receivers import receiving
from tests.server.integration.relays import KEY, configured, hook, metric, relaying
from tests.server.service.house import until, write

PAGE: Final = (Path(__file__).parents[3] / "docs" / "integration.md").read_text()


def block(title: str) -> str:
    found = re.search(rf"```\w+ {re.escape(title)}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str, name: str = "pager") -> None:
    """Install the page's package as pip leaves it."""
    metadata = folder / "pitwatch_pager-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: pitwatch-pager\nVersion: 1.0\n"
    )
    entry = f"[pitwatch.destinations]\n{name} = pitwatch_pager:PAGER\n"
    (metadata / "entry_points.txt").write_text(entry)
    (folder / "pitwatch_pager.py").write_text(code)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "pitwatch_pager", raising=False)


@contextmanager
def gateway() -> Iterator[tuple[int, list[bytes]]]:
    """A TCP server that keeps every line and answers OK."""
    lines: list[bytes] = []

    class Line(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            lines.append(self.rfile.readline())
            self.wfile.write(b"OK\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Line) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1], lines
        finally:
            server.shutdown()
            thread.join()


def test_the_pages_receiver_knows_our_requests_and_no_others(tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    exec(compile(block("receiver.py"), "receiver.py", "exec"), found)
    write(tmp_path / "a.journal", RoundOpened(round=1, at=1_000, table="BJ-09"))
    with receiving() as receiver:
        to = configured(tmp_path, hook(receiver.url, send=("round_opened",)))
        with relaying(tmp_path, tmp_path, to):
            until(lambda: receiver.taken)
    (sent,) = receiver.taken
    assert found["is_ours"](sent.headers, sent.body, KEY)
    assert not found["is_ours"](sent.headers, sent.body + b" ", KEY)
    assert not found["is_ours"](sent.headers, sent.body, "whsec_" + "A" * 43 + "=")
    late = {**sent.headers, "webhook-timestamp": "1000000000"}
    assert not found["is_ours"](late, sent.body, KEY)


def test_the_pages_own_kind_is_found_and_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert 'pager = "pitwatch_pager:PAGER"' in block("pyproject.toml")
    install(tmp_path / "site", monkeypatch, block("pitwatch_pager.py"))
    assert "pager" in kinds()
    write(tmp_path / "a.journal", RoundOpened(round=1, at=1_000, table="BJ-09"))
    with gateway() as (port, lines):
        settings = {"host": "127.0.0.1", "port": port}
        to = Destination(
            name="pager", kind="pager", send=("*",), start="beginning", settings=settings
        )
        with relaying(tmp_path, tmp_path, configured(tmp_path, to)):
            until(lambda: lines)
    assert lines == [b"BJ-09, round 1: round_opened\n"]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import no_such", "No module named 'no_such'"),
        ("PAGER = 5", "is no Registration but int"),
        ("PAGE = 5", "no attribute 'PAGER'"),
    ],
)
def test_a_package_that_fails_to_load_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, message: str
) -> None:
    install(tmp_path, monkeypatch, code)
    with pytest.raises(InstallerError, match=message) as refused:
        registered("pager")
    assert "pitwatch-pager 1.0" in str(refused.value)


@pytest.mark.parametrize("name", sorted(OWN))
def test_a_sites_kind_cannot_take_the_name_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    install(tmp_path, monkeypatch, block("pitwatch_pager.py"), name)
    with pytest.raises(InstallerError, match="more than once"):
        registered(name)


def test_a_kind_that_fails_in_a_way_nobody_thought_of_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = block("pitwatch_pager.py").replace("address = (", "address = 1 / 0, (")
    install(tmp_path / "site", monkeypatch, broken)
    write(tmp_path / "a.journal", *(RoundOpened(round=n, at=n, table="BJ-09") for n in (1, 2)))
    settings = {"host": "127.0.0.1", "port": 1}
    pager = Destination(
        name="pager",
        kind="pager",
        send=("*",),
        start="beginning",
        tries=2,
        first_wait_ms=1,
        settings=settings,
    )
    with receiving() as receiver:
        to = configured(tmp_path, pager, hook(receiver.url, send=("*",)))
        with relaying(tmp_path, tmp_path, to) as meters:
            until(lambda: len(receiver.taken) == 2)
            until(lambda: metric(meters, "dead_letters_total", "pager") == 2)
