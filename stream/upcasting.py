"""Convert entries of older versions to this one at reading. The file stays unchanged."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from stream.store import SCHEMA_VERSION

Fields: TypeAlias = dict[str, Any]

_GAP: Final = re.compile(r"number (?P<found>\d+) where (?P<due>\d+) was due")


class _Head(msgspec.Struct):
    type: str


def upcast(body: bytes, version: int) -> bytes:
    """Return the JSON of an entry of ``version`` as this version would have written it."""
    if version == SCHEMA_VERSION:
        return body
    kind = msgspec.json.decode(body, type=_Head).type
    steps = [_STEPS.get((step, kind)) for step in range(version, SCHEMA_VERSION)]
    if not any(steps):
        return body
    fields: Fields = msgspec.json.decode(body)
    for step in steps:
        fields = step(fields) if step else fields
    return msgspec.json.encode(fields)


def _missing_draws(fault: Fields) -> Fields:
    """Add the draws of a gap as fields: version 1 named them in words only."""
    gap = _GAP.fullmatch(fault["detail"]) if fault["kind"] == "gap" else None
    if gap is None or int(gap["found"]) <= int(gap["due"]):
        return fault
    return fault | {"missing_from": int(gap["due"]), "missing_to": int(gap["found"]) - 1}


_STEPS: Final[Mapping[tuple[int, str], Callable[[Fields], Fields]]] = {
    (1, "reader_fault"): _missing_draws,
}
"""The conversion of a type of event from a version to the next."""
