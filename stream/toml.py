"""Write values as TOML: the standard library only reads it."""

import json
from collections.abc import Iterator, Mapping

import msgspec


def to_toml(value: msgspec.Struct) -> str:
    """Write a struct as a TOML document; fields that are ``None`` are left out.

    A list of tables becomes ``[[name]]`` blocks, anything deeper an inline table.
    """
    fields: dict[str, object] = msgspec.to_builtins(value)
    blocks = {name: found for name, found in fields.items() if _is_tables(found)}
    lines = [*_settings({k: v for k, v in fields.items() if k not in blocks})]
    for name, tables in blocks.items():
        assert isinstance(tables, list | tuple)
        for table in tables:
            lines += ["", f"[[{name}]]", *_settings(table)]
    return "\n".join(lines) + "\n"


def _is_tables(value: object) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(item, dict) for item in value)


def _settings(table: Mapping[str, object]) -> Iterator[str]:
    for name, value in table.items():
        if value is not None:
            yield f"{name} = {_inline(value)}"


def _inline(value: object) -> str:
    match value:
        case dict():
            return "{ " + ", ".join(_settings(value)) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(_inline, value)) + "]"
        case str():
            return _quoted(value)
        case bool():
            return "true" if value else "false"
        case _:
            return repr(value)


def _quoted(text: str) -> str:
    # JSON's escapes are TOML's, except that JSON allows the control character DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
