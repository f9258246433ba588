"""The service on a state disk that is full: reading goes on, what cannot be recorded is refused."""

from pathlib import Path

import pytest

from tests.faults.test_disks import SMALL_DISK, needs_mounts, python

pytestmark = pytest.mark.slow

SERVICE = """
    import sys
    from contextlib import suppress
    from pathlib import Path
    from models.events import RoundOpened
    from stream.journal import Journal
    from stream.reading import read_journal
    from tests.server.service.house import house, until, write

    folder = Path(sys.argv[1])
    journals, state = folder / "journals", folder / "disk" / "state"
    ballast = folder / "disk" / "ballast"
    journals.mkdir()
    rounds = [RoundOpened(round=n, at=n, table="BJ-07") for n in range(1, 9)]
    write(journals / "t.journal", *rounds)
    with house(journals, state) as service:
        service.staff()
        with service.signed_in("audit") as audit, service.admin() as admin, service.anyone() as any:
            assert any.get("/ready").status_code == 200
            with ballast.open("wb", buffering=0) as file, suppress(OSError):
                while True:
                    file.write(bytes(4096))
            for _ in range(40):  # what is left on the disk's last page goes first
                audit.get("/api/rounds")
            read = audit.get("/api/rounds")
            print("read", read.status_code, len(read.json()["items"]))
            events = audit.get("/api/sessions/t/events")
            print("events", events.status_code, len(events.json()["events"]))
            ready = any.get("/ready")
            print("ready", ready.status_code, ready.json()["detail"])
            body = {"name": "new", "role": "audit", "password": "a long enough password"}
            added = admin.post("/api/accounts", json=body)
            print("added", added.status_code, added.json()["detail"])
            known = {"name": "audit", "password": "a long enough password"}
            signed_in = any.post("/api/sign-in", json=known)
            print("signed in", signed_in.status_code, signed_in.json()["detail"])
            print("health", any.get("/health").status_code)
            ballast.unlink()
            until(lambda: any.get("/ready").status_code == 200)
            assert admin.post("/api/accounts", json=body).status_code == 201
            audit.get("/api/rounds")
    kept = [getattr(one, "body", b"").decode() for one in read_journal(state / "activity.journal")]
    print("gap", next(one for one in kept if '"action":"reads_unrecorded"' in one))
"""


@needs_mounts
def test_reads_go_on_and_what_cannot_be_recorded_is_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    (tmp_path / "disk").mkdir()
    small = (*SMALL_DISK[:-1], SMALL_DISK[-1].replace("600k", "2m"), str(tmp_path / "disk"))
    lines = python(SERVICE, tmp_path, prefix=small).splitlines()
    printed = {line.split(" ")[0]: line for line in lines}
    full = "the disk is full"
    assert "read 200 8" in lines
    assert "events 200 8" in lines
    assert printed["ready"].startswith("ready 503")
    assert full in printed["ready"]
    assert printed["added"].startswith("added 503")
    assert full in printed["added"]
    assert printed["signed"].startswith("signed in 503")
    assert full in printed["signed"]
    assert "health 200" in lines
    assert "could not be recorded" in printed["gap"]
