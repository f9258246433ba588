"""Files that unpack to far more than they hold are refused before they fill memory or disk."""

import io
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from models.errors import OperatorError, TechnicianError
from server.archive import archives
from server.archive import snapshot as snapshots
from server.archive.snapshot import Facts
from server.bundle.bundle import Asked, check_bundle
from server.bundle.manifest import Head
from server.bundle.zip_files import LARGEST_UNPACKED_BYTES, NotPlain, unpacked
from server.commands.app import run
from server.process.memory import BESIDE_BYTES, within_memory
from stream.signing import Signer
from tests.server.evenings import as_journal, evening, packed
from vision.photos import open_picture

MIB = 1 << 20
RULES = ("--rulebook", "kansas-shoe")


def bomb(size: int, stated: int | None = None) -> bytes:
    """A ZIP of so many zeros that states another size for them."""
    target, entry = io.BytesIO(), zipfile.ZipInfo("events.jsonl")
    entry.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(target, "w") as archive, archive.open(entry, "w") as member:
        for _ in range(size // MIB):
            member.write(bytes(MIB))
    content = bytearray(target.getvalue())
    for place in (22, content.index(b"PK\1\2") + 24):
        content[place : place + 4] = struct.pack("<I", size if stated is None else stated)
    return bytes(content)


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        pytest.param(3 << 30, "unpack to 3,221,225,472 bytes, at most 268,435,456", id="stated"),
        pytest.param(100, "unpacks to more than the 100 bytes that it states", id="hidden"),
    ],
)
def test_an_incident_that_unpacks_to_more_takes_no_memory(stated: int, says: str) -> None:
    content = bomb(64 * MIB, stated)
    tracemalloc.start()
    try:
        with pytest.raises(NotPlain, match=says):
            unpacked(content)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(content) < MIB
    assert most < 2 * MIB
    assert stated == 100 or stated > LARGEST_UNPACKED_BYTES


def test_what_takes_too_much_memory_is_refused_with_what_was_expected(tmp_path: Path) -> None:
    file = tmp_path / "small"
    file.write_bytes(bytes(1000))
    says = r"a file of 1,000 bytes .* 512 MiB"
    with pytest.raises(OperatorError, match=says) as refused, within_memory(file):
        bytearray(2 * BESIDE_BYTES)
    assert str(file) in str(refused.value)
    assert len(bytearray(2 * BESIDE_BYTES)) > BESIDE_BYTES


def test_a_command_without_enough_memory_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def exhausted(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("server.commands.rulebooks.show_list", exhausted)
    assert run(["rulebooks", "list"]) == 2
    assert "more memory than there is" in capsys.readouterr().err


def test_a_snapshot_of_more_pixels_than_a_camera_has_is_not_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunks = [header, b"IEND"]
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(one) - 4) + one + struct.pack(">I", zlib.crc32(one)) for one in chunks
    )
    monkeypatch.setattr(snapshots, "as_png", lambda _: png)
    facts = Facts(
        table="BJ-01",
        round=1,
        camera="overhead",
        file="overhead.mp4",
        frame=1,
        at=1,
        entry=1,
        pixels_sha256="00",
        made_by="anna",
    )
    head = Head(name="bj-01", entries=1, head="0" * 64)
    content = snapshots.snapshot(
        np.zeros((1, 1, 3), np.uint8), facts, 1, head, Signer.create(tmp_path / "key")
    )
    bundle = check_bundle(content, tmp_path / "the snapshot")
    with pytest.raises(TechnicianError, match="60000 x 60000 pixels, at most 100 megapixels"):
        snapshots.check_snapshot(bundle, Asked())


def test_a_tiff_of_more_pixels_than_are_read_is_not_decoded(tmp_path: Path) -> None:
    entries = [(256, 4, 1, 60_000), (257, 4, 1, 60_000)]
    tiff = b"II*\0" + struct.pack("<IH", 8, len(entries))
    tiff += b"".join(struct.pack("<HHII", *entry) for entry in entries) + bytes(4)
    file = tmp_path / "felt.tiff"
    file.write_bytes(tiff)
    with pytest.raises(OperatorError, match="more than 100 megapixels"):
        open_picture(file)


@pytest.mark.parametrize("name", ["day.zip", "day.tar.gz"])
def test_a_journal_that_fills_the_disk_is_not_unpacked(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    as_journal(tmp_path / "day" / "BJ-01.journal", evening(1))
    archive = packed(tmp_path / "day", tmp_path / name)
    monkeypatch.setattr(archives, "_UNPACKED_BYTES", 1000)
    monkeypatch.setattr(archives, "_UNPACKED_TIMES", 0)
    assert run(["settle", str(archive), *RULES]) == 2
    said = capsys.readouterr().err
    assert "unpacks to more than 1,000 bytes" in said
    assert "BJ-01.journal" in said
