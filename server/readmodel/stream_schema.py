"""The schemas of the streams: JSON Schema of an event, AsyncAPI of the channels."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final, get_args

import msgspec

from models.events import Observation
from models.judgements import AnyEvent
from server.readmodel.incidents import IncidentRow
from settlement.phases import Phase

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_TAGS: Final[Mapping[str, str]] = {
    one.__name__: str(one.__struct_config__.tag) for one in AnyEvent.__args__
}
_OBSERVATIONS: Final = {one.__name__ for one in AnyEvent.__args__ if issubclass(one, Observation)}


def _as_journalled() -> dict[str, Any]:
    """Return the schema of an event; a newer version may add fields to it."""
    schema = msgspec.json.schema(AnyEvent)
    for one in schema["$defs"].values():
        one.pop("additionalProperties", None)
    return schema | {"$schema": _DRAFT, "title": "An event of a table's journal"}


EVENT_SCHEMA: Final[dict[str, Any]] = _as_journalled()
"""The complete event, as it is journalled."""


def _seen() -> dict[str, Any]:
    """Return the schema of an event as viewers get it.

    Every field of an observation except its type may be withheld. Of an event of an unknown type
    only type, number and time are shown.
    """
    schema = deepcopy(EVENT_SCHEMA)
    for name in _OBSERVATIONS:
        schema["$defs"][name]["required"] = ["type"]
    schema["$defs"]["UnknownEvent"] = {
        "type": "object",
        "title": "An event of a type that this version does not know",
        "properties": {
            "type": {"type": "string", "not": {"enum": sorted(_TAGS.values())}},
            "seq": {"type": "integer"},
            "at": {"type": ["integer", "null"]},
        },
        "required": ["type", "seq"],
    }
    schema["anyOf"].append({"$ref": "#/$defs/UnknownEvent"})
    del schema["discriminator"]
    return schema | {
        "title": "An event as a viewer receives it",
        "description": "What the viewer may not see is left out or null.",
    }


SEEN_SCHEMA: Final = _seen()
"""An event as viewers get it."""

MESSAGE_SCHEMA: Final[dict[str, Any]] = {
    "$schema": _DRAFT,
    "title": "A message of the WebSocket",
    "type": "object",
    "properties": {
        "session": {"type": "string", "description": "The journal it is an event of."},
        "event": {
            key: value for key, value in SEEN_SCHEMA.items() if key not in {"$defs", "$schema"}
        },
        "phase": {
            "enum": list(get_args(Phase)),
            "description": "Where the round in play stood after the event. Left out where the"
            " event was read from the journal again.",
        },
    },
    "required": ["session", "event"],
    "additionalProperties": False,
    "$defs": SEEN_SCHEMA["$defs"],
}
INCIDENT_SCHEMA: Final[dict[str, Any]] = msgspec.json.schema(IncidentRow) | {"$schema": _DRAFT}
_SECURITY: Final = [
    {"$ref": "#/components/securitySchemes/session"},
    {"$ref": "#/components/securitySchemes/token"},
]
_LAST_ID: Final = {
    "type": "object",
    "properties": {
        "Last-Event-ID": {
            "type": "string",
            "description": "The last `id` that the client processed.",
        }
    },
}


def _channel(
    address: str, text: str, message: str, bindings: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    channel = {"address": address, "description": text, "bindings": dict(bindings)}
    return channel | {"messages": {message: {"$ref": f"#/components/messages/{message}"}}} | more


def _sending(channel: str, message: str, text: str) -> dict[str, Any]:
    return {
        "action": "send",
        "channel": {"$ref": f"#/channels/{channel}"},
        "summary": text,
        "security": _SECURITY,
        "messages": [{"$ref": f"#/channels/{channel}/messages/{message}"}],
    }


def _here(schema: Mapping[str, Any]) -> Any:
    """Return a schema whose definitions are among the document's components."""
    text = msgspec.json.encode(schema).replace(b"#/$defs/", b"#/components/schemas/")
    return msgspec.json.decode(text)


def _message(name: str, text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in schema.items() if key != "$defs"}
    payload = {"schemaFormat": f"application/schema+json;version={_DRAFT}", "schema": _here(own)}
    return {
        "name": name,
        "summary": text,
        "contentType": "application/json",
        "payload": payload,
    }


ASYNC_DOCUMENT: Final[dict[str, Any]] = {
    "asyncapi": "3.0.0",
    "info": {
        "title": "Pitwatch's streams",
        "version": "1",
        "description": "Every event once and in order, from any `seq` on. The service closes a"
        " WebSocket with 1013 if the client reads too slowly and with 1008 if its right has ended."
        " Continue from the last `seq`.",
    },
    "defaultContentType": "application/json",
    "channels": {
        "tables": _channel(
            "/stream",
            "All tables, or those named, over one WebSocket.",
            "tableEvent",
            {
                "ws": {
                    "method": "GET",
                    "query": {
                        "type": "object",
                        "properties": {
                            "from": {
                                "type": "array",
                                "items": {"type": "string", "pattern": "^.+:[0-9]{1,18}$"},
                                "description": "SESSION:SEQ. Default: all events from now on.",
                            }
                        },
                    },
                    "bindingVersion": "0.1.0",
                }
            },
        ),
        "events": _channel(
            "/api/stream",
            "The same as server-sent events: `from` as in the WebSocket, `data` is its message.",
            "tableEvent",
            {"http": {"bindingVersion": "0.3.0"}},
        ),
        "session": _channel(
            "/api/sessions/{session}/stream",
            "One journal as server-sent events: `id` is the event's `seq`, `data` the event.",
            "event",
            {"http": {"bindingVersion": "0.3.0"}},
            parameters={"session": {"description": "The journal's name."}},
        ),
        "incidents": _channel(
            "/api/incidents/stream",
            "Incidents as they change, as server-sent events: `data` is the incident.",
            "incident",
            {"http": {"bindingVersion": "0.3.0"}},
        ),
    },
    "operations": {
        "tellTables": _sending("tables", "tableEvent", "Send the events of tables."),
        "tellEvents": _sending("events", "tableEvent", "Send the events of tables."),
        "tellSession": _sending("session", "event", "Send the events of a journal."),
        "tellIncidents": _sending("incidents", "incident", "Send incidents that changed."),
    },
    "components": {
        "schemas": _here(SEEN_SCHEMA["$defs"] | INCIDENT_SCHEMA["$defs"]),
        "messages": {
            "tableEvent": _message("tableEvent", "An event and its journal.", MESSAGE_SCHEMA),
            "event": _message("event", "An event.", SEEN_SCHEMA) | {"headers": _LAST_ID},
            "incident": _message("incident", "An incident.", INCIDENT_SCHEMA)
            | {"headers": _LAST_ID},
        },
        "securitySchemes": {
            "session": {"type": "httpApiKey", "in": "cookie", "name": "pitwatch"},
            "token": {"type": "http", "scheme": "bearer"},
        },
    },
}
