"""Whole archives through the command line: what is taken, in which order, and what is refused."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from models.events import AnyFact, RoundOpened
from server.archive import worker_pool as crew
from server.commands.app import run
from server.process.exit_status import Exit
from tests.server.evenings import as_file, as_journal, evening, judged, lines, packed
from tests.thoroughness import one_in

RULES = ("--rulebook", "kansas-shoe")
EXAMPLE = Path(__file__).parents[3] / "server" / "examples" / "facts.jsonl"


def settled(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, list[Any]]:
    code = run(["settle", *map(str, arguments), *RULES, "--json"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def summed(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    run(["settle", *map(str, arguments), *RULES, "--json", "--summary"])
    return json.loads(capsys.readouterr().out)


def rounds(results: list[Any]) -> list[Any]:
    """Leave off which file and table a round is of."""
    return [
        {key: value for key, value in result.items() if key not in ("file", "table")}
        for result in results
    ]


# --- what is taken ------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".ndjson", ".txt"])
def test_an_event_file_settles_whatever_it_is_packed_in(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = as_file(tmp_path / "plain.jsonl", evening(4))
    file = as_file(tmp_path / f"evening{ending}", evening(4))
    assert settled(capsys, file) == settled(capsys, plain)


def test_a_journal_settles_as_its_facts_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = judged(evening(4, table="BJ-07"))
    file = as_file(tmp_path / "facts.jsonl", events)
    journal = as_journal(tmp_path / "BJ-07.journal", events)
    assert settled(capsys, journal) == settled(capsys, file)


def test_a_damaged_journal_is_refused_by_its_entry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = as_journal(tmp_path / "BJ-07.journal", evening(1))
    journal.write_bytes(journal.read_bytes().replace(b"card_dealt", b"card_dealT", 1))
    assert run(["settle", str(journal), *RULES]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "entry" in printed.err


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Two tables' evenings, one of them a session, beside files that hold no facts."""
    folder = tmp_path / "november"
    as_file(folder / "BJ-07" / "monday.jsonl", evening(3, 1, table="BJ-07"))
    as_file(folder / "BJ-07" / "tuesday.jsonl.gz", evening(3, 2, table="BJ-07"))
    session = folder / "BJ-08" / "monday"
    as_file(session / "truth.jsonl", judged(evening(2, 3, table="BJ-08")))
    (session / "session.toml").write_text("")
    (session / "console.jsonl").write_text("not read\n")
    (folder / "README").write_text("not read\n")
    (folder / ".hidden.jsonl").write_text("not read\n")
    return folder


ORDER = [
    ("BJ-07", "monday.jsonl", 3),
    ("BJ-07", "tuesday.jsonl.gz", 3),
    ("BJ-08", "truth.jsonl", 2),
]


def test_a_folder_gives_its_event_files_in_order_of_their_names(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, results = settled(capsys, archive)
    assert code == 0
    expected = [(table, file) for table, file, many in ORDER for _ in range(many)]
    assert [(result["table"], Path(result["file"]).name) for result in results] == expected


@pytest.mark.parametrize("ending", [".zip", ".tar", ".tar.gz", ".tar.xz"])
def test_an_archive_settles_as_the_folder_that_was_packed(
    ending: str, archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = packed(archive, tmp_path / f"november{ending}")
    code, results = settled(capsys, file)
    assert (code, rounds(results)) == (0, rounds(settled(capsys, archive)[1]))
    assert results[0]["file"] == f"{file}/BJ-07/monday.jsonl"


def test_a_sessions_journal_stands_for_its_truth(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    as_journal(archive / "BJ-08" / "monday" / "kept.journal", evening(1, 9, table="BJ-08"))
    _, results = settled(capsys, archive)
    assert [Path(result["file"]).name for result in results[6:]] == ["kept.journal"]
    file = packed(archive, tmp_path / "november.tar.gz")
    assert rounds(settled(capsys, file)[1]) == rounds(results)


def test_a_pattern_gives_the_files_that_match(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, results = settled(capsys, archive / "*" / "monday.jsonl")
    assert {Path(result["file"]).name for result in results} == {"monday.jsonl"}


def test_tables_in_one_file_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [*evening(1, 1, table="BJ-07"), *evening(1, 2, table="BJ-08")]
    _, results = settled(capsys, as_file(tmp_path / "both.jsonl", both))
    assert [result["table"] for result in results] == ["BJ-07", "BJ-08"]


# --- several processes --------------------------------------------------------------------


@pytest.mark.parametrize("output", [["--json"], ["--findings"], []], ids=["json", "found", "all"])
def test_several_processes_print_what_one_prints(
    output: list[str],
    archive: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(crew, "_WORTH_A_POOL", 0)
    as_file(archive / "bad.jsonl", []).write_text("{}\n")
    alone = run(["settle", str(archive), *RULES, *output, "--jobs", "1"]), capsys.readouterr()
    together = run(["settle", str(archive), *RULES, *output, "--jobs", "2"]), capsys.readouterr()
    assert alone == together
    assert alone[0] == 2
    assert "BJ-07" in alone[1].out or output == ["--findings"]


# --- what is refused ----------------------------------------------------------------------


def test_a_bad_file_among_many_is_refused_whole_and_the_others_settle(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = archive / "BJ-07" / "tuesday.jsonl"
    bad.write_bytes(lines(evening(3)) + b'{"type":"card_dealt","to":0,"card":"AS"}\n')
    line = bad.read_bytes().count(b"\n")
    code = run(["settle", str(archive), *RULES, "--json"])
    printed = capsys.readouterr()
    assert code == 2
    assert len(printed.out.splitlines()) == 8
    refusal, count = printed.err.splitlines()
    assert f"{bad}:{line}" in refusal
    assert "field 'to'" in refusal
    assert "1 of 4 files refused, 3 settled" in count


def test_a_long_file_is_checked_to_its_end_before_its_first_round_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.archive.settling._HELD", 10)
    file = as_file(tmp_path / "long.jsonl", evening(3))
    whole = settled(capsys, file)
    assert len(whole[1]) == 3
    with file.open("ab") as more:
        more.write(b"{}\n")
    assert settled(capsys, file) == (2, [])


@pytest.mark.parametrize("ending", [".zip", ".tar", ".tar.gz", ".jsonl.gz"])
def test_a_damaged_archive_is_refused_by_name(
    ending: str, archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"november{ending}"
    if ending == ".jsonl.gz":
        as_file(file, evening(3))
    else:
        packed(archive, file)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert run(["settle", str(file), *RULES]) == 2
    printed = capsys.readouterr().err
    assert str(file) in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize("ending", [".zip", ".tar", ".tar.gz", ".tar.xz", ".jsonl.gz", ".journal"])
def test_whatever_happened_to_an_archive_it_is_refused_or_read(
    ending: str, archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bytes turned, zeroed and cut by the hundred: each file is refused by name, or sound."""
    as_journal(archive / "table.journal", evening(1, 5))
    whole = {".jsonl.gz": archive / "BJ-07/tuesday.jsonl.gz", ".journal": archive / "table.journal"}
    data = (whole.get(ending) or packed(archive, tmp_path / f"whole{ending}")).read_bytes()
    file = tmp_path / f"damaged{ending}"
    for case in one_in(3, range(60)):
        chance = Random(case)
        at, many = chance.randrange(len(data)), chance.choice([1, 1, 40, 512, len(data)])
        put = bytes(chance.randrange(256) for _ in range(many)) if case % 2 else b""
        file.write_bytes(data[:at] + put + data[at + many :])
        code = run(["settle", str(file), *RULES, "--summary", "--json"])
        printed = capsys.readouterr().err
        assert code in (0, 2, 3)
        assert (str(file) in printed) is (code == 2)


def test_a_journal_whose_schema_is_no_text_is_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = as_journal(tmp_path / "BJ-07.journal", evening(1))
    journal.write_bytes(
        journal.read_bytes().replace(
            b"CREATE TABLE entries", b"CREATE \xe5\xe5ABLE entries"[:20], 1
        )
    )
    assert run(["settle", str(journal), *RULES]) == 2
    assert "damaged" in capsys.readouterr().err


def test_an_empty_place_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.md").write_text("no facts")
    assert run(["settle", str(tmp_path), *RULES]) == 2
    assert "no event file" in capsys.readouterr().err


# --- totals -------------------------------------------------------------------------------


def test_the_totals_are_the_sums_of_what_is_printed(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, results = settled(capsys, archive)
    hands = [hand for result in results for spot in result["spots"] for hand in spot["hands"]]
    insured = [s["insurance"] for result in results for s in result["spots"] if s["insurance"]]
    nets = [one["net"] for one in (*hands, *insured)]
    summary = summed(capsys, archive)["summary"]
    assert (summary["files"], summary["rounds"], summary["hands"]) == (3, 8, len(hands))
    assert summary["paid"] == sum(net for net in nets if net > 0)
    assert summary["taken"] == -sum(net for net in nets if net < 0)
    assert summary["house"] == sum(result["net"] for result in results)
    assert summary["wagered"] == sum(one["stake"] for one in (*hands, *insured))
    assert summary["hold"] == pytest.approx(summary["house"] / summary["wagered"], abs=1e-6)


def test_wrong_payments_are_summed_by_whom_they_favour(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = lines(evening(1)).decode().splitlines()
    paid = [n for n, line in enumerate(text) if "payment_made" in line and '"amount":0' not in line]
    for n, off in zip(paid[:2], (700, -300), strict=True):
        fact = json.loads(text[n])
        text[n] = json.dumps(fact | {"amount": fact["amount"] + off})
    del text[paid[2]]
    file = tmp_path / "paid.jsonl"
    file.write_text("\n".join(text))
    missing = json.loads(lines(evening(1)).decode().splitlines()[paid[2]])["amount"]
    summary = summed(capsys, file)["summary"]
    assert summary["overpaid"] == 700 + max(-missing, 0)
    assert summary["underpaid"] == 300 + max(missing, 0)
    assert summary["violations"]["wrong_payout"] == {"count": 2, "clause": "payment.due"}


def test_open_stakes_are_no_part_of_the_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "open.jsonl"
    file.write_text(
        '{"type":"wager_placed","spot":1,"kind":"main","amount":1000}\n'
        '{"type":"card_dealt","to":1,"card":"TS","face":"up"}\n'
    )
    summary = summed(capsys, file)["summary"]
    assert (summary["wagered"], summary["open_stakes"], summary["pending"]) == (0, 1000, 1)
    assert (summary["hold"], summary["not_final"]) == (None, 1)


def test_findings_alone_are_printed_when_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = as_file(tmp_path / "errs.jsonl", evening(5, mistakes=("dealer_hit_hard_17",)))
    assert run(["settle", str(file), *RULES, "--findings", "--json"]) == 3
    (result,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert [found["code"] for found in result["violations"]] == ["dealer_hit_hard_17"]


# --- pipes --------------------------------------------------------------------------------


def pitwatch(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "server", "settle", *map(str, arguments), *RULES]


def numbered_from(number: int, facts: Iterable[AnyFact]) -> list[AnyFact]:
    """Return an evening of one round that follows others."""
    return [
        replace(fact, round=number) if isinstance(fact, RoundOpened) else fact for fact in facts
    ]


@pytest.mark.slow
def test_facts_on_stdin_settle_with_what_follows_them() -> None:
    """A payment may belong to a round until the next wager, card or opening."""
    first, second = evening(1), numbered_from(2, evening(1, 2))
    with subprocess.Popen(
        pitwatch("-", "--json"), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        opening = 1 + next(n for n, fact in enumerate(second) if isinstance(fact, RoundOpened))
        running.stdin.write(lines([*first, *second[:opening]]))
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["status"] == "final"
        running.stdin.write(lines(second[opening:]))
        running.stdin.close()
        assert json.loads(running.stdout.readline())["status"] == "final"
        assert running.stdout.read() == b""
        assert running.wait() == 0


@pytest.mark.slow
def test_what_follows_a_bad_line_on_stdin_is_not_settled() -> None:
    told = lines(evening(2)) + b"{}\n" + lines(evening(2, 2))
    done = subprocess.run(pitwatch("-", "--json"), input=told, capture_output=True, check=False)
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 2
    bad = len(evening(2)) + 1
    assert f"stdin:{bad}:".encode() in done.stderr


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_ends_it_in_one_line(tmp_path: Path) -> None:
    file = as_file(tmp_path / "long.jsonl", evening(200))
    with subprocess.Popen(
        pitwatch(file, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline()
        running.stdout.close()
        told = running.stderr.read()
    assert told == b"pitwatch: stdout: it was closed before everything was printed\n"


@pytest.mark.slow
def test_an_interrupt_ends_it_without_a_word_too_many() -> None:
    # What a shell runs in its background starts deaf to interrupts, and so do its children.
    heedful = ["env", "--default-signal=INT"]
    with subprocess.Popen(
        [*heedful, *pitwatch("-", "--json")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(lines(evening(2)))
        running.stdin.flush()
        assert running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert b"Traceback" not in running.stderr.read()
        assert running.wait() == 130


def test_a_round_that_a_journal_leaves_to_a_person_is_not_settled_as_certain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a replay: its mistakes are suspected, its stakes open."""
    file = tmp_path / "table.jsonl"
    item = {"what": "2H may be misread", "candidates": [], "evidence": [1]}
    raised = {"type": "review_raised", "round": 2, "review": item}
    told = EXAMPLE.read_text().splitlines()
    file.write_text("\n".join([*told[:-1], json.dumps(raised), told[-1]]) + "\n")
    assert run(["settle", str(file), *RULES, "--summary", "--json"]) == Exit.FINDINGS
    found = json.loads(capsys.readouterr().out)["summary"]
    assert (found["rounds"], found["not_final"], found["in_review"]) == (2, 1, 1)
    assert found["violations"] == {}
    assert set(found["suspected"]) == {"dealer_hit_hard_17", "wrong_payout"}
    assert (found["open_stakes"], found["wagered"], found["underpaid"]) == (4500, 3500, 0)
    assert run(["settle", str(file), *RULES]) == Exit.FINDINGS
    printed = " ".join(capsys.readouterr().out.split())
    assert "went wrong 0 mistakes 2 suspected mistakes in rounds under review" in printed
    assert "1 wrong_payout Was a spot paid wrongly?" in printed
    assert "? 2♥ may be misread" in printed
