"""Until the journals were read, every answer says how much was, and no file is given away."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from models.events import RoundClosed, RoundOpened
from server.readmodel import folder_floor
from server.readmodel.folder_floor import FolderFloor
from tests.server.service.house import House, house, until, write

ROUNDS = 1500
"""Of three entries' reads of a thousand each."""


def played(path: Path) -> None:
    write(
        path,
        *(
            event
            for number in range(1, ROUNDS + 1)
            for event in (
                RoundOpened(round=number, at=number * 10, table="BJ-01"),
                RoundClosed(at=number * 10 + 5, table="BJ-01"),
            )
        ),
    )


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Let every read after the first wait."""
    going, reads, read_each = threading.Event(), [0], folder_floor._read_each

    def held_up(places: Sequence[object]) -> object:
        reads[0] += 1
        if reads[0] > 1:
            going.wait(20)
        return read_each(places)  # type: ignore[arg-type]

    monkeypatch.setattr(folder_floor, "_read_each", held_up)
    yield going
    going.set()


@pytest.fixture
def reading(tmp_path: Path, held: threading.Event) -> Iterator[House]:
    played(tmp_path / "bj-01.journal")
    with house(tmp_path, tmp_path / "state", wait=False) as found:
        found.staff()
        yield found


def test_answers_say_how_much_was_read_until_all_of_it_was(
    reading: House, held: threading.Event
) -> None:
    with reading.signed_in("surveillance") as officer:
        until(lambda: officer.get("/api/tables").json() != [])
        for path in ("/", "/health", "/api/tables", "/api/rounds"):
            answer = officer.get(path)
            assert (answer.status_code, answer.headers["Pitwatch-Reading"]) == (200, "33%"), path
        ready = officer.get("/ready")
        assert (ready.status_code, ready.headers["Retry-After"]) == (503, "1")
        assert "still being read (33%)" in ready.json()["detail"]
        held.set()
        until(lambda: officer.get("/ready").status_code == 200)
        assert "Pitwatch-Reading" not in officer.get("/api/tables").headers
        assert officer.get("/api/tables").json()[0]["now"]["rounds"] == ROUNDS


@pytest.mark.parametrize("path", ["/api/exports/rounds.csv", "/api/sessions/bj-01/report.html"])
def test_no_file_is_made_of_a_part_of_the_journals(
    path: str, reading: House, held: threading.Event
) -> None:
    with reading.signed_in("surveillance") as officer:
        refused = officer.get(path)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
        assert "a file would lack the rest" in refused.json()["detail"]
        held.set()
        until(lambda: officer.get(path).status_code == 200)


def test_the_share_that_was_read_grows_with_each_read(tmp_path: Path) -> None:
    played(tmp_path / "bj-01.journal")
    shares = []

    async def read() -> None:
        floor = FolderFloor(tmp_path, on_read=lambda *_: shares.append(floor.read_percent()))
        floor.open()
        shares.append(floor.read_percent())
        await floor.poll()
        floor.close()

    asyncio.run(read())
    assert shares == [0, 0, 33, 66]
