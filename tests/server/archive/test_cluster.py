"""A cluster settles an archive as one process does, byte for byte, also where its workers die."""

import hashlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import duckdb
import msgspec
import pytest

from server.archive.archives import sources
from server.archive.audit import ChangedHand, figures_of
from server.bundle.bundle import check_bundle
from server.commands.app import run
from server.process.exit_status import Exit
from stream.journal import Journal
from stream.signing import Signer
from tests.server.archive.test_history import FIRST_NS, SECOND_NS, on_day
from tests.server.evenings import evening, judged

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore:::distributed", "ignore::ResourceWarning")
STANDS = ("--rulebook", "kansas-shoe", "--set", "dealer_soft17=stand", "--json")
TABLES, DAYS = 5, 2


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("floor")
    (folder / "journals").mkdir()
    for number in range(TABLES * DAYS):
        table, hour = f"BJ-{number % TABLES:02}", 5 + 24 * (number // TABLES)
        events = on_day(
            judged(evening(40, number, table=table)), FIRST_NS + hour * 3600 * SECOND_NS
        )
        with Journal.create(folder / "journals" / f"{number}.journal", table=table) as journal:
            journal.append_all(events)
    written = run(["archive", "write", str(folder / "journals"), str(folder / "history")])
    assert written == Exit.CLEAN
    return folder / "history"


@pytest.fixture(scope="module")
def cluster() -> Iterator[object]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as made:
        yield made


def resettled(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    capsys.readouterr()
    code = run(["resettle", *map(str, words), *STANDS])
    return code, capsys.readouterr().out


def test_a_cluster_prints_what_one_process_prints(
    history: Path, cluster: object, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = resettled(capsys, history, "--jobs", 1)
    assert alone[0] == Exit.FINDINGS
    assert alone[1].count("\n") > 3, "several rounds change"
    assert resettled(capsys, history, "--cluster", address(cluster)) == alone


@pytest.mark.slow
def test_workers_killed_on_the_way_change_nothing(
    history: Path,
    cluster: object,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from server.archive import cluster as module  # noqa: PLC0415 - its library is an extra

    alone = resettled(capsys, history, "--jobs", 1)
    killed, settle_next = list[int](), module._next

    def kill_first(under_way: object) -> object:
        if not killed:
            killed.extend(pids(cluster))
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
        return settle_next(under_way)  # type: ignore[arg-type]  # passed on as it is

    monkeypatch.setattr(module, "_next", kill_first)
    assert resettled(capsys, history, "--cluster", address(cluster)) == alone
    assert len(killed) == 2
    assert not set(killed) & set(pids(cluster)), "other processes took over"


def test_the_auditors_report_is_the_same_and_signed(
    history: Path, cluster: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = Signer.create(tmp_path / "report.key")
    code, summary = resettled(capsys, history, "--report", tmp_path / "a", "--jobs", 1)
    there = ("--report", tmp_path / "b", "--cluster", address(cluster))
    signed = ("--key", tmp_path / "report.key")
    assert resettled(capsys, history, *there, *signed) == (code, summary)
    hands = (tmp_path / "a" / "changed_hands.jsonl").read_bytes()
    assert (tmp_path / "b" / "changed_hands.jsonl").read_bytes() == hands
    page, other = ((tmp_path / name / "report.html").read_bytes() for name in "ab")
    assert other.startswith(page)
    assert check_bundle(other, tmp_path).signer == key.fingerprint
    assert hashlib.sha256(hands).hexdigest() in page.decode()


def test_each_figure_is_the_sum_of_the_hands_behind_it(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, summary = resettled(capsys, history, "--report", tmp_path / "a", "--jobs", 1)
    lines = (tmp_path / "a" / "changed_hands.jsonl").read_bytes().splitlines()
    hands = [msgspec.json.decode(line, type=ChangedHand) for line in lines]
    whole = sum(one.house_difference or 0 for one in hands)
    figures = figures_of(lines)
    assert figures.whole.house_difference == whole
    said = msgspec.json.decode(summary)["summary"]
    assert said["opened"] or whole == said["house_difference"]
    with duckdb.connect() as database:
        file = tmp_path / "a" / "changed_hands.jsonl"
        for column, by in (
            ("table", figures.tables),
            ("week", figures.weeks),
            ("shift", figures.shifts),
            ("clauses", figures.clauses),
        ):
            found = database.execute(
                f'SELECT "{column}", sum(house_difference)::BIGINT, count(*), '
                f"count(DISTINCT (file, round)) FROM read_json('{file}') GROUP BY 1"
            ).fetchall()
            mine = {
                key: (one.house_difference if one.open < one.hands else None, one.hands, one.rounds)
                for key, one in by.items()
            }
            assert {key: tuple(rest) for key, *rest in found} == mine
    assert set(figures.weeks) == {"2026-W09", "2026-W10"}
    assert len(figures.tables) > 2


def test_a_changed_day_is_refused_as_one_process_refuses_it(
    history: Path, cluster: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = history / "2026-03-02" / "judgements.parquet"
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[:50] + bytes([whole[50] ^ 1]) + whole[51:])
        alone = resettled(capsys, history, "--jobs", 1)
        assert alone[0] == Exit.REFUSED
        assert resettled(capsys, history, "--cluster", address(cluster)) == alone
    finally:
        file.write_bytes(whole)


@pytest.mark.slow  # Dask tries to connect for ten seconds
def test_what_a_cluster_cannot_do_is_said(
    history: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(["resettle", str(history), "--cluster", "tcp://127.0.0.1:9", *STANDS]) == Exit.REFUSED
    )
    assert "the cluster cannot be reached" in capsys.readouterr().err
    out = ("--out", str(tmp_path / "a.parquet"), "--cluster", "tcp://127.0.0.1:9")
    assert run(["resettle", str(history), *out, *STANDS]) == Exit.REFUSED
    assert "neither with --cluster" in capsys.readouterr().err


def test_a_cluster_takes_only_archived_days(
    history: Path, cluster: object, capsys: pytest.CaptureFixture[str]
) -> None:
    journals = history.parent / "journals"
    words = ["resettle", str(journals), "--cluster", address(cluster), *STANDS]
    assert run(words) == Exit.REFUSED
    assert "archived days only" in capsys.readouterr().err
    assert len(sources([str(history)])) == DAYS


def address(cluster: object) -> str:
    return str(cluster.scheduler_address)  # type: ignore[attr-defined]


def pids(cluster: object) -> list[int]:
    return [one.pid for one in cluster.workers.values()]  # type: ignore[attr-defined]
