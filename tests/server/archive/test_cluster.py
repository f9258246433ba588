"""A cluster settles an archive as one process does, byte for byte, also where its workers die."""

import hashlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.bundle.bundle import check_bundle
from server.commands.app import run
from server.process.exit_status import Exit
from stream.signing import Signer
from tests.server.archive import test_parts
from tests.server.archive.test_parts import STANDS, resettled, rows

history = test_parts.history
distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:::distributed", "ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as made:
        yield made


def test_a_cluster_prints_what_one_process_prints(
    history: Path, cluster: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = resettled(capsys, history, "--jobs", 1)
    assert alone[0] == Exit.FINDINGS
    assert alone[1].count("\n") > 3, "several rounds change"
    assert resettled(capsys, history, *on(cluster, tmp_path)) == alone


def test_workers_killed_on_the_way_change_nothing(
    history: Path,
    cluster: object,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alone = resettled(capsys, history, "--jobs", 1)
    killed, submit = list[int](), distributed.Client.submit

    def submit_and_kill(client: object, *job: object, **how: object) -> object:
        future = submit(client, *job, **how)
        if not killed:
            killed.extend(pids(cluster))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        return future

    monkeypatch.setattr(distributed.Client, "submit", submit_and_kill)
    assert resettled(capsys, history, *on(cluster, tmp_path)) == alone
    assert len(killed) == 2
    assert not set(killed) & set(pids(cluster)), "other processes took over"


def test_the_auditors_report_is_the_same_and_signed(
    history: Path, cluster: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = Signer.create(tmp_path / "report.key")
    code, summary = resettled(capsys, history, "--report", tmp_path / "a", "--jobs", 1)
    there = ("--report", tmp_path / "b", *on(cluster, tmp_path / "parts"))
    signed = ("--key", tmp_path / "report.key")
    assert resettled(capsys, history, *there, *signed) == (code, summary)
    hands = (tmp_path / "a" / "changed_hands.jsonl").read_bytes()
    assert (tmp_path / "b" / "changed_hands.jsonl").read_bytes() == hands
    page, other = ((tmp_path / name / "report.html").read_bytes() for name in "ab")
    assert other.startswith(page)
    assert check_bundle(other, tmp_path).signer == key.fingerprint
    assert hashlib.sha256(hands).hexdigest() in page.decode()


def test_a_changed_day_is_refused_as_one_process_refuses_it(
    history: Path, cluster: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = history / "2026-03-02" / "judgements.parquet"
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[:50] + bytes([whole[50] ^ 1]) + whole[51:])
        alone = resettled(capsys, history, "--jobs", 1)
        assert alone[0] == Exit.REFUSED
        assert resettled(capsys, history, *on(cluster, tmp_path)) == alone
    finally:
        file.write_bytes(whole)


def test_a_cluster_that_cannot_be_reached_is_named(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("resettle", str(history), "--cluster", "tcp://127.0.0.1:9", *STANDS)
    assert run([*words, "--parts", str(tmp_path)]) == Exit.REFUSED
    assert "the cluster cannot be reached" in capsys.readouterr().err


def test_a_cluster_takes_any_files_and_writes_parquet(
    history: Path, cluster: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journals = history.parent / "journals"
    alone = resettled(capsys, journals, "--jobs", 1, "--out", tmp_path / "alone.parquet")
    words = (*on(cluster, tmp_path / "parts"), "--out", tmp_path / "there.parquet")
    assert resettled(capsys, journals, *words) == alone
    assert rows(tmp_path / "there") == rows(tmp_path / "alone") != []


def on(cluster: object, folder: Path) -> tuple[object, ...]:
    return "--cluster", cluster.scheduler_address, "--parts", folder  # type: ignore[attr-defined]


def pids(cluster: object) -> list[int]:
    return [one.pid for one in cluster.workers.values()]  # type: ignore[attr-defined]
