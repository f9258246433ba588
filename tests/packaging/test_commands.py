"""Every command of the installed program, beside files named like its own modules."""

import json
import shlex
import stat
from pathlib import Path

import cv2
import httpx
import pytest

from models.cards import Card
from server.commands.app import VERBS, verb
from server.commands.console import ACCOUNT, PASSWORD_FILE
from server.process.exit_status import Exit
from tests.packaging.readme import commands as readme_commands
from tests.packaging.running import Shell, answers, free_port
from tests.packaging.wheel import Installed
from tests.server.service.house import until
from tests.thoroughness import ALL
from tests.vision.snapshots import snapshot
from vision.scenes.decks import load_deck

pytestmark = pytest.mark.slow

DECOYS = (
    "models/__init__.py",
    "vision/__init__.py",
    "devices.py",
    "settlement.py",
    "simulation.py",
    "stream.py",
    "server.py",
    "queue.py",
    "random.py",
)
"""Names of the program's packages, and of two modules that Python's child processes import."""
RULES = "--rulebook kansas-shoe"
TABLE = "simulate evening --no-video --rounds 2 --spots 1,3 --seed 3 --mistake dealer_hit_hard_17"
FILM = "simulate filmed --rounds 1 --spots 2 --markers --size 1280x720 --fps 4"
FROM_FILM = (
    ("replay filmed --journal filmed.journal", None),
    ("incident export filmed --round 1 --journal filmed.journal --out 1.zip", Exit.CLEAN),
    ("verify 1.zip", Exit.UNPROVEN),
    ("calibrate filmed/overhead.mp4 filmed/layout.toml --picture check.png", Exit.CLEAN),
)
"""What reads a filmed session. At a commit README's commands do the same without the decoys."""
COMMANDS = (
    (TABLE, Exit.CLEAN),
    ("replay evening --journal evening.journal --facts facts.jsonl --report r.html", None),
    (f"settle facts.jsonl {RULES}", Exit.FINDINGS),
    (f"settle big {RULES} --jobs 2 --summary", Exit.FINDINGS),
    (f"resettle evening.journal {RULES} --set dealer_soft17=stand", None),
    ("review list evening.journal", None),
    ("review show evening.journal", None),
    ("review resolve evening.journal --round 1 --as stands --by ann", None),
    ("export evening.journal --what ledger --out ledger.csv", Exit.CLEAN),
    ("journal verify evening.journal", Exit.CLEAN),
    ("journal backup evening.journal copy.journal", Exit.CLEAN),
    ("archive write evening.journal history", Exit.CLEAN),
    ("archive verify history --journal evening.journal", Exit.CLEAN),
    ("journal restore copy.journal examples/evening.journal", Exit.CLEAN),
    ("journal archive examples/evening.journal examples/demo", Exit.CLEAN),
    ("restore examples data", Exit.REFUSED),  # the examples are no backup
    ("backup make examples backups", Exit.REFUSED),  # nor a site's data
    ("backup verify examples", Exit.REFUSED),
    ("incident verify facts.jsonl", Exit.REFUSED),
    ("journal clock-checked evening.journal --by ann", Exit.REFUSED),
    ("journal keys table.key", Exit.CLEAN),
    (FILM, Exit.CLEAN),
    *FROM_FILM,
    ("read examples/table.jpg", Exit.CLEAN),
    ("rulebooks list", Exit.CLEAN),
    ("rulebooks show kansas-shoe", Exit.CLEAN),
    ("rulebooks diff kansas-shoe home", Exit.CLEAN),
    ("decks learn ours ace.jpg", Exit.FINDINGS),
    ("decks list", Exit.CLEAN),
    ("decks show ours", Exit.CLEAN),
    ("decks check ours", Exit.FINDINGS),
    ("config check examples/table.toml --at-rest", Exit.CLEAN),
    ("config schema", Exit.CLEAN),
    ("verify-install", Exit.CLEAN),
    ("relay try relay.toml nobody", Exit.FINDINGS),
)
STARTED = (
    "examples",
    *("serve", "console", "run", "relay run", "relay letters", "relay resend"),
    *("report verify", "snapshot verify", "forward", "floor migrate", "floor status"),
    *("floor verify", "floor key", "floor epoch", "floor retire", "floor hold", "floor lift"),
)
"""Commands with a test of their own."""
OWN = (
    *("ace.jpg", "relay.toml", "secret", "big/BJ-01.jsonl", "big/BJ-02.jsonl"),
    *("report.pdf", "round.png", "service.pem", "journals"),
)
"""What the tests write themselves."""


def every_command() -> list[str]:
    found = {name: getattr(verb(name), "commands", {}) for name in VERBS}
    return sorted(f"{name} {one}".strip() for name, below in found.items() for one in below or [""])


@pytest.fixture(scope="module")
def shell(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A folder of the user's own modules, which an empty entry of PYTHONPATH would import."""
    folder = tmp_path_factory.mktemp("commands") / "work"
    for name in DECOYS:
        decoy = folder / name
        decoy.parent.mkdir(parents=True, exist_ok=True)
        decoy.write_text(f"raise RuntimeError('imported {name} of the working directory')\n")
    return Shell(installed, folder, {"PYTHONPATH": ":"}, umask=0)


@pytest.fixture(scope="module")
def driven(shell: Shell) -> Shell:
    """The folder once every command that ends by itself was run there."""
    cv2.imwrite(str(shell.folder / "ace.jpg"), snapshot(load_deck("casino-jumbo"), Card("AS"), 0))
    (shell.folder / "relay.toml").write_text(
        'service_url = "https://pitwatch.floor"\n[[destinations]]\nname = "nobody"\n'
        'kind = "webhook"\n[destinations.settings]\n'
        f'url = "http://127.0.0.1:{free_port()}/"\nsecrets = [{{ file = "secret" }}]\n'
    )
    (shell.folder / "secret").write_text("whsec_" + "A" * 43 + "=\n")
    shell.run("pitwatch examples examples", Exit.CLEAN)
    _write_big(shell.folder)
    if ALL:
        for line, status in COMMANDS:
            shell.run(f"pitwatch {line}", *_allowed(status))
    else:
        _run_in_one_process(shell, [one for one in COMMANDS if one not in FROM_FILM])
    return shell


def _allowed(status: Exit | None) -> tuple[Exit, ...]:
    return (Exit.CLEAN, Exit.FINDINGS) if status is None else (status,)


def _run_in_one_process(shell: Shell, commands: list[tuple[str, Exit | None]]) -> None:
    """Run commands after each other where the program was started once: its start costs most."""
    statuses = _statuses(shell, [line for line, _ in commands])
    for (line, due), status in zip(commands, statuses, strict=True):
        assert status in _allowed(due), (line, status)


def _statuses(shell: Shell, lines: list[str]) -> list[int]:
    """Run commands in one process of the installed program; return their exit statuses."""
    code = "import sys, pitwatch, json; pitwatch.leave_out_working_directory();"
    code += "from pitwatch.server.commands.app import run;"
    code += "print(json.dumps([run(line.split()) for line in sys.argv[1:]]))"
    shown = shell.run(shlex.join(["python", "-P", "-c", code, *lines]), Exit.CLEAN)
    statuses: list[int] = json.loads(shown.splitlines()[-1])
    return statuses


def _write_big(folder: Path) -> None:
    """Write facts enough for several processes: the same rounds again and again, at two tables."""
    (folder / "big").mkdir()
    told = (folder / "examples" / "facts.jsonl").read_text("utf-8")
    rounds = told.count('"round_opened"')
    for table in ("BJ-01", "BJ-02"):
        facts = [json.loads(line) | {"table": table} for line in told.splitlines()]
        with (folder / "big" / f"{table}.jsonl").open("w", encoding="utf-8") as file:
            for _ in range(1 + (2 << 20) // len(told)):
                file.writelines(json.dumps(fact) + "\n" for fact in facts)
                for fact in facts:
                    if fact["type"] == "round_opened":
                        fact["round"] += rounds


def test_readme_drives_what_is_left_out_at_a_commit() -> None:
    names = every_command()
    shown = [line.removeprefix("pitwatch ") for line in readme_commands()]
    for line, _ in FROM_FILM:
        (name,) = (one for one in names if line.startswith(f"{one} "))
        assert any(one.startswith(f"{name} ") for one in shown), name


def test_every_command_is_driven() -> None:
    words = {" ".join(line.split()[:depth]) for line, _ in COMMANDS for depth in (1, 2)}
    assert [name for name in every_command() if name not in words | {*STARTED}] == []


def test_every_command_prints_its_usage(shell: Shell) -> None:
    shell.run("pitwatch --help", Exit.CLEAN)
    assert set(_statuses(shell, [f"{name} --help" for name in every_command()])) == {Exit.CLEAN}


def test_what_ends_by_itself_runs(driven: Shell) -> None:
    from_film = ("1.zip", "check.png") if ALL else ()
    for name in ("r.html", "facts.jsonl", "ledger.csv", "copy.journal", *from_film):
        assert (driven.folder / name).stat().st_size > 0, name


def test_the_service_runs(driven: Shell) -> None:
    port = free_port()
    with driven.running(f"pitwatch serve . --port {port}", lambda: answers(port)):
        pass


def test_the_console_runs(driven: Shell) -> None:
    port = free_port()
    line = f"pitwatch console filmed --state console --port {port}"
    with driven.running(line, lambda: answers(port)):
        _save_report(driven, f"http://127.0.0.1:{port}")
    driven.run("pitwatch report verify report.pdf --key service.pem", Exit.CLEAN)
    line = "pitwatch snapshot verify round.png --key service.pem --recording filmed"
    driven.run(line, Exit.CLEAN)


def _snapshot(officer: httpx.Client) -> bytes:
    path = "/api/sessions/bj-01/rounds/1"
    until(lambda: officer.get(path).status_code == 200)
    at = officer.get(path).json()["at"]
    (camera, *_) = officer.get(f"{path}/footage").json()["cameras"]
    taken = officer.get(f"{path}/snapshots/{camera['name']}", params={"at": at})
    assert taken.status_code == 200, taken.text
    return taken.content


def _save_report(shell: Shell, url: str) -> None:
    """Save a signed report and the key that verifies it, as an officer does at the console."""
    word = (shell.folder / "console" / PASSWORD_FILE).read_text().strip()
    with httpx.Client(base_url=url, timeout=60) as officer:
        body = {"name": ACCOUNT, "password": word}
        assert officer.post("/api/sign-in", json=body).status_code == 200
        until(lambda: officer.get("/api/sessions/bj-01/report.pdf").status_code == 200)
        report = officer.get("/api/sessions/bj-01/report.pdf").content
        (shell.folder / "report.pdf").write_bytes(report)
        (shell.folder / "round.png").write_bytes(_snapshot(officer))
        (shell.folder / "service.pem").write_bytes(officer.get("/api/report-key").content)


def test_the_relay_runs(driven: Shell) -> None:
    (driven.folder / "journals").mkdir()
    line = "pitwatch relay run journals relay.toml --state relay"
    with driven.running(line, (driven.folder / "relay" / "relay.sqlite").is_file):
        driven.run("pitwatch relay letters --state relay", Exit.CLEAN)
        driven.run("pitwatch relay resend --state relay", Exit.CLEAN)


def test_a_live_table_runs_until_it_is_stopped(driven: Shell) -> None:
    """A process plays the simulated table's devices; the live table reads them."""
    config = driven.folder / "live-live" / "table.toml"
    film = "--rounds 1 --spots 2 --size 640x360 --fps 4"
    with driven.running(f"pitwatch simulate live {film} --live", config.exists):
        journal = config.with_name("BJ-01.journal")
        with driven.running(f"pitwatch run {config}", journal.exists):
            pass
        assert "intact" in driven.run(f"pitwatch journal verify {journal}", Exit.CLEAN)


def test_nobody_else_may_read_what_any_command_wrote(driven: Shell) -> None:
    """It runs last: every command before it was started with a umask that forbids nothing."""
    written = [one for one in driven.folder.rglob("*") if not one.is_symlink()]
    open_to_others = [
        f"{one.relative_to(driven.folder)}: {stat.S_IMODE(one.stat().st_mode):04o}"
        for one in written
        if one.stat().st_mode & 0o077 and _by_a_command(driven.folder, one)
    ]
    assert len(written) > 80
    assert open_to_others == []


def _by_a_command(folder: Path, one: Path) -> bool:
    own = {*DECOYS, *OWN}
    name = str(one.relative_to(folder))
    return not any(name == other or f"{other}/".startswith(f"{name}/") for other in own)
