"""The envelope keeps to CloudEvents 1.0 for every event of every table."""

import asyncio
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
import msgspec
from hypothesis import given
from hypothesis import strategies as st

from server.integration.cloud_event import cloud_event
from server.integration.message import Message, messages_of
from server.readmodel.folder_floor import FolderFloor
from tests.server.integration.relays import SERVICE
from tests.server.service.house import write
from tests.server.service.test_redaction import shoe

RULES: Final = jsonschema_rs.validator_for(
    {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["specversion", "id", "source", "type"],
        "propertyNames": {"pattern": "^[a-z0-9]{1,20}$"},
        "properties": {
            "specversion": {"const": "1.0"},
            "id": {"type": "string", "minLength": 1},
            "source": {"type": "string", "minLength": 1, "format": "uri-reference"},
            "type": {"type": "string", "minLength": 1},
            "subject": {"type": "string", "minLength": 1},
            "time": {"type": "string", "format": "date-time"},
            "datacontenttype": {"const": "application/json"},
            "dataschema": {"type": "string", "format": "uri"},
            "data": {"type": "object"},
        },
        "additionalProperties": {"type": ["string", "integer", "boolean"], "minLength": 1},
    },
    validate_formats=True,
)
"""What the core and its JSON format ask of an event."""
ANY_ROUND: Final = st.none() | st.integers(0, 2**31 - 1)


def envelope(message: Message) -> Any:
    found = msgspec.json.decode(cloud_event(message, SERVICE))
    RULES.validate(found)
    return found


@given(
    text=st.text(),
    table=st.text(min_size=1),
    session=st.text(min_size=1),
    at=st.none() | st.integers(1, 4 * 10**18),
    round_no=ANY_ROUND,
    seq=st.integers(0, 2**62),
)
def test_an_event_is_one_of_the_specification(
    text: str, table: str, session: str, at: int | None, round_no: int | None, seq: int
) -> None:
    message = Message(
        id=f"x:{seq}",
        kind="round_opened",
        session=session,
        seq=seq,
        table=table,
        at=at,
        round=round_no,
        text=text,
        data={"round": round_no},
    )
    found = envelope(message)
    assert found["data"]["text"] == text
    assert ("time" in found) == (at is not None)
    assert int(found["sequence"]) == seq


@given(st.lists(st.integers(0, 2**62), min_size=2, max_size=2))
def test_sequences_sort_as_texts_as_they_do_as_numbers(pair: list[int]) -> None:
    one, other = (
        envelope(
            Message(
                id="x",
                kind="k",
                session="s",
                seq=seq,
                table="t",
                at=None,
                round=None,
                text="",
                data={},
            )
        )["sequence"]
        for seq in pair
    )
    assert (one < other) == (pair[0] < pair[1])


def test_every_message_of_a_shoe_has_an_id_of_its_own(tmp_path: Path) -> None:
    write(tmp_path / "a.journal", *shoe(1_000, 1), *shoe(2_000, 2))
    ids = [envelope(one)["id"] for one in asyncio.run(all_messages(tmp_path))]
    assert len(ids) == len(set(ids)) == 24


async def all_messages(folder: Path) -> list[Message]:
    """Every event of a journal."""
    floor = FolderFloor(folder)
    floor.open()
    await floor.poll()
    (session,) = floor.sessions()
    entries = await floor.entries(session, 0, 1_000)
    return [one for entry in entries for one in messages_of("a", "BJ-03", entry)]
