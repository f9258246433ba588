import msgspec
import pytest

from models.judgements import AnyEvent, LedgerPosted, RoundSettled
from tests.golden.sessions import FOLDER, SESSIONS, heard, judged


@pytest.mark.parametrize("name", SESSIONS)
def test_a_recorded_session_still_comes_to_the_same_bytes(name: str) -> None:
    assert judged(heard(name)) == (FOLDER / f"{name}.judged.jsonl").read_bytes()


@pytest.mark.parametrize("name", SESSIONS)
def test_what_is_pinned_is_settled_and_balanced(name: str) -> None:
    lines = (FOLDER / f"{name}.judged.jsonl").read_bytes().splitlines()
    events = [msgspec.json.decode(line, type=AnyEvent) for line in lines]
    settled = [event.result for event in events if isinstance(event, RoundSettled)]
    assert [result.round for result in settled] == list(range(1, SESSIONS[name].rounds + 1))
    assert [result.status for result in settled] == ["final"] * len(settled)
    assert sum(event.amount for event in events if isinstance(event, LedgerPosted)) == 0
