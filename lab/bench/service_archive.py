"""A service over an archive: ``python -m lab.bench.service_archive --rounds 1000000``.

Writes the journals of forty tables, five hundred random rounds each a day (the days of a table
play the same cards at other times), starts the service over them without an index and again with
it, and asks for rounds. ``--keep FOLDER`` leaves the archive there, or takes the one that is there.
"""

import argparse
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any, Final

import httpx
from msgspec.structs import replace as with_fields

from models.events import Event
from models.judgements import RoundSettled
from server.house.rulebooks import rules_for
from server.service.store import INDEX_FILE
from settlement.engine import Engine
from settlement.ledger import post
from stream.journal import Journal
from tests.server.service.house import PASSWORD, token_for
from tests.settlement.plain.game import Game, style_of

TABLES: Final = 40
ROUNDS: Final = 500
"""A table's a day."""
_DAY_NS: Final = 86_400 * 10**9
_ROUND_NS: Final = 60 * 10**9
_BEGIN_NS: Final = 1_767_261_600 * 10**9
_ASKED: Final = 50


def main(argv: Sequence[str] | None = None) -> int:
    """Run it."""
    asked = _parser().parse_args(argv)
    with tempfile.TemporaryDirectory() as passing:
        folder = asked.keep or Path(passing)
        journals, state = folder / "journals", folder / "state"
        days = -(-asked.rounds // (TABLES * ROUNDS))
        if not journals.exists():
            began = time.perf_counter()
            events = _write(journals, days)
            print(
                f"{days * TABLES * ROUNDS:,} rounds, {events:,} events in {days * TABLES:,}"
                f" journals: {_gib(journals):.1f} GiB, written in"
                f" {time.perf_counter() - began:.0f} s",
                flush=True,
            )
        if not asked.warm:
            for file in state.glob(INDEX_FILE + "*"):
                file.unlink()
            _start(journals, state, "without an index", days)
            print(f"the index: {_gib(state):.2f} GiB", flush=True)
        _start(journals, state, "with its index", days)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--warm", action="store_true", help="the index is there already")
    return parser


# --- the archive ----------------------------------------------------------------------------


def _write(folder: Path, days: int) -> int:
    folder.mkdir(parents=True)
    written = 0
    for table in range(TABLES):
        rounds = list(_played(table))
        for day in range(days):
            begin_ns = _BEGIN_NS + day * _DAY_NS
            with Journal.create(folder / f"bj-{table:02}-{day:03}.journal") as journal:
                journal.append_all(
                    event
                    for number, events in enumerate(rounds)
                    for event in _at(events, begin_ns + number * _ROUND_NS)
                )
                written += journal.last_seq
    return written


def _played(table: int) -> Iterator[list[Event]]:
    """Yield a day's rounds: facts, the engine's results, and the ledger."""
    rules = rules_for("kansas-shoe")
    engine, name = Engine(rules), f"BJ-{table:02}"
    style = replace(style_of(random.Random(table)), marked=True)
    for played in Game(rules, f"archive:{table}", spots=2, style=style).rounds(ROUNDS):
        events: list[Event] = []
        for seq, fact in enumerate(played.facts, played.first):
            events.append(with_fields(fact, table=name))
            for result in engine.feed(fact, seq):
                events += [RoundSettled(table=name, result=result)]
                events += [with_fields(line, table=name) for line in post(result)]
        yield events


def _at(events: Sequence[Event], begin_ns: int) -> Iterator[Event]:
    step_ns = _ROUND_NS // (len(events) + 1)
    for place, event in enumerate(events):
        yield with_fields(event, at=begin_ns + place * step_ns)


def _gib(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.iterdir()) / 2**30


# --- the service ----------------------------------------------------------------------------


def _start(journals: Path, state: Path, how: str, days: int) -> None:
    began = time.perf_counter()
    with _service(journals, state) as (url, pid):
        _until(lambda: _is(url + "/health"))
        answers_s = time.perf_counter() - began
        _until(lambda: _is(url + "/ready"))
        ready_s = time.perf_counter() - began
        client = _officer(url, state)
        print(
            f"{how}: answers after {answers_s:.1f} s, everything read after {ready_s:.1f} s"
            f" ({_cpu_s(pid):.1f} s of CPU), {_mib(pid):.0f} MiB",
            flush=True,
        )
        for what, path in _questions(days):
            _ask(client, what, path)
        print(f"    then {_mib(pid):.0f} MiB", flush=True)


def _questions(days: int) -> list[tuple[str, Callable[[random.Random], str]]]:
    def a_time(chance: random.Random) -> str:
        at_ns = _BEGIN_NS + chance.randrange(days) * _DAY_NS + chance.randrange(ROUNDS) * _ROUND_NS
        return f"/api/tables/BJ-{chance.randrange(TABLES):02}/rounds/at/{at_ns}"

    def a_number(chance: random.Random) -> str:
        session = f"bj-{chance.randrange(TABLES):02}-{chance.randrange(days):03}"
        return f"/api/sessions/{session}/rounds/{1 + chance.randrange(ROUNDS)}"

    def of_a_table(chance: random.Random) -> str:
        number = 1 + chance.randrange(ROUNDS)
        return f"/api/rounds?table=BJ-{chance.randrange(TABLES):02}&round={number}"

    return [
        ("a table's round at a time", a_time),
        ("a session's round by its number", a_number),
        ("a table's rounds of a number", of_a_table),
        ("the newest rounds", lambda _: "/api/rounds"),
        ("the newest incidents", lambda _: "/api/incidents"),
        ("mistakes of a kind there is none of", lambda _: "/api/violations?code=foreign_card"),
        ("every table", lambda _: "/api/tables"),
    ]


def _ask(client: httpx.Client, what: str, path: Callable[[random.Random], str]) -> None:
    chance, took = random.Random(what), []
    for _ in range(_ASKED):
        began = time.perf_counter()
        client.get(path(chance)).raise_for_status()
        took.append((time.perf_counter() - began) * 1000)
    print(f"    {what}: median {median(took):.1f} ms, worst {max(took):.1f} ms", flush=True)


@contextmanager
def _service(journals: Path, state: Path) -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    words = [sys.executable, "-m", "server", "serve", str(journals), "--state", str(state)]
    with subprocess.Popen([*words, "--port", str(port)], stderr=subprocess.DEVNULL) as process:
        try:
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            process.terminate()


def _until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.2)


def _is(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.HTTPError:
        return False


def _officer(url: str, state: Path) -> httpx.Client:
    """Sign in as surveillance; the account is made at the first start."""
    token_for(url, state, "surveillance")
    officer = httpx.Client(base_url=url, timeout=120)
    _sign_in(officer, "surveillance", PASSWORD)
    return officer


def _sign_in(client: httpx.Client, name: str, password: str) -> None:
    sent: Any = client.post("/api/sign-in", json={"name": name, "password": password})
    client.headers["X-CSRF-Token"] = sent.raise_for_status().json()["csrf"]


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _mib(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4 / 1024


if __name__ == "__main__":
    sys.exit(main())
