"""The allowed values of a schema's field, for the message that refuses another value."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec

_STEP = re.compile(r"[^.\[\]]+|\[[^\]]*\]")


def choices(kind: Any, tree: object, field: str) -> tuple[object, ...]:
    """Return the allowed values of ``field``; empty where the schema does not list them.

    Args:
        kind: the type that was decoded.
        tree: the decoded input; its ``type`` selects one of several records.
        field: its path, such as ``spots[0].kind``; the decoder writes ``[...]`` for any index.
    """
    above, _, last = field.rpartition(".")
    if last == "type":
        union, _ = _at(kind, tree, above)
        if "discriminator" in union:
            return tuple(sorted(union["discriminator"]["mapping"]))
    return _listed(_at(kind, tree, field)[0])


def fields(kind: Any, tree: object, path: str) -> tuple[str, ...]:
    """Return the fields of the record at ``path``, as :func:`choices` finds it; empty for none."""
    node, inner = _at(kind, tree, path)
    return tuple(_record(node, _schema(kind), inner).get("properties", ()))


def _at(kind: Any, tree: object, path: str) -> tuple[Mapping[str, Any], object]:
    """Return the schema of a field, and its value."""
    schema = _schema(kind)
    node: Mapping[str, Any] = _followed(schema, schema)
    for step in _STEP.findall(path):
        node = _record(node, schema, tree)
        tree = tree.get(step) if isinstance(tree, dict) else None
        inner = node.get("items") if step.startswith("[") else node.get("properties", {}).get(step)
        if inner is None:
            return {}, None
        node = _followed(inner, schema)
    return node, tree


@cache
def _schema(kind: Any) -> Mapping[str, Any]:
    """Return the schema, cached: a file may hold many events of unknown types."""
    return msgspec.json.schema(kind)


def _record(node: Mapping[str, Any], schema: Mapping[str, Any], tree: object) -> Mapping[str, Any]:
    """Return the one record of a union that ``tree`` matches."""
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
