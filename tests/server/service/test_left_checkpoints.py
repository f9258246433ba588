"""A table leaves its checkpoints at a service, which holds its journal to them."""

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from models.errors import TechnicianError
from models.events import RoundOpened
from server.service.left_checkpoints import CHECKPOINTS_FILE, LeftCheckpoints
from server.table.config import read_config
from server.table.journal import table_journal
from server.table.sending import Access, Sender, target_at
from stream.checkpoints import Checkpoint, read_checkpoints
from stream.clock import HostClock, SimulatedClock
from stream.journal import Checkpoints, Journal, verify_journal
from stream.signing import Signer
from tests.server.service.house import FIRST_PASSWORD, PASSWORD, House, changed_password, house
from tests.server.table.test_sending import configured, until

SIGNER = Signer(Ed25519PrivateKey.generate())


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[House]:
    """A service without tables."""
    (tmp_path / "journals").mkdir()
    with house(tmp_path / "journals", tmp_path / "state") as found:
        with found.admin() as admin:
            sent = {"name": "engineer", "role": "engineer", "password": FIRST_PASSWORD}
            admin.post("/api/accounts", json=sent).raise_for_status()
        with found.anyone() as client:
            changed_password(client, "engineer", FIRST_PASSWORD, PASSWORD)
        yield found


def token(found: House, *scopes: str) -> str:
    with found.signed_in("engineer") as engineer:
        asked = {"label": "BJ-07", "scopes": list(scopes)}
        secret: str = engineer.post("/api/tokens", json=asked).raise_for_status().json()["secret"]
        return secret


def write(path: Path, sender: Sender) -> None:
    due = Checkpoints(SIGNER, SimulatedClock(5), entries=10, send=sender.send)
    with Journal.create(path, due, "BJ-07") as journal:
        journal.append_all(RoundOpened(round=number) for number in range(1, 26))


def test_what_a_table_left_there_holds_its_journal(kept: House, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(token(kept, "leave_checkpoints") + "\n")
    path, file = tmp_path / "t.journal", tmp_path / "state" / CHECKPOINTS_FILE
    with Sender([target_at(kept.url, tmp_path, Access("token"))]) as sender:
        write(path, sender)
        until(file.exists)
        until(lambda: len(read_checkpoints(file)) == 2)
        assert sender.fault is None
    assert [one.seq for one in read_checkpoints(file)] == [0, 25]
    assert b" engineer token:" in file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600
    held = verify_journal(path, [SIGNER.fingerprint], read_checkpoints(file)).held
    assert held is not None
    assert held.seq == 25
    path.unlink()
    own = read_checkpoints(file)[0].identity
    with Journal.create(path, None, own.table) as journal:
        journal.append(RoundOpened(round=1))
    with pytest.raises(TechnicianError, match="another journal than the last one"):
        verify_journal(path, (), read_checkpoints(file))


def test_only_a_token_with_that_right_leaves_any(kept: House, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(token(kept, "see_tables"))
    with Sender([target_at(kept.url, tmp_path, Access("token"))]) as sender:
        write(tmp_path / "t.journal", sender)
        until(lambda: sender.fault is not None)
        assert sender.fault == f"{kept.url}: it answered 403"
    assert not (tmp_path / "state" / CHECKPOINTS_FILE).exists()


def left(kept: House, secret: str, checkpoint: Checkpoint) -> int:
    headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    body = msgspec.json.encode(checkpoint)
    return httpx.post(f"{kept.url}/api/checkpoints", content=body, headers=headers).status_code


def test_a_forged_one_and_one_of_another_table_are_refused(kept: House, tmp_path: Path) -> None:
    sent: list[Checkpoint] = []
    due = Checkpoints(SIGNER, SimulatedClock(5), send=sent.append)
    Journal.create(tmp_path / "t.journal", due, "BJ-07").close()
    secret = token(kept, "leave_checkpoints")
    assert left(kept, secret, sent[0]) == 204
    assert left(kept, secret, msgspec.structs.replace(sent[0], seq=7)) == 422
    with kept.admin() as admin:
        admin.patch("/api/accounts/engineer", json={"tables": ["BJ-08"]}).raise_for_status()
    assert left(kept, secret, sent[0]) == 403


@pytest.mark.parametrize("address", ["http://elsewhere:8080", "https://"])
def test_a_token_is_not_sent_in_the_clear(address: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="https://HOST:8443"):
        target_at(address, tmp_path, Access("token"))
    with pytest.raises(ValueError, match="token_file beside it"):
        target_at("https://pit:8443", tmp_path, Access())


def at_a_service(folder: Path, url: str, *, is_signed: bool = True) -> Path:
    """Configure the example's table to send its checkpoints to a service."""
    file = configured(folder)
    sent = f'to = ["{url}"], token_file = "token"'
    text = file.read_text().replace('to = ["elsewhere"]', sent)
    if is_signed:
        Signer.create(folder / "BJ-07.key")
        text = text.replace("\njournal =", '\nsigning_key = "BJ-07.key"\njournal =')
    file.write_text(text)
    return file


def ran(file: Path, rounds: int) -> list[str]:
    """Start the configured table, have it write rounds, and return the warnings of its start."""
    warnings: list[str] = []
    with table_journal(read_config(file), HostClock(), warnings.append) as (journal, *_):
        journal.append_all(RoundOpened(round=number) for number in range(1, rounds + 1))
    return warnings


@pytest.mark.parametrize("is_signed", [True, False])
def test_a_table_that_starts_asks_a_service_for_what_it_left_there(
    kept: House, tmp_path: Path, is_signed: bool
) -> None:
    (tmp_path / "token").write_text(token(kept, "leave_checkpoints"))
    file = at_a_service(tmp_path, kept.url, is_signed=is_signed)
    journal = tmp_path / "BJ-07.journal"
    assert ran(file, 25) == []
    before = journal.read_bytes()
    assert ran(file, 5) == []
    later = journal.read_bytes()
    journal.write_bytes(before)
    with pytest.raises(TechnicianError, match="entries are missing at its end: it had 30 "):
        ran(file, 1)
    assert journal.read_bytes() == before
    journal.write_bytes(later)
    assert ran(file, 1) == []


def test_a_table_that_starts_refuses_a_journal_that_was_written_anew(
    kept: House, tmp_path: Path
) -> None:
    """The service keeps the checkpoints of both; the attacker has the table's own key."""
    (tmp_path / "token").write_text(token(kept, "leave_checkpoints"))
    file, journal = at_a_service(tmp_path, kept.url), tmp_path / "BJ-07.journal"
    ran(file, 25)
    own = journal.read_bytes()
    journal.unlink()
    ran(file, 30)
    journal.write_bytes(own)
    with pytest.raises(TechnicianError, match="another journal than the last one"):
        ran(file, 1)


def test_a_service_that_does_not_answer_stops_no_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One refuses, the other accepts the connection and sends nothing."""
    monkeypatch.setattr("server.table.sending._ASK_S", 0.3)
    monkeypatch.setattr("server.table.sending._PATIENCE_S", 0.5)
    (tmp_path / "token").write_text("none")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        file = at_a_service(tmp_path, url)
        ran(file, 1)
        assert ran(file, 1) == [f"{url}: its checkpoints are not compared: no answer in 0.3 s"]
    (line,) = ran(file, 1)
    assert line.startswith(f"{url}: its checkpoints are not compared: ")
    assert "refused" in line


def test_a_token_reads_back_what_its_own_table_left_and_nothing_else(
    kept: House, tmp_path: Path
) -> None:
    sent: list[Checkpoint] = []
    for key in (SIGNER, None):
        due = Checkpoints(key, SimulatedClock(5), entries=10, send=sent.append)
        for table in ("BJ-07", "BJ-08"):
            with Journal.create(tmp_path / f"{table}.{key is None}", due, table) as journal:
                journal.append_all(RoundOpened(round=number) for number in range(1, 26))
    secret = token(kept, "leave_checkpoints")
    assert [left(kept, secret, one) for one in sent] == [204] * len(sent)
    own = [one for one in sent if one.identity.table == "BJ-07" and one.seq == 25]
    assert read_back(kept, secret, "BJ-07") == (200, own)
    assert read_back(kept, secret, "BJ-07", SIGNER.public.hex()) == (200, own[:1])
    assert read_back(kept, token(kept, "see_tables"), "BJ-07")[0] == 403
    with kept.admin() as admin:
        admin.patch("/api/accounts/engineer", json={"tables": ["BJ-08"]}).raise_for_status()
    assert read_back(kept, secret, "BJ-07")[0] == 404
    assert read_back(kept, secret, "BJ-08")[0] == 200


def read_back(
    kept: House, secret: str, table: str, key: str | None = None
) -> tuple[int, list[Checkpoint]]:
    answer = httpx.get(
        f"{kept.url}/api/tables/{table}/checkpoints",
        params={} if key is None else {"key": key},
        headers={"Authorization": f"Bearer {secret}"},
    )
    if not answer.is_success:
        return answer.status_code, []
    return 200, msgspec.json.decode(answer.content, type=list[Checkpoint])


def test_what_is_kept_is_read_on_and_a_file_that_was_cut_is_read_anew(tmp_path: Path) -> None:
    sent: list[Checkpoint] = []
    due = Checkpoints(SIGNER, SimulatedClock(5), entries=10, send=sent.append)
    with Journal.create(tmp_path / "t.journal", due, "BJ-07") as journal:
        for number in range(1, 26):
            journal.append(RoundOpened(round=number))
    kept = LeftCheckpoints(tmp_path / "left")
    assert kept.last_of("BJ-07", None) == ()
    for one in sent:
        kept.keep(one, "now engineer token:1")
        assert kept.last_of("BJ-07", None) == (one,)
    lines = (tmp_path / "left").read_bytes().splitlines(keepends=True)
    (tmp_path / "left").write_bytes(b"".join(lines[:2]))
    assert kept.last_of("BJ-07", SIGNER.public.hex()) == (sent[1],)
