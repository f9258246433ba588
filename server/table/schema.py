"""The JSON Schema of ``table.toml``, every field with its docstring."""

import ast
import inspect
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from devices.cameras.config import CameraConfig
from devices.registry import driver_names, registered
from models.session import ReferencePoint
from server.table.config import Camera, Port, Recorder, SentCheckpoints, TableConfig

_PARTS = (TableConfig, Camera, CameraConfig, Port, Recorder, ReferencePoint, SentCheckpoints)


def table_schema() -> dict[str, Any]:
    """Return the schema; its definitions contain each driver's settings."""
    drivers = {f"settings of {name}": registered(name).config for name in driver_names()}
    schema = msgspec.json.schema(TableConfig)
    definitions: dict[str, Any] = schema["$defs"]
    describe(definitions, _PARTS)
    for title, kind in drivers.items():
        _, found = msgspec.json.schema_components([kind])
        describe(found, (kind,))
        definitions[title] = found[kind.__name__]
    return schema


def sentences(kind: type[msgspec.Struct]) -> Mapping[str, str]:
    """Return the docstring of each field of ``kind``, its own and its bases'."""
    found: dict[str, str] = {}
    for part in reversed(kind.__mro__):
        if issubclass(part, msgspec.Struct) and part is not msgspec.Struct:
            (declared,) = ast.parse(textwrap.dedent(inspect.getsource(part))).body
            assert isinstance(declared, ast.ClassDef)
            found |= _below(declared.body)
    return found


def _below(body: Iterable[ast.stmt]) -> dict[str, str]:
    texts: dict[str, str] = {}
    field: str | None = None
    for line in body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=name)):
                field = name
            case ast.Expr(value=ast.Constant(value=str(text))) if field is not None:
                texts[field], field = inspect.cleandoc(text).replace("``", "`"), None
            case _:
                field = None
    return texts


def describe(definitions: Mapping[str, Any], kinds: Iterable[type[msgspec.Struct]]) -> None:
    """Add the fields' docstrings to a schema's definitions."""
    for kind in kinds:
        texts = sentences(kind)
        for field, schema in definitions[kind.__name__]["properties"].items():
            if field in texts:
                schema["description"] = texts[field]
