"""Messages to other systems, made only of what everybody may see.

A message is built from an event's redacted form (``server/readmodel/redaction.py``) and from
nothing else, so that no receiver gets a card that was not shown at the table.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, get_args
from urllib.parse import quote

import msgspec

from models.judgements import AnyEvent
from server.house.device_faults import fault_text
from server.house.wording import place
from server.readmodel.entries import Entry
from server.readmodel.incidents import incident_id

EVERYTHING: Final = "*"
VIOLATION: Final = "violation"
TRIAL: Final = "trial"
KINDS: Final = frozenset(
    {VIOLATION, EVERYTHING, *(str(one.__struct_config__.tag) for one in get_args(AnyEvent))}
)
"""The valid message kinds: ``violation``, every event type of the stream, ``*`` for all.

A ``violation`` is a certain mistake. ``review_raised`` tells that a person must decide."""
_OF_THE_ROUND: Final = ("round", "rulebook", "overrides", "rules_hash")
"""The fields of its round in a mistake's message."""
SECOND_NS: Final = 1_000_000_000


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message. It stays the same, with the same ``id``, when it is sent again."""

    id: str
    """For an event ``SESSION:SEQ``; for a mistake its place and code, even after resettlement."""
    kind: str
    """``violation`` or the event's type."""
    session: str
    seq: int
    """The journal entry behind it."""
    table: str
    at: int | None
    """Time at the table: nanoseconds since the Unix epoch, UTC."""
    round: int | None
    text: str
    """A sentence for people."""
    data: dict[str, Any]
    """The redacted event, or the mistake."""

    @property
    def incident(self) -> str | None:
        """The incident of its round, as the service's queue names it."""
        return None if self.round is None else incident_id(self.session, self.round)


def messages_of(session: str, table: str, entry: Entry) -> Iterator[Message]:
    """Yield an entry's messages: the event itself, then each mistake of a round.

    A mistake's ``at`` is its settlement's; :func:`placed` replaces it by the time of the mistake.
    """
    fields: dict[str, Any] = msgspec.json.decode(entry.redacted)
    round_no = _round(entry, fields)
    yield Message(
        id=f"{quote(session)}:{entry.seq}",
        kind=entry.type,
        session=session,
        seq=entry.seq,
        table=table,
        at=entry.at or None,
        round=round_no,
        text=_sentence(table, round_no, entry.type, fields),
        data=fields,
    )
    if entry.type == "round_settled":
        yield from _mistakes(session, table, entry, fields["result"])


def placed(message: Message, at: int | None) -> Message:
    """Return a mistake with the time of the fact that shows it."""
    return msgspec.structs.replace(message, at=at or message.at)


def fact_seq(message: Message) -> int:
    """Return the entry whose time a message has."""
    return int(message.data["seq"]) if message.kind == VIOLATION else message.seq


def utc_text(at_ns: int, digits: int = 9) -> str:
    """Write a time in the format of RFC 3339, in UTC, with ``digits`` decimals of a second."""
    seconds, part = divmod(at_ns, SECOND_NS)
    day = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{day}.{part:09d}"[: len(day) + 1 + digits] + "Z"


def link_of(message: Message, service_url: str) -> str:
    """Return the console's page about a message: its incident, or the table."""
    if message.incident is not None:
        return f"{service_url}/#/incidents/{quote(message.incident)}"
    return f"{service_url}/#/tables/{quote(message.table)}"


def _mistakes(session: str, table: str, entry: Entry, result: dict[str, Any]) -> Iterator[Message]:
    alike: Counter[str] = Counter()
    for one in (one for one in result["violations"] if not one["suspected"]):
        place = [
            result["round"],
            *(one[name] for name in ("seq", "code", "clause", "spot", "hand")),
        ]
        key = ":".join("" if part is None else str(part) for part in (quote(session), *place))
        alike[key] += 1
        yield Message(
            id=key if alike[key] == 1 else f"{key}:{alike[key]}",
            kind=VIOLATION,
            session=session,
            seq=entry.seq,
            table=table,
            at=entry.at or None,
            round=result["round"],
            text=_mistake(table, result["round"], one),
            data={**one, **{name: result[name] for name in _OF_THE_ROUND if name in result}},
        )


def _round(entry: Entry, fields: dict[str, Any]) -> int | None:
    found = fields.get("round") if entry.round is None else entry.round
    return found if isinstance(found, int) else None


def _mistake(table: str, round_no: int, one: dict[str, Any]) -> str:
    where = "" if one["spot"] is None else f" at {place(one['spot'], one['hand'])}"
    return f"{table}, round {round_no}: {one['code']}{where} ({one['clause']}): {one['detail']}"


def _sentence(table: str, round_no: int | None, kind: str, fields: dict[str, Any]) -> str:
    where = table if round_no is None else f"{table}, round {round_no}"
    match fields:
        case {"type": "review_raised", "review": {"what": what}}:
            return f"{where}: to be decided: {what}"
        case {"type": "round_settled", "result": {"status": status, "violations": found}}:
            suspected = sum(one["suspected"] for one in found)
            counts = f"mistakes: {len(found) - suspected}, suspected mistakes: {suspected}"
            return f"{where}: settled, {status}, {counts}"
        case {"source": source, "kind": what}:
            return f"{where}: {source}: {fault_text(what)}"
    return f"{where}: {kind}"
