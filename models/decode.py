"""Text in, validated values out; what is not as the format says is refused by name.

Every refusal names the source, the line, the field, what was expected and what was found.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

import msgspec

from models.errors import InputRefused
from models.judgements import AnyEvent

T = TypeVar("T")

_EVENT: Final[msgspec.json.Decoder[AnyEvent]] = msgspec.json.Decoder(AnyEvent)
_PLACE: Final = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)
_EXPECTED: Final = re.compile(r"^Expected (?P<expected>.+?)(?:, got (?P<found>.+))?$", re.DOTALL)
_MISSING: Final = re.compile(r"^Object missing required field `(?P<name>[^`]+)`$")
_UNKNOWN: Final = re.compile(r"^Object contains unknown field `(?P<name>[^`]+)`$")
_LONGEST_SHOWN: Final = 60
_WORDS: Final = {
    "card": "a card such as AS, a rank alone such as A?, or null",
    "to": 'a spot number or "dealer"',
    "type": "an event type of the format",
}
"""What to ask for where the decoder only says that a word is not in its list."""


def decode_events(lines: Iterable[bytes], source: str) -> Iterator[tuple[int, AnyEvent]]:
    """Yield each event of a JSON Lines stream with its line number, from 1.

    Blank lines are passed over. ``seq`` may be left out, but where it stands it must grow.

    Raises:
        InputRefused: at the first line that is no event; the events before it were yielded.
    """
    last_seq = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        event = decode_event(line, source, number)
        if event.seq is not None:
            if event.seq <= last_seq:
                raise InputRefused(
                    source=source,
                    line=number,
                    field="seq",
                    expected=f"a number above {last_seq}, the line before",
                    found=str(event.seq),
                )
            last_seq = event.seq
        yield number, event


def decode_event(line: bytes, source: str, number: int) -> AnyEvent:
    """Decode one line; raises :class:`InputRefused` where it is no event."""
    try:
        return _EVENT.decode(line)
    except UnicodeDecodeError as fault:
        raise _refusal(source, number, "line", "UTF-8 text", f"byte {fault.start}") from fault
    except msgspec.ValidationError as fault:
        raise _invalid(fault, _parsed(line), source, number) from fault
    except msgspec.DecodeError as fault:
        shown = _shown(line.strip().decode("utf-8", "replace"))
        raise _refusal(source, number, "line", "one JSON object", shown) from fault
    except RecursionError as fault:
        raise _refusal(source, number, "line", "a flat object", "endless nesting") from fault


def from_toml(text: str, kind: type[T], source: str) -> T:
    """Decode a TOML document as ``kind``.

    Raises:
        InputRefused: naming the field, and its line where the field stands only once.
    """
    tree = toml_tree(text, source)
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as fault:
        refused = _invalid(fault, tree, source, None)
        name = refused.field.rpartition(".")[2].partition("[")[0]
        raise InputRefused(
            source=source,
            line=toml_line(text, name),
            field=refused.field,
            expected=refused.expected,
            found=refused.found,
        ) from fault


def toml_tree(text: str, source: str) -> dict[str, Any]:
    """Parse TOML; raises :class:`InputRefused` with the line where it is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        at = re.search(r"\(at line (\d+)", str(fault))
        line = int(at.group(1)) if at else None
        raise _refusal(source, line, "document", "TOML", str(fault)) from fault


def toml_line(text: str, key: str) -> int | None:
    """Return the line on which ``key`` is set, if it is set exactly once."""
    setting = re.compile(rf"^\s*(?:\[+.*\b)?{re.escape(key)}\s*(?:=|\]+\s*$)")
    lines = [number for number, line in enumerate(text.splitlines(), 1) if setting.match(line)]
    return lines[0] if len(lines) == 1 else None


def _invalid(
    fault: msgspec.ValidationError, tree: object, source: str, line: int | None
) -> InputRefused:
    parts = _PLACE.match(str(fault))
    what = parts.group("what") if parts else str(fault)
    path = (parts.group("path") or "$") if parts else "$"
    field = path.removeprefix("$").removeprefix(".")
    if missing := _MISSING.match(what):
        return _refusal(source, line, _joined(field, missing.group("name")), "a value", "nothing")
    if unknown := _UNKNOWN.match(what):
        name = _joined(field, unknown.group("name"))
        return _refusal(source, line, name, "no such field", "it")
    found = _shown(_value_at(tree, path))
    expected = _EXPECTED.match(what)
    name = field.rpartition(".")[2]
    wanted = expected.group("expected") if expected else _WORDS.get(name, "a word the format knows")
    return _refusal(source, line, field or "line", wanted.replace("`", ""), found)


def _refusal(source: str, line: int | None, field: str, expected: str, found: str) -> InputRefused:
    return InputRefused(source=source, line=line, field=field, expected=expected, found=found)


def _joined(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


def _parsed(line: bytes) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line.decode("utf-8", "replace")


def _value_at(tree: object, path: str) -> object:
    for step in re.findall(r"\.([^.\[\]]+)|\[(\d+|\.\.\.)\]", path):
        name, index = step
        if name and isinstance(tree, dict) and name in tree:
            tree = tree[name]
        elif index.isdecimal() and isinstance(tree, list) and int(index) < len(tree):
            tree = tree[int(index)]
        else:
            break
    return tree


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
