"""systemd's units: verified and hardened, by systemd's own tools, and their commands run."""

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.tools import BIN, DEPLOY, ROOT, run_program, sound, tool

pytestmark = pytest.mark.slow

FOLDER: Final = DEPLOY / "systemd"
SERVICES: Final = sorted(path.name for path in FOLDER.glob("*.service"))
UNITS: Final = sorted([*SERVICES, *(path.name for path in FOLDER.glob("*.timer"))])
EXPOSED_AT_MOST: Final = 20
"""Tenths, as ``systemd-analyze security --threshold`` has it: 100 is a service left as it comes."""
_SET_MDWE: Final = 65
_ALL_THAT_IS_NATIVE: Final = """
import io, mmap, ssl, sys
try:
    mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)
    sys.exit("it was not denied")
except PermissionError:
    pass
import av
from argon2 import PasswordHasher
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
import server.service.app, server.table.live, settlement.engine
from vision.reader import Reader
from server.demo import SESSION
frame = next(av.open(str(SESSION / "overhead.mp4")).decode(video=0))
Reader.load().read(frame.to_ndarray(format="bgr24"), card_width_px=60)
with av.open(io.BytesIO(), "w", "mp4") as film:
    stream = film.add_stream("libx264", 30)
    stream.width, stream.height = frame.width, frame.height
    for packet in [*stream.encode(frame), *stream.encode(None)]:
        film.mux(packet)
PasswordHasher().hash("a long enough password")
Ed25519PrivateKey.generate().sign(b"x")
ssl.create_default_context()
print("done")
"""


def systemd(name: str) -> str:
    return tool(name, "apt-get install systemd")


@pytest.fixture
def placed(tmp_path: Path) -> Path:
    """The units with the commands of this tree: systemd checks that they are there.

    The tree may lie in a folder whose name has a space, which a unit cannot name.
    """
    programs, deploy = tmp_path / "programs", tmp_path / "deploy"
    programs.symlink_to(BIN)
    deploy.symlink_to(DEPLOY)
    for name in UNITS:
        text = (FOLDER / name).read_text()
        text = text.replace("/opt/pitwatch/current/.venv/bin/", f"{programs}/")
        (tmp_path / name).write_text(text.replace("/opt/pitwatch/current/deploy/", f"{deploy}/"))
    return tmp_path


def test_systemd_finds_no_fault_in_any_unit(placed: Path) -> None:
    units = [placed / name for name in UNITS]
    assert sound(systemd("systemd-analyze"), "verify", "--man=no", *units).strip() == ""


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_may_do_no_more_than_it_needs(placed: Path, name: str) -> None:
    threshold = f"--threshold={EXPOSED_AT_MOST}"
    sound(systemd("systemd-analyze"), "security", "--offline=true", threshold, placed / name)


@pytest.mark.parametrize(
    "name",
    [
        "pitwatch-floor.service",
        "pitwatch-forward.service",
        "pitwatch-service.service",
        "pitwatch-table@.service",
    ],
)
def test_what_keeps_connections_open_has_its_own_limit_of_descriptors(name: str) -> None:
    (limit,) = re.findall(r"(?m)^LimitNOFILE=(\d+)$", (FOLDER / name).read_text())
    assert int(limit) >= 4096


@pytest.mark.parametrize("name", ["pitwatch-backup.service", "pitwatch-table@.service"])
def test_what_judges_ages_may_read_whether_the_clock_is_synchronised_and_not_set_it(
    name: str,
) -> None:
    """glibc asks with either call; ProtectClock=yes would deny both."""
    lines = (FOLDER / name).read_text().splitlines()
    assert "ProtectClock=yes" not in lines
    assert [line for line in lines if line.startswith("SystemCallFilter=")][-1] == (
        "SystemCallFilter=adjtimex clock_adjtime"
    )
    (bounding,) = [one for one in lines if one.startswith("CapabilityBoundingSet=")]
    assert "CAP_SYS_TIME" not in bounding


@pytest.mark.parametrize("name", SERVICES)
def test_no_number_of_failed_starts_stops_a_unit_for_good(name: str) -> None:
    """A disk may be full for a day."""
    text = (FOLDER / name).read_text()
    assert re.findall(r"(?m)^StartLimitIntervalSec=(.*)$", text) == ["0"]
    assert "StartLimitBurst" not in text
    if "Type=oneshot" not in text:
        assert re.findall(r"(?m)^Restart=(.*)$", text) == ["always"]
        (wait_s,) = re.findall(r"(?m)^RestartSec=(\d+)$", text)
        assert int(wait_s) >= 5


@pytest.mark.parametrize("name", ["pitwatch-backup.timer", "pitwatch-floor-backup.timer"])
def test_the_backups_calendar_is_one(placed: Path, name: str) -> None:
    text = (placed / name).read_text()
    (when,) = re.findall(r"(?m)^OnCalendar=(.*)$", text)
    assert "Next elapse" in sound(systemd("systemd-analyze"), "calendar", when)


def test_folders_and_user_are_made(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "group").write_text("dialout:x:20:\nvideo:x:44:\nroot:x:0:\n")
    (tmp_path / "etc" / "passwd").write_text("root:x:0:0::/root:/bin/sh\n")
    root = f"--root={tmp_path}"
    made = run_program(systemd("systemd-sysusers"), root, FOLDER / "sysusers.conf")
    if made.returncode and "Operation not permitted" in made.stderr:
        pytest.skip("systemd-sysusers needs root")
    assert made.returncode == 0, made.stderr
    assert "pitwatch:" in (tmp_path / "etc" / "passwd").read_text()
    sound(systemd("systemd-tmpfiles"), "--create", root, FOLDER / "tmpfiles.conf")
    assert (tmp_path / "var/lib/pitwatch/journals").is_dir()
    assert (tmp_path / "var/lib/pitwatch/service").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", SERVICES)
def test_every_command_and_option_is_one_that_there_is(name: str) -> None:
    text = (FOLDER / name).read_text().replace("\\\n", " ")
    commands = re.findall(r"(?m)^Exec\w+=/opt/pitwatch/current/\.venv/bin/pitwatch (.*)$", text)
    for command in commands:
        words = command.split()
        depth = 2 if words[0] in {"backup", "config", "floor"} else 1
        known = sound(BIN / "pitwatch", *words[:depth], "--help")
        for option in (word for word in words if word.startswith("--")):
            assert option in known, f"{name}: {option}"
    for script in re.findall(r"^Exec\w+=/opt/pitwatch/current/(deploy/\S+)", text, re.MULTILINE):
        assert (ROOT / script).stat().st_mode & 0o111, f"{script} cannot be run"


def test_a_table_and_a_service_need_no_memory_that_is_written_and_run() -> None:
    """MemoryDenyWriteExecute=yes: networks, codecs, signatures and passwords go without."""

    def deny() -> None:
        if ctypes.CDLL(None, use_errno=True).prctl(_SET_MDWE, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")

    try:
        subprocess.run(["true"], preexec_fn=deny, check=True)
    except subprocess.SubprocessError:
        pytest.skip("this kernel is older than 6.3 and cannot deny it to one process")
    ran = subprocess.run(
        [BIN / "python", "-c", _ALL_THAT_IS_NATIVE],
        preexec_fn=deny,
        capture_output=True,
        cwd=ROOT,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr.decode()[-2000:]
    assert ran.stdout.strip() == b"done"
