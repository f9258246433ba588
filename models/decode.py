"""Decode text into validated values; refuse by name what does not match the format.

Every refusal names the source, the line, the field, what was expected and what was found.
"""

import json
import math
import re
import tomllib
from array import array
from bisect import bisect_left
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from typing import Any, Final, TypeVar

import msgspec

from models.errors import InputRefused
from models.events import RoundOpened
from models.faults import Fault, faults, first_fault
from models.judgements import AnyEvent

T = TypeVar("T")

_EVENT: Final[msgspec.json.Decoder[AnyEvent]] = msgspec.json.Decoder(AnyEvent)
_KEYS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
LONGEST_LINE: Final = 1 << 20
"""Bytes of the longest line that is read: the reader refuses an endless line before memory runs
out."""

_AT_ONCE: Final = 128
"""Lines decoded together. More are faster; fewer keep an event from waiting."""
_LONGEST_SHOWN: Final = 60


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
    tree: Any = _parsed(line)
    while (fault := first_fault(AnyEvent, tree)) is not None and fault.is_unknown:
        record = tree
        for step in fault.path[:-1]:
            record = record[step]
        del record[fault.path[-1]]
        line = msgspec.json.encode(tree)
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
        event = _event(line, newer=newer)
        twice = None if _each_key_once(line) else _repeated(text)
    except UnicodeDecodeError as fault:
        raise _refusal(source, number, "line", "UTF-8 text", _bytes_found(fault)) from fault
    except msgspec.ValidationError as fault:
        tree = _parsed(known_part(line) if newer else line)
        raise _refused(source, number, next(faults(AnyEvent, tree))) from fault
    except msgspec.DecodeError as fault:
        raise _refusal(
            source, number, "line", "one JSON object", _shown(_text_found(line))
        ) from fault
    except RecursionError as fault:
        raise _refusal(source, number, "line", "a flat object", "endless nesting") from fault
    if twice is not None:
        raise _refusal(source, number, twice, "the field once", "it more than once")
    return event


def _event(line: bytes, *, newer: bool) -> AnyEvent:
    try:
        return _EVENT.decode(line)
    except msgspec.ValidationError:
        if not newer:
            raise
        return _EVENT.decode(known_part(line))


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
        raise next(toml_refusals(tree, kind, source, text)) from fault


def toml_refusals(tree: object, kind: Any, source: str, text: str) -> Iterator[InputRefused]:
    """Yield a refusal for each field of ``text``, parsed as TOML, that does not fit ``kind``."""
    for fault in faults(kind, tree):
        name = next((str(step) for step in reversed(fault.path) if isinstance(step, str)), "")
        yield _refused(source, toml_line(text, name), fault)


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


def _refused(source: str, line: int | None, fault: Fault) -> InputRefused:
    found = "no such field" if fault.is_unknown else _shown(fault.value)
    return _refusal(source, line, fault.field or "line", fault.expected, found)


def _refusal(source: str, line: int | None, field: str, expected: str, found: str) -> InputRefused:
    return InputRefused(source=source, line=line, field=field, expected=expected, found=found)


def _parsed(line: bytes) -> object:
    """Return the line's value as far as the message needs it."""
    try:
        return json.loads(line, parse_int=_number, parse_float=_decimal)
    except (ValueError, RecursionError):
        return _text_found(line)


def _number(digits: str) -> int | str:
    return int(digits) if len(digits) < _LONGEST_SHOWN else digits


def _decimal(digits: str) -> float | str:
    """Return a decimal number; as text where no float holds it, so that it fits no field."""
    return number if math.isfinite(number := float(digits)) else digits


def _text_found(line: bytes) -> str:
    return line[: 4 * _LONGEST_SHOWN].decode("utf-8", "replace").strip()


def _bytes_found(fault: UnicodeDecodeError) -> str:
    at, seen = fault.start, fault.object[fault.start : fault.start + 1]
    if fault.object[:2] in (BOM_UTF16_LE, BOM_UTF16_BE):
        return "UTF-16"
    return f"byte 0x{seen.hex()} at position {at + 1}"


def _shown(value: object) -> str:
    if value is msgspec.UNSET:
        return "nothing"
    text = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 1] + "…"
