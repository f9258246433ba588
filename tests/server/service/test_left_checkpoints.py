"""A table leaves its checkpoints at a service, which holds its journal to them."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from models.errors import TechnicianError
from models.events import RoundOpened
from server.service.routes.checkpoints import CHECKPOINTS_FILE
from server.table.sending import Access, Sender, target_at
from stream.checkpoints import Checkpoint, read_checkpoints
from stream.clock import SimulatedClock
from stream.journal import Checkpoints, Journal, verify_journal
from stream.signing import Signer
from tests.server.service.house import FIRST_PASSWORD, PASSWORD, House, changed_password, house
from tests.server.table.test_sending import until

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
    held = verify_journal(path, [SIGNER.public], read_checkpoints(file)).held
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
    told: list[Checkpoint] = []
    due = Checkpoints(SIGNER, SimulatedClock(5), send=told.append)
    Journal.create(tmp_path / "t.journal", due, "BJ-07").close()
    secret = token(kept, "leave_checkpoints")
    assert left(kept, secret, told[0]) == 204
    assert left(kept, secret, msgspec.structs.replace(told[0], seq=7)) == 422
    with kept.admin() as admin:
        admin.patch("/api/accounts/engineer", json={"tables": ["BJ-08"]}).raise_for_status()
    assert left(kept, secret, told[0]) == 403


@pytest.mark.parametrize("address", ["http://elsewhere:8080", "https://"])
def test_a_token_is_not_sent_in_the_clear(address: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="https://HOST:8443"):
        target_at(address, tmp_path, Access("token"))
    with pytest.raises(ValueError, match="token_file beside it"):
        target_at("https://pit:8443", tmp_path, Access())
