"""What a field of a schema may be, where it is one of a list: for the refusal of what is not."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

_STEP = re.compile(r"[^.\[\]]+|\[[^\]]*\]")


def choices(kind: Any, tree: object, field: str) -> tuple[object, ...]:
    """Return the values that ``field`` may have; empty where it is no choice from a list.

    Args:
        kind: the type that was decoded.
        tree: what was found: its ``type`` decides which of several records it is.
        field: where it stands: ``spots[0].kind``; the decoder writes ``[...]`` for any index.
    """
    schema = _schema(kind)
    node: Mapping[str, Any] = schema
    for step in _STEP.findall(field):
        node = _record(node, schema, tree)
        if step == "type" and "discriminator" in node:
            return tuple(sorted(node["discriminator"]["mapping"]))
        tree = tree.get(step) if isinstance(tree, dict) else None
        inner = node.get("items") if step.startswith("[") else node.get("properties", {}).get(step)
        if inner is None:
            return ()
        node = inner
    return _listed(_followed(node, schema))


@cache
def _schema(kind: Any) -> Mapping[str, Any]:
    """Return it, made once: events of unknown types are refused by it one after another."""
    return msgspec.json.schema(kind)


def _record(node: Mapping[str, Any], schema: Mapping[str, Any], tree: object) -> Mapping[str, Any]:
    """Return the one record that a node of several is, as far as ``tree`` shows it."""
    node = _followed(node, schema)
    if "discriminator" in node:
        tag = tree.get("type") if isinstance(tree, dict) else None
        found = node["discriminator"]["mapping"].get(tag) if isinstance(tag, str) else None
        return node if found is None else _followed({"$ref": found}, schema)
    several = (_followed(one, schema) for one in node.get("anyOf", ()))
    return next((one for one in several if {"properties", "items"} & one.keys()), node)


def _followed(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    return node


def _listed(node: Mapping[str, Any]) -> tuple[object, ...]:
    options: list[object] = list(node.get("enum", ()))
    for one in node.get("anyOf", ()):
        options += one.get("enum", ())
    return tuple("none" if option is None else option for option in options)
