"""The site's files on a clean machine: installed by the page's own commands, run as its units."""

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

from server.process.exit_status import Exit
from tests.deploy.clean_root import USER, CleanRoot, Unit, clean_root, unit_in, why_not
from tests.deploy.tools import DEPLOY, ROOT

PITWATCH: Final = "/opt/pitwatch/current/.venv/bin/pitwatch"
PYTHON: Final = "/opt/pitwatch/current/.venv/bin/python"
STATE: Final = "/var/lib/pitwatch"
SECRETS: Final = "/etc/pitwatch/secrets"
TABLE: Final = unit_in(DEPLOY / "systemd" / "pitwatch-table@.service", "BJ-07")
SERVICE: Final = unit_in(DEPLOY / "systemd" / "pitwatch-service.service")
FORWARD: Final = unit_in(DEPLOY / "systemd" / "pitwatch-forward.service")
BACKUP: Final = unit_in(DEPLOY / "systemd" / "pitwatch-backup.service")
ANY_UNIT: Final = Unit(
    (("User", USER), ("Group", USER), ("UMask", "0077"), ("LoadCredential", "own:/etc/passwd"))
)
_DUE_S: Final = 60
_CERTIFICATE: Final = """
openssl req -x509 -newkey rsa:2048 -nodes -keyout /root/tls.key -out /root/tls.crt -days 2 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>/dev/null
chmod 0644 /root/tls.key
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(why_not() is not None, reason=why_not() or "")]


def documented() -> str:
    """Return the commands of the page's part on systemd."""
    page = (ROOT / "docs" / "deploy.md").read_text()
    part = page.split("## With systemd\n")[1].split("\n## ")[0]
    return "\n".join(re.findall(r"```\n(.*?)```", part, re.DOTALL))


@pytest.fixture(scope="module")
def site() -> Iterator[CleanRoot]:
    """A machine on which the page's commands were run, and nothing else."""
    try:
        with clean_root() as root:
            root.done(_CERTIFICATE)
            root.done(documented())
            root.done("echo '*:*:*:*:word' >/root/pgpass")
            root.done(f"install -m 0600 /root/pgpass {SECRETS}/pgpass && touch {SECRETS}/floor")
            yield root
    except PermissionError as fault:
        pytest.skip(str(fault))


@pytest.fixture(scope="module")
def recording(site: CleanRoot) -> str:
    """The session folder of a table that ran without a shoe until it was stopped."""
    with site.started(TABLE) as running:
        assert running.stderr is not None
        lines = []
        for line in running.stderr:
            lines.append(line)
            if "LOST" in line:
                break
        assert running.poll() is None, lines
        assert "shoe" in lines[-1], lines
        running.send_signal(signal.SIGTERM)
        _, rest = running.communicate(timeout=_DUE_S)
    allowed = {Exit.CLEAN, *map(int, TABLE.words("SuccessExitStatus"))}
    assert running.returncode in allowed, rest
    recorded = re.search(rf"recorded in ({STATE}/recordings/\S+)", rest)
    assert recorded is not None, rest
    return recorded[1]


@pytest.fixture(scope="module")
def served(site: CleanRoot) -> int:
    """The exit status of a service that was stopped once it had answered through nginx."""
    with site.started(SERVICE) as running:
        site.done("nginx")
        asked = "curl -sf --cacert /root/tls.crt https://localhost{}/health"
        answered = all(_soon(site, asked.format(port), running) for port in ("", ":8443"))
        site.done("nginx -s quit")
        running.send_signal(signal.SIGTERM)
        _, printed = running.communicate(timeout=_DUE_S)
    assert answered, printed
    return running.returncode


@pytest.mark.parametrize("above", [Path("/tmp"), Path("/run"), Path("/home")], ids=str)
def test_a_unit_sees_the_checkout_wherever_it_lies(above: Path) -> None:
    """Also below folders that a unit has to itself, and where a shell would cut the name."""
    with TemporaryDirectory(prefix="it's here ", dir=above) as place:
        Path(place).chmod(0o755)
        (Path(place) / "kept").write_text("seen")
        try:
            with clean_root(Path(place)) as root:
                root.done(f"echo u {USER} - | systemd-sysusers -")
                ran = root.run_as(ANY_UNIT, "cat /opt/pitwatch/current/kept")
        except PermissionError as fault:
            pytest.skip(str(fault))
    assert ran.stdout == "seen", ran.stderr


def test_the_example_is_sound_where_the_page_puts_it(site: CleanRoot) -> None:
    (check,) = TABLE.all("ExecStartPre")
    ran = site.run_as(TABLE, check)
    assert ran.returncode == Exit.CLEAN, ran.stdout + ran.stderr


def test_nothing_but_its_devices_is_missing_to_the_table(site: CleanRoot) -> None:
    """The whole check, with the folders and the key of this machine."""
    ran = site.run_as(TABLE, f"{PITWATCH} config check /etc/pitwatch/tables/BJ-07.toml --json")
    faults = json.loads(ran.stdout)["faults"]
    assert {fault["field"] for fault in faults} == {"ports[0].url", "ports[1].url"}


def test_a_table_runs_without_a_shoe_and_stops_in_order(site: CleanRoot, recording: str) -> None:
    verified = f"{PITWATCH} journal verify {STATE}/journals/BJ-07.journal --key "
    site.done(verified + f"{SECRETS}/BJ-07.key.pub.pem", USER)


def test_everything_that_a_table_writes_lies_under_the_state_folder(
    site: CleanRoot, recording: str
) -> None:
    made = site.done(f"find {STATE} -name '*.journal' -o -name session.toml").splitlines()
    assert f"{STATE}/journals/BJ-07.journal" in made
    assert f"{recording}/session.toml" in made
    assert not site.done("find /etc/pitwatch -name '*.journal' -o -name recordings")


def test_a_table_may_write_nothing_of_the_service(site: CleanRoot) -> None:
    assert _refused(site, TABLE, f"touch {STATE}/service/planted")
    assert _refused(site, TABLE, "touch /etc/pitwatch/tables/planted")


def test_the_service_answers_over_tls_and_stops_in_order(served: int) -> None:
    assert served in {Exit.CLEAN, Exit.TERMINATED, -signal.SIGTERM}


def test_the_service_holds_a_recording_that_it_cannot_change(
    site: CleanRoot, recording: str
) -> None:
    hold = "from pathlib import Path; from server.archive.incident import hold; "
    ran = site.run_as(SERVICE, f'{PYTHON} -c \'{hold}hold(Path("{recording}"), "case 7")\'')
    assert ran.returncode == 0, ran.stderr
    assert _refused(site, SERVICE, f"touch {recording}/planted")
    assert _refused(site, SERVICE, f"rm {recording}/session.toml")
    seen = "from pathlib import Path; from server.table.recorder import is_held; "
    seen += f'print([one.name for one in Path("{STATE}/recordings").iterdir() if is_held(one)])'
    ran = site.run_as(TABLE, f"{PYTHON} -c '{seen}'")
    assert recording.rpartition("/")[2] in ran.stdout, ran.stdout + ran.stderr


@pytest.mark.parametrize("unit", [SERVICE, FORWARD], ids=["service", "forwarder"])
def test_what_the_network_reaches_reads_journals_and_can_neither_write_nor_sign_one(
    site: CleanRoot, recording: str, unit: Unit
) -> None:
    (who,) = unit.all("User")
    assert who != USER
    journal = f"{STATE}/journals/BJ-07.journal"
    read = site.run_as(unit, f"{PITWATCH} journal verify {journal}")
    assert read.returncode == Exit.CLEAN, read.stdout + read.stderr
    assert site.run_as(unit, f"ls {recording}/session.toml").returncode == 0
    assert _refused(site, unit, f"cat {SECRETS}/BJ-07.key")
    for where in (f"{STATE}/journals", recording):
        assert _refused(site, unit, f"touch {where}/planted")
    assert _refused(site, unit, f"sh -c 'echo x >> {journal}'")
    # Not by the sandbox alone: by the rights of the files.
    for refused in (f"cat {SECRETS}/BJ-07.key", f"echo x >> {journal}", f"touch {recording}/x"):
        assert "Permission denied" in site.run(refused, who).stderr, refused
    assert site.run(f"cat {journal}", "nobody").returncode != 0


def test_a_running_table_is_read_and_takes_decisions_from_the_service(site: CleanRoot) -> None:
    """Its journal, write-ahead log included, and its socket; one that does not run is refused."""
    journal = f"{STATE}/journals/BJ-07.journal"
    decided = f"{PITWATCH} review resolve {journal} --round 99 --item 0 --as stands --by ann"
    stopped = site.run_as(SERVICE, decided)
    assert "its table is not running" in stopped.stderr, stopped.stderr
    with site.started(TABLE) as running:
        assert _soon(site, f"test -S {journal}.desk", running)
        shown = site.run_as(SERVICE, f"{PITWATCH} journal verify {journal} --json")
        modes = site.done(f"stat -c '%a %n' {journal}*").splitlines()
        answered = {unit: site.run_as(unit, decided).stderr for unit in (SERVICE, FORWARD)}
        running.send_signal(signal.SIGTERM)
        running.communicate(timeout=_DUE_S)
    assert json.loads(shown.stdout)["sealed"] is False, "it was being written"
    assert f"640 {journal}" in modes
    assert f"640 {journal}-wal" in modes
    assert f"660 {journal}.desk" in modes
    for printed in answered.values():
        assert "not running" not in printed
        assert "BJ-07.journal" in printed


def test_evidence_is_exported_by_the_sites_user(site: CleanRoot, recording: str) -> None:
    """The journal is found in the site's folders; the recording is held."""
    begun_ns = int(recording.rpartition("-")[2])
    begun, ended = (_utc(begun_ns + add) for add in (0, 10**9))
    out = f"{STATE}/evidence.zip"
    site.done(
        f"{PITWATCH} incident export {recording} --from {begun} --to {ended} --out {out}", USER
    )
    name = recording.rpartition("/")[2]
    assert "evidence.zip" in site.done(f"cat {STATE}/recordings/holds/{name}")


def test_keys_are_readable_by_the_services_user_and_nobody_else(
    site: CleanRoot, served: int
) -> None:
    folders = f"{SECRETS} {STATE}/service"
    found = site.done(f"find {folders} -type f -name '*.key' -printf '%m %u %p\\n'").splitlines()
    assert {line.split()[2].rpartition("/")[2] for line in found} >= {
        "BJ-07.key",
        "report.key",
        "tls.key",
    }
    for mode, owner, path in map(str.split, found):
        assert int(mode, 8) & 0o077 == 0, path
        assert owner in {USER, f"{USER}-service", "root"}, path
        assert site.run(f"cat {path}", "nobody").returncode != 0, path
    site.done(f"cat {SECRETS}/BJ-07.key", USER)
    assert _refused(site, SERVICE, f"cat {SECRETS}/tls.key")


def test_a_unit_cannot_change_the_keys_that_it_reads(site: CleanRoot) -> None:
    for unit in (TABLE, SERVICE):
        assert _refused(site, unit, f"touch {SECRETS}/planted")


def test_what_root_restores_from_a_backup_belongs_to_the_sites_user(
    site: CleanRoot, recording: str, served: int
) -> None:
    (command,) = BACKUP.all("ExecStart")
    ran = site.run_as(BACKUP, command)
    assert ran.returncode == 0, ran.stderr
    site.done(f"cd {STATE} && mv journals journals.old && mv service service.old")
    site.done(f"PITWATCH={PITWATCH} pitwatch-restore {ran.stdout.strip()} {STATE}")
    found = site.done(f"find {STATE}/journals {STATE}/service -printf '%u %p\\n'").splitlines()
    assert f"{USER} {STATE}/journals/BJ-07.journal" in found
    assert f"{USER}-service {STATE}/service/accounts.sqlite" in found
    for owner, path in map(str.split, found):
        assert owner == (USER if "/journals" in path else f"{USER}-service"), path
    site.done(f"{PITWATCH} journal verify {STATE}/journals/BJ-07.journal", f"{USER}-service")


def _refused(site: CleanRoot, unit: Unit, command: str) -> bool:
    ran = site.run_as(unit, command)
    return ran.returncode != 0 and (
        "Read-only file system" in ran.stderr or "Permission denied" in ran.stderr
    )


def _utc(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / 1e9, UTC).isoformat()


def _soon(site: CleanRoot, command: str, running: "subprocess.Popen[str]") -> bool:
    """Tell whether a command succeeds before long."""
    ends = time.monotonic() + _DUE_S
    while time.monotonic() < ends and running.poll() is None:
        if site.run(command).returncode == 0:
            return True
        time.sleep(0.2)
    return False
