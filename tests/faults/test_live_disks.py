"""A live table whose disk fills up, or whose journal is taken away: it stops in one line."""

from pathlib import Path

import pytest

from tests.faults.test_disks import SMALL_DISK, needs_mounts, python

pytestmark = pytest.mark.slow

TABLE = """
    import asyncio, os, subprocess, sys, time
    from contextlib import suppress
    from pathlib import Path
    from models.errors import PitwatchError
    from models.events import ConsoleEntry, TrayCounted
    from server.table.decision_requests import socket_of, hand_in

    harm, folder = sys.argv[1], Path(sys.argv[2])
    journal = folder / "BJ-07.journal"
    example = Path("server/examples/table.toml").read_text()
    config = folder / "table.toml"
    lines = [line for line in example.splitlines() if not line.startswith("pose")]
    text = "\\n".join(lines).split("[recorder]")[0]
    text = text.replace("/var/lib/pitwatch/journals/", "")
    text = text.replace("rtsp://camera-07.floor/stream1", "http://127.0.0.1:9/")
    for name in ("shoe", "plates"):
        text = text.replace(f"/dev/serial/by-id/usb-{name}-07", "socket://127.0.0.1:9")
    config.write_text(text)
    running = subprocess.Popen(
        [sys.executable, "-m", "server", "run", str(config)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    while not socket_of(journal).exists():
        assert running.poll() is None, running.communicate()
        time.sleep(0.05)
    time.sleep(1)
    if harm == "fill":
        with (folder / "ballast").open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))
        for number in range(200):
            entry = ConsoleEntry(source="console:bob", at=8 + number, fact=TrayCounted(amount=5))
            try:
                if asyncio.run(hand_in(journal, entry)) is None:
                    break
            except PitwatchError as refused:
                print("refused:", refused)
                break
    elif harm == "unlink":
        journal.unlink()
    out, err = running.communicate(timeout=30)
    print("status:", running.returncode)
    print(err)
"""


@needs_mounts
@pytest.mark.parametrize(
    ("harm", "message"),
    [
        ("fill", "BJ-07.journal: the journal cannot be read or written: the disk is full"),
        ("unlink", "BJ-07.journal: the journal was deleted while it was being written"),
    ],
)
def test_it_stops_in_one_line(tmp_path: Path, harm: str, message: str) -> None:
    small = SMALL_DISK[-1].replace("600k", "1m")
    lines = python(
        TABLE, harm, tmp_path, prefix=(*SMALL_DISK[:-1], small, str(tmp_path))
    ).splitlines()
    assert "status: 2" in lines
    errors = [line for line in lines if line.startswith("pitwatch: ")]
    assert len(errors) == 1, lines
    assert message in errors[0]
    if harm == "fill":
        (refusal,) = [line for line in lines if line.startswith("refused: ")]
        assert "did not acknowledge it, it stopped: the journal cannot be read or" in refusal
    others = [line for line in lines if line and line not in errors]
    assert all(line.startswith(("status: ", "refused: ", "no round in play")) for line in others), (
        lines
    )
