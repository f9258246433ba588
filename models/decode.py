"""Decode text into validated values; refuse by name what does not match the format.

Every refusal names the source, the line, the field, what was expected and what was found.
"""

import json
import re
import tomllib
from array import array
from bisect import bisect_left
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import count, islice
from typing import Any, Final, TypeVar

import msgspec

from models.choices import choices, fields
from models.errors import InputRefused
from models.events import RoundOpened
from models.judgements import AnyEvent

T = TypeVar("T")

_EVENT: Final[msgspec.json.Decoder[AnyEvent]] = msgspec.json.Decoder(AnyEvent)
_KEYS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
LONGEST_LINE: Final = 1 << 20
"""Bytes of the longest line that is read: the reader refuses an endless line before memory runs
out."""

_AT_ONCE: Final = 128
"""Lines decoded together. More are faster; fewer keep an event from waiting."""
_PLACE: Final = re.compile(r"^(?P<what>.*?)(?: - at `(?P<path>[^`]*)`)?$", re.DOTALL)
_EXPECTED: Final = re.compile(r"^Expected (?P<expected>.+?)(?:, got (?P<found>.+))?$", re.DOTALL)
_BOUND: Final = re.compile(r"^`(\w+)` (<=|>=) (-?\d+)$")
_MISSING: Final = re.compile(r"^Object missing required field `(?P<name>[^`]+)`$")
_UNKNOWN: Final = re.compile(r"^Object contains unknown field `(?P<name>[^`]+)`$")
_UNKNOWN_AT: Final = re.compile(
    r"^Object contains unknown field `(?P<name>[^`]+)`(?: - at `(?P<path>[^`]*)`)?$"
)
_LONGEST_SHOWN: Final = 60
_WORDS: Final = {
    "card": "a card such as AS, a rank alone such as A?, or null",
    "to": 'a spot number or "dealer"',
}
"""The allowed values of an event's field, where its type does not state them in words."""

_KINDS: Final = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "one JSON object",
}
"""The decoder's type names, in words."""


def decode_events(lines: Iterable[bytes], source: str) -> Iterator[tuple[int, AnyEvent]]:
    """Yield each event of JSON Lines with its line number; raises as :func:`decode_batches`.

    It takes a few lines at a time from ``lines``.
    """
    stripped = (line.rstrip(b"\r\n") for line in lines)
    return decode_batches(iter(lambda: list(islice(stripped, _AT_ONCE)), []), source)


def decode_batches(
    batches: Iterable[Sequence[bytes]], source: str
) -> Iterator[tuple[int, AnyEvent]]:
    """Yield each event of a JSON Lines stream with its line number, from 1.

    Blank lines and a byte order mark before the first line are skipped. ``seq`` is optional; where
    present it must grow from event to event of a table. So must the numbers of its rounds.

    Args:
        batches: lines without their ends, in groups as they are available.
        source: the file's name, for messages.

    Raises:
        InputRefused: at the first line that is no event; the events before it were yielded.
    """
    last_seq: dict[str | None, int] = {}
    opened: dict[str | None, _Opened] = {}
    start = 1
    for batch in batches:
        for number, event in _decoded(_unmarked(batch) if start == 1 else batch, source, start):
            seq = event.seq
            if seq is not None:
                if seq <= last_seq.get(event.table, 0):
                    raise _seq_refused(source, number, last_seq[event.table], seq)
                last_seq[event.table] = seq
            if type(event) is RoundOpened:
                opened.setdefault(event.table, _Opened()).note(event.round, number, source)
            yield number, event
        start += len(batch)


def known_part(line: bytes) -> bytes:
    """Return the JSON of an event without the fields that this version refuses.

    JSON that does not match the format for another reason stays as it is.
    """
    while True:
        try:
            _EVENT.decode(line)
        except msgspec.ValidationError as fault:
            unknown = _UNKNOWN_AT.match(str(fault))
            if unknown is None:
                return line
            tree = msgspec.json.decode(line)
            del _value_at(tree, unknown.group("path") or "$")[unknown.group("name")]
            line = msgspec.json.encode(tree)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return line
        else:
            return line


def decode_event(line: bytes, source: str, number: int, *, newer: bool = False) -> AnyEvent:
    """Decode one line; raises :class:`InputRefused` where it is no event.

    A fact's field that this version does not know is refused, unless a ``newer`` one may have
    written the line. A repeated field always is: nobody knows which of its two values is meant.
    """
    if len(line) > LONGEST_LINE:
        raise _refusal(
            source, number, "line", f"at most {LONGEST_LINE:,} bytes", f"{len(line):,} or more"
        )
    try:
        text = line.decode()
        event = _EVENT.decode(known_part(line) if newer else line)
        twice = None if _each_key_once(line) else _repeated(text)
    except UnicodeDecodeError as fault:
        raise _refusal(source, number, "line", "UTF-8 text", _bytes_found(fault)) from fault
    except msgspec.ValidationError as fault:
        raise _invalid(fault, _parsed(line), source, number, AnyEvent) from fault
    except msgspec.DecodeError as fault:
        raise _refusal(
            source, number, "line", "one JSON object", _shown(_text_found(line))
        ) from fault
    except RecursionError as fault:
        raise _refusal(source, number, "line", "a flat object", "endless nesting") from fault
    if twice is not None:
        raise _refusal(source, number, twice, "the field once", "it more than once")
    return event


def _unmarked(batch: Sequence[bytes]) -> Sequence[bytes]:
    return [batch[0].removeprefix(BOM_UTF8), *batch[1:]] if batch else batch


def _decoded(batch: Sequence[bytes], source: str, start: int) -> Iterable[tuple[int, AnyEvent]]:
    """Decode regular lines all at once, and irregular ones one by one."""
    block = b"\n".join(batch)
    if _line_by_line(block, len(batch)):
        try:
            events = _EVENT.decode_lines(block)
            if len(events) == len(batch) and _each_key_once(block):
                return zip(count(start), events, strict=False)
        except (msgspec.DecodeError, RecursionError):
            """Decoding line by line finds the faulty one."""
    return _one_by_one(batch, source, start)


def _line_by_line(block: bytes, lines: int) -> bool:
    """Whether every line is plain text from a ``{`` to a ``}``.

    No object spans such lines: after a ``}`` it could not continue with ``{``.
    """
    framed = block.startswith(b"{") and block.endswith(b"}")
    apart = block.count(b"}\n{") == lines - 1
    return framed and apart and block.isascii() and len(block) <= LONGEST_LINE


def _one_by_one(batch: Sequence[bytes], source: str, start: int) -> Iterator[tuple[int, AnyEvent]]:
    for number, line in enumerate(batch, start):
        if not line.isspace() and line:
            yield number, decode_event(line, source, number)


def _each_key_once(block: bytes) -> bool:
    """Whether every line surely holds each key once: there are no more colons than keys."""
    return sum(map(len, _KEYS.decode_lines(block))) == block.count(b":")


def _repeated(text: str) -> str | None:
    """Return the first key that an object of the line holds twice, or ``None``."""
    found: list[str] = []

    def keys(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        found.extend(name for name in names if names.count(name) > 1)

    json.loads(text, object_pairs_hook=keys, parse_int=str)
    return found[0] if found else None


class _Opened:
    """The rounds that one table opened so far, and the line of each."""

    def __init__(self) -> None:
        self._rounds, self._lines = array("q"), array("q")

    def note(self, number: int, line: int, source: str) -> None:
        """Add a round; raises ``InputRefused`` unless its number is above those before it."""
        if self._rounds and number <= self._rounds[-1]:
            raise self._refused(number, line, source)
        self._rounds.append(number)
        self._lines.append(line)

    def _refused(self, number: int, line: int, source: str) -> InputRefused:
        last, at = self._rounds[-1], bisect_left(self._rounds, number)
        found = f"{number} after round {last} on line {self._lines[-1]}"
        if self._rounds[at] == number:
            found = f"{number}, which stands on line {self._lines[at]} already"
        return _refusal(source, line, "round", f"a number above {last}", found)


def _seq_refused(source: str, line: int, last: int, found: int) -> InputRefused:
    expected = f"a number above {last}, the one before it at this table"
    return _refusal(source, line, "seq", expected, str(found))


def from_toml(text: str, kind: type[T], source: str) -> T:
    """Decode a TOML document as ``kind``.

    Raises:
        InputRefused: naming the field, and its line where the field stands only once.
    """
    return from_tree(toml_tree(text, source), kind, source, text)


def from_tree(tree: object, kind: type[T], source: str, text: str) -> T:
    """Convert ``text``, parsed as TOML, to ``kind``; raises as :func:`from_toml`."""
    try:
        return msgspec.convert(tree, kind)
    except msgspec.ValidationError as fault:
        refused = _invalid(fault, tree, source, None, kind)
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
    fault: msgspec.ValidationError,
    tree: object,
    source: str,
    line: int | None,
    kind: Any,
) -> InputRefused:
    parts = _PLACE.match(str(fault))
    what = parts.group("what") if parts else str(fault)
    path = (parts.group("path") or "$") if parts else "$"
    field = path.removeprefix("$").removeprefix(".")
    if missing := _MISSING.match(what):
        name = _joined(field, missing.group("name"))
        return _refusal(source, line, name, _choice(kind, tree, name) or "a value", "nothing")
    if unknown := _UNKNOWN.match(what):
        name = unknown.group("name")
        wanted = _nearest(name, fields(kind, tree, field))
        return _refusal(source, line, _joined(field, name), wanted, "no such field")
    wanted = _wanted(what, _choice(kind, tree, field))
    return _refusal(source, line, field or "line", wanted, _shown(_value_at(tree, path)))


def _nearest(name: str, known: Sequence[str]) -> str:
    """Name the field that a misspelt one may be meant for, or all that there are."""
    near = get_close_matches(name, known, 1)
    return f"{near[0]!r}" if near else f"one of {', '.join(known)}"


def _choice(kind: Any, tree: object, field: str) -> str | None:
    """Describe the allowed values of a field of ``kind`` where they are listed or have words."""
    name = re.sub(r"\[.*?\]$", "", field).rpartition(".")[2]
    if kind is AnyEvent and name in _WORDS:
        return _WORDS[name]
    options = choices(kind, tree, field)
    return "one of " + ", ".join(map(str, options)) if options else None


def _wanted(what: str, choice: str | None) -> str:
    """Describe what was expected: the allowed values, else the kind and bounds."""
    expected = _EXPECTED.match(what)
    bound = expected and _BOUND.match(expected.group("expected"))
    if bound:
        kind, sign, limit = bound.groups()
        return f"{_KINDS.get(kind, kind)}, {'at most' if sign == '<=' else 'at least'} {limit}"
    if what.endswith("out of range"):
        return "a number of at most 19 digits"
    if choice is not None:
        return choice
    if expected is None:
        return "a word the format knows"
    kinds = expected.group("expected").replace("`", "").split(" | ")
    return " or ".join(_KINDS.get(kind, kind) for kind in kinds)


def _refusal(source: str, line: int | None, field: str, expected: str, found: str) -> InputRefused:
    return InputRefused(source=source, line=line, field=field, expected=expected, found=found)


def _joined(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


def _parsed(line: bytes) -> object:
    """Return the line's value as far as the message needs it."""
    try:
        return json.loads(line, parse_int=_number)
    except (ValueError, RecursionError):
        return _text_found(line)


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) < _LONGEST_SHOWN else digits


def _text_found(line: bytes) -> str:
    return line[: 4 * _LONGEST_SHOWN].decode("utf-8", "replace").strip()


def _bytes_found(fault: UnicodeDecodeError) -> str:
    at, seen = fault.start, fault.object[fault.start : fault.start + 1]
    if fault.object[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
        return "UTF-16"
    return f"byte 0x{seen.hex()} at position {at + 1}"


def _value_at(tree: Any, path: str) -> Any:
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
    text = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
