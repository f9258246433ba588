"""One broken file in the journals' folder affects that session alone, and is reported."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from models.events import RoundOpened
from stream.copies import archive_journal
from stream.journal import Journal
from tests.server.service.house import house, until, write


def rounds(last: int) -> list[RoundOpened]:
    return [RoundOpened(round=n, at=n, table="BJ-07") for n in range(1, last + 1)]


def empty(path: Path) -> None:
    path.touch()


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(20_000))


def folder(path: Path) -> None:
    path.mkdir()


def circle(path: Path) -> None:
    path.symlink_to(path.name)


def pipe(path: Path) -> None:
    os.mkfifo(path)


def without_type(path: Path) -> None:
    """An entry whose hash is right and whose JSON is no event."""
    write(path, *rounds(1))
    body = b"[1]"
    with closing(sqlite3.connect(path)) as meddler, meddler:
        head = meddler.execute("SELECT hash FROM entries").fetchone()[0]
        after = hashlib.sha256(head + (2).to_bytes(8, "big") + body).digest()
        meddler.execute("INSERT INTO entries VALUES (2, ?, ?)", (after, body))


def truncated(path: Path) -> None:
    write(path, *rounds(400))
    os.truncate(path, 9_000)


BROKEN: Final[Mapping[str, Callable[[Path], None]]] = {
    "empty": empty,
    "garbage": garbage,
    "folder": folder,
    "circle": circle,
    "pipe": pipe,
    "without-type": without_type,
    "truncated": truncated,
}


def test_the_others_are_served_and_each_is_reported(tmp_path: Path) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    write(journals / "good.journal", *rounds(8))
    for name, broken in BROKEN.items():
        broken(journals / f"{name}.journal")
    with house(journals, tmp_path / "state") as service:
        service.staff()
        with service.signed_in("audit") as audit:

            def faults() -> dict[str, str]:
                found = service.get(audit, "/api/sessions")
                return {one["session"]: one["fault"] for one in found if one.get("fault")}

            until(lambda: faults().keys() == BROKEN.keys(), tries=400)
            assert all(f"{name}.journal" in fault for name, fault in faults().items())
            assert len(service.get(audit, "/api/rounds", session="good")["items"]) == 8
            assert len(service.get(audit, "/api/sessions/good/events")["events"]) == 8
            with Journal.open(journals / "good.journal") as journal:
                journal.append(RoundOpened(round=9, at=9, table="BJ-07"))
            of_good = {"session": "good"}
            until(lambda: len(service.get(audit, "/api/rounds", **of_good)["items"]) == 9)


def test_a_journal_that_is_taken_away_is_not_made_anew_by_reading_it(tmp_path: Path) -> None:
    journals = tmp_path / "journals"
    journals.mkdir()
    for name in ("good", "gone"):
        write(journals / f"{name}.journal", *rounds(8))
    with house(journals, tmp_path / "state") as service:
        service.staff()
        with service.signed_in("audit") as audit:
            shutil.move(journals / "gone.journal", tmp_path)
            for _ in range(3):
                audit.get("/api/sessions/gone/events")
            assert [file.name for file in journals.iterdir()] == ["good.journal"]
            assert len(service.get(audit, "/api/rounds", session="good")["items"]) == 8
    with Journal.create(journals / "gone.journal") as journal:
        journal.append_all(rounds(1))


def test_the_journal_that_follows_an_archived_one_is_read_and_a_cut_one_is_a_fault(
    tmp_path: Path,
) -> None:
    journals, archive = tmp_path / "journals", tmp_path / "archive"
    journals.mkdir()
    archive.mkdir()
    path = journals / "t.journal"
    with house(journals, tmp_path / "state") as service:
        service.staff()
        with service.signed_in("audit") as audit:

            def last_seq() -> int:
                found = service.get(audit, "/api/sessions")
                return max((one["last_seq"] for one in found), default=0)

            with Journal.create(path) as journal:
                journal.append_all(rounds(8))
                until(lambda: last_seq() == 8)
            archive_journal(path, archive)
            with Journal.create(path) as journal:
                journal.append_all(rounds(5))
                until(lambda: last_seq() == 5, tries=400)
            whole = path.read_bytes()
            with Journal.open(path) as journal:
                journal.append_all(rounds(3))
                until(lambda: last_seq() == 8)
            path.write_bytes(whole)

            def fault() -> str | None:
                (found,) = service.get(audit, "/api/sessions")
                reason: str | None = found.get("fault")
                return reason

            until(lambda: fault() is not None, tries=400)
            assert "entry 8 is not the one that was read before" in (fault() or "")
