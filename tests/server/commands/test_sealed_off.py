"""The program reports to nobody: no connection, no name look-up, nothing in the user's caches."""

import shutil
from pathlib import Path

import pytest

from server.commands.app import run
from server.process.exit_status import Exit
from simulation.session import simulate
from tests.server.live_tables import SETTINGS
from tests.server.sealed_off import Run, needs_a_sealed_network, peers_beyond, sealed
from tests.server.service.house import play

pytestmark = [pytest.mark.slow, needs_a_sealed_network()]
READS_A_PICTURE = """
import sys
from vision.reader import Reader
import numpy as np
Reader.load().read(np.zeros((240, 320, 3), np.uint8), card_width_px=40)
"""
IS_TRACED_FOR = """
import sys
from pathlib import Path
from opentelemetry import trace
from tests.server.service.house import house

class Collector(trace.TracerProvider):
    def get_tracer(self, *_, **__):
        print("a tracer was asked for")
        return trace.NoOpTracer()

trace.set_tracer_provider(Collector())
with house(Path(sys.argv[1]), Path(sys.argv[1], "state")) as found, found.anyone() as client:
    assert client.get("/health").status_code == 200
"""
REACHES_OUT = """
import pathlib, socket
pathlib.Path.home().joinpath("deviceid").write_text("1")
for reach in (lambda: socket.create_connection(("192.0.2.1", 443), 2),
              lambda: socket.getaddrinfo("events.example.com", 443)):
    try:
        reach()
    except OSError:
        pass
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sealed") / "session"
    simulate(SETTINGS, folder)
    return folder


def assert_silent(run: Run, status: int = 0) -> None:
    assert run.status == status, run.output
    assert run.reached_for == ()
    assert run.left_behind == ()


def test_a_program_that_opens_a_connection_is_caught(tmp_path: Path) -> None:
    run = sealed(tmp_path, "python", REACHES_OUT)
    assert "192.0.2.1:443" in run.reached_for
    assert any(peer.endswith(":53") for peer in run.reached_for)
    assert run.left_behind == ("deviceid",)


def test_peers_are_read_from_what_strace_writes() -> None:
    lines = (
        '1 connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.1")}',
        "1 connect(3, {sa_family=AF_INET6, sin6_port=htons(80), sin6_flowinfo=htonl(0), "
        'inet_pton(AF_INET6, "2001:db8::1", &sin6_addr), sin6_scope_id=0}, 28) = 0',
        '1 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}, 16',
        '1 connect(3, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 1',
        '1 connect(3, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT',
    )
    assert peers_beyond(lines) == ("127.0.0.53:53", "192.0.2.1:443", "2001:db8::1:80")


def test_networks_are_run_in_silence(tmp_path: Path) -> None:
    assert_silent(sealed(tmp_path, "python", READS_A_PICTURE))


def test_a_session_is_replayed_in_silence(session: Path, tmp_path: Path) -> None:
    assert_silent(sealed(tmp_path, "replay", str(session), "--json"), Exit.CLEAN)


def test_a_folder_is_served_in_silence(tmp_path: Path) -> None:
    (tmp_path / "journals").mkdir()
    play(tmp_path / "journals" / "bj-07.journal", "mistake", "BJ-07")
    assert_silent(sealed(tmp_path, "serve", str(tmp_path / "journals")))


def test_no_request_is_traced_for_a_collector_that_the_machine_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FastAPI would hand each request to OpenTelemetry where the environment configures that."""
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://192.0.2.1:4318")
    (tmp_path / "journals").mkdir()
    ran = sealed(tmp_path, "python", IS_TRACED_FOR, str(tmp_path / "journals"))
    assert_silent(ran)
    assert "a tracer was asked for" not in ran.output
    assert "telemetry" not in ran.output


def test_a_live_table_runs_in_silence(session: Path, tmp_path: Path) -> None:
    (tmp_path / "table").mkdir()
    assert_silent(sealed(tmp_path, "run", str(session), str(tmp_path / "table")))


def test_messages_are_sent_to_their_destinations_alone(tmp_path: Path) -> None:
    """MQTT and webhooks at work: their libraries reach for nothing but the configured addresses."""
    pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed: make test")
    if shutil.which("mosquitto", path="/usr/sbin:/usr/bin") is None:
        pytest.skip("mosquitto is not installed: apt-get install mosquitto")
    for name in ("journals", "relay"):
        (tmp_path / name).mkdir()
    play(tmp_path / "journals" / "bj-07.journal", "mistake", "BJ-07")
    assert_silent(sealed(tmp_path, "relay", str(tmp_path / "journals"), str(tmp_path / "relay")))


def test_the_floors_record_is_filled_and_served_in_silence(tmp_path: Path) -> None:
    """Its database is reached through a socket of this machine; nothing else is looked for."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: make test")
    from tests.server.floor_record.cluster import cluster, new_floor, programs  # noqa: PLC0415

    if programs() is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    (tmp_path / "journals").mkdir()
    play(tmp_path / "journals" / "bj-07.journal", "mistake", "BJ-07")
    with cluster() as made:
        made.folder.chmod(0o711)  # root of a user namespace passes no folder of another user
        site = new_floor(made)
        roles = (site.owner, site.forwarder, site.reader)
        ran = sealed(tmp_path, "floor", str(tmp_path / "journals"), *roles)
    assert_silent(ran)


def test_a_cluster_settles_in_silence(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="distributed is not installed: make test")
    (tmp_path / "journals").mkdir()
    play(tmp_path / "journals" / "bj-07.journal", "mistake", "BJ-07")
    history = tmp_path / "history"
    assert run(["archive", "write", str(tmp_path / "journals"), str(history)]) == Exit.CLEAN
    assert_silent(sealed(tmp_path, "cluster", str(history)))


def test_tables_are_written_in_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even to a collector that the machine names for traces of Arrow."""
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: make test")
    monkeypatch.setenv("ARROW_TRACING_BACKEND", "otlp_http")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://192.0.2.1:4318")
    journal = tmp_path / "bj-07.journal"
    play(journal, "mistake", "BJ-07")
    out = tmp_path / "tables"
    assert_silent(
        sealed(tmp_path, "settle", str(journal), "-r", "kansas-shoe", "--out", str(out)),
        Exit.FINDINGS,
    )
    assert [*out.glob("*.parquet")]
