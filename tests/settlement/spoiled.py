"""Event files as they go wrong: bytes lost, fields of the wrong kind, facts out of place.

``spoilt`` makes one bad file out of a good one by a seed and says what it did. ``readable`` reads
a file as the format's words have it, with nothing of the program's own reading.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final, TypeAlias

Lines: TypeAlias = list[bytes]
Fact: TypeAlias = dict[str, Any]
Fields: TypeAlias = dict[str, Callable[[Any], bool]]


@dataclass(frozen=True)
class Spoilt:
    """A file that went wrong, and how."""

    how: str
    data: bytes
    fact: str = ""
    """The type of the fact that was touched, where it was one fact."""
    field: str = ""
    """The field that was touched, where it was one field."""


# --- facts out of place: every line is sound, what they say together may not be -----------


def _joined(lines: Sequence[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _type(line: bytes) -> str:
    return str(json.loads(line)["type"])


def dropped(lines: Lines, chance: Random) -> Spoilt:
    at = chance.randrange(len(lines))
    return Spoilt("dropped", _joined(lines[:at] + lines[at + 1 :]), _type(lines[at]))


def doubled(lines: Lines, chance: Random) -> Spoilt:
    at = chance.randrange(len(lines))
    return Spoilt("doubled", _joined(lines[: at + 1] + lines[at:]), _type(lines[at]))


def swapped(lines: Lines, chance: Random) -> Spoilt:
    at = chance.randrange(len(lines) - 1)
    one, other = lines[at : at + 2]
    told = [*lines[:at], other, one, *lines[at + 2 :]]
    return Spoilt("swapped", _joined(told), f"{_type(one)} {_type(other)}")


def moved(lines: Lines, chance: Random) -> Spoilt:
    left = list(lines)
    line = left.pop(chance.randrange(len(left)))
    left.insert(chance.randrange(len(left) + 1), line)
    return Spoilt("moved", _joined(left), _type(line))


def cut_off(lines: Lines, chance: Random) -> Spoilt:
    return Spoilt("cut_off", _joined(lines[: chance.randrange(len(lines))]))


def begun_late(lines: Lines, chance: Random) -> Spoilt:
    return Spoilt("begun_late", _joined(lines[chance.randrange(1, len(lines)) :]))


def altered(lines: Lines, chance: Random) -> Spoilt:
    """Say of one fact something else that is as sound."""
    told = list(lines)
    choices = [at for at, line in enumerate(lines) if set(json.loads(line)) & set(_OTHERWISE)]
    at = chance.choice(choices)
    fact = json.loads(lines[at])
    field = chance.choice([name for name in fact if name in _OTHERWISE])
    others = [value for value in _OTHERWISE[field] if value != fact[field]]
    if field == "kind":
        kinds = _KINDS[fact["type"]]
        others = [value for value in kinds if value != fact[field]]
    told[at] = json.dumps(fact | {field: chance.choice(others)}).encode()
    return Spoilt("altered", _joined(told), fact["type"], field)


def shuffled(lines: Lines, chance: Random) -> Spoilt:
    told = list(lines)
    chance.shuffle(told)
    return Spoilt("shuffled", _joined(told))


def reversed_(lines: Lines, chance: Random) -> Spoilt:
    return Spoilt("reversed", _joined(lines[::-1]))


_KINDS: Final = {
    "wager_placed": ("main", "double", "split", "insurance", "side"),
    "wager_removed": ("main", "double", "split", "insurance", "side"),
    "payment_made": ("main", "insurance"),
}
_OTHERWISE: Final[dict[str, tuple[Any, ...]]] = {
    "card": ("AS", "5H", "TD", "9C", "KS", "2D", None, "7?"),
    "to": (1, 2, 5, 9, 99, "dealer"),
    "spot": (1, 2, 5, 9, 99),
    "hand": (0, 1, 2, 15),
    "amount": (0, 1, 999, 10**12),
    "kind": ("main",),
    "face": ("up", "down"),
    "action": ("hit", "stand", "double", "split", "surrender", "even_money"),
    "manner": ("hand", "verbal", "tuck"),
    "blackjack": (True, False),
    "decks": (1, 8),
    "round": (1, 7, 2**63 - 1),
}

# --- fields of the wrong kind -------------------------------------------------------------

NOT_OF_THE_KIND: Final[Sequence[Any]] = (
    "", "x", "1", "1S", "as", "dealer ", "MAIN", True, False, None, [], [1], {}, {"a": 1},
    0, -1, 100, 16, 10**12 + 1, -(10**12) - 1, 10**18, 2**63, 2**64, 10**30, 1.0, 1.5, 1e300,
)  # fmt: skip


def wrong_value(lines: Lines, chance: Random) -> Spoilt:
    at, fact = _some_fact(lines, chance)
    field = chance.choice(list(fact))
    value = json.dumps(chance.choice(NOT_OF_THE_KIND))
    return _rewritten("wrong_value", lines, at, fact, field, f"{json.dumps(field)}:{value}")


def not_a_number(lines: Lines, chance: Random) -> Spoilt:
    at, fact = _some_fact(lines, chance)
    field = chance.choice(list(fact))
    value = chance.choice(["NaN", "Infinity", "-Infinity", "01", "1e", "+1", "0x10", "1" * 5000])
    return _rewritten("not_a_number", lines, at, fact, field, f"{json.dumps(field)}:{value}")


def without_field(lines: Lines, chance: Random) -> Spoilt:
    at, fact = _some_fact(lines, chance)
    return _rewritten("without_field", lines, at, fact, chance.choice(list(fact)), None)


def field_twice(lines: Lines, chance: Random) -> Spoilt:
    at, fact = _some_fact(lines, chance)
    field = chance.choice(list(fact))
    other = json.dumps(chance.choice([fact[field], *NOT_OF_THE_KIND]))
    twice = f"{json.dumps(field)}:{json.dumps(fact[field])},{json.dumps(field)}:{other}"
    return _rewritten("field_twice", lines, at, fact, field, twice)


def field_renamed(lines: Lines, chance: Random) -> Spoilt:
    at, fact = _some_fact(lines, chance)
    field = chance.choice(list(fact))
    name = chance.choice([field.upper(), field + "s", " " + field])
    kept = f"{json.dumps(name)}:{json.dumps(fact[field])}"
    return _rewritten("field_renamed", lines, at, fact, field, kept)


def nested(lines: Lines, chance: Random) -> Spoilt:
    at, fact = _some_fact(lines, chance)
    deep = chance.choice([3, 200, 5000, 100_000])
    field = chance.choice(list(fact))
    ends = chance.choice(["[]", "{}"])
    value = '{"a":' * deep + "1" + "}" * deep if ends == "{}" else "[" * deep + "]" * deep
    return _rewritten("nested", lines, at, fact, field, f"{json.dumps(field)}:{value}")


def _some_fact(lines: Lines, chance: Random) -> tuple[int, Fact]:
    at = chance.randrange(len(lines))
    return at, json.loads(lines[at])


def _rewritten(
    how: str, lines: Lines, at: int, fact: Fact, field: str, written: str | None
) -> Spoilt:
    parts = [
        written if name == field else f"{json.dumps(name)}:{json.dumps(value)}"
        for name, value in fact.items()
    ]
    line = "{" + ",".join(part for part in parts if part is not None) + "}"
    told = [*lines[:at], line.encode(), *lines[at + 1 :]]
    return Spoilt(how, _joined(told), fact["type"], field)


# --- bytes ---------------------------------------------------------------------------------

_BYTES: Final = (
    b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"{", b"}", b'"', b",",
    b"\\", b"\x1a", b"]", b"null", b"\xe2\x80\xa8", b"\\ud800",
)  # fmt: skip


def bytes_put_in(lines: Lines, chance: Random) -> Spoilt:
    data = _joined(lines)
    for _ in range(chance.choice([1, 1, 1, 4])):
        at = chance.randrange(len(data) + 1)
        data = data[:at] + chance.choice(_BYTES) + data[at:]
    return Spoilt("bytes_put_in", data)


def bytes_flipped(lines: Lines, chance: Random) -> Spoilt:
    data = bytearray(_joined(lines))
    for _ in range(chance.choice([1, 1, 2, 30])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return Spoilt("bytes_flipped", bytes(data))


def bytes_lost(lines: Lines, chance: Random) -> Spoilt:
    data = _joined(lines)
    at = chance.randrange(len(data))
    return Spoilt("bytes_lost", data[:at] + data[at + chance.choice([1, 2, 40, 4096]) :])


def truncated(lines: Lines, chance: Random) -> Spoilt:
    data = _joined(lines)
    return Spoilt("truncated", data[: chance.randrange(len(data))])


def written_otherwise(lines: Lines, chance: Random) -> Spoilt:
    """The same text as other programs write it."""
    data = _joined(lines)
    name, write = chance.choice(_WRITERS)
    return Spoilt(name, write(data))


def _as_one_array(data: bytes) -> bytes:
    return b"[" + data.strip().replace(b"\n", b",\n") + b"]"


_WRITERS: Final[Sequence[tuple[str, Callable[[bytes], bytes]]]] = (
    ("crlf", lambda data: data.replace(b"\n", b"\r\n")),
    ("lone_cr", lambda data: data.replace(b"\n", b"\r")),
    ("byte_order_mark", lambda data: b"\xef\xbb\xbf" + data),
    ("utf_16", lambda data: data.decode().encode("utf-16")),
    ("one_array", _as_one_array),
    ("blank_lines", lambda data: data.replace(b"\n", b"\n\n \t\n")),
    ("no_last_line_end", lambda data: data.rstrip()),
    ("spaces", lambda data: data.replace(b":", b" : ").replace(b",", b" ,\t")),
    ("one_line", lambda data: data.replace(b"\n", b"")),
    ("two_a_line", lambda data: data.replace(b"}\n{", b"} {")),
    ("empty", lambda data: b""),
    ("endless_line", lambda data: data + b'{"type":"' + b"x" * (1 << 21)),
)

OUT_OF_PLACE: Final = (
    dropped, doubled, swapped, moved, cut_off, begun_late, altered, shuffled, reversed_,
)  # fmt: skip
UNSOUND: Final = (
    wrong_value, not_a_number, without_field, field_twice, field_renamed, nested,
    bytes_put_in, bytes_flipped, bytes_lost, truncated, written_otherwise,
)  # fmt: skip


def spoilt(lines: Lines, chance: Random) -> Spoilt:
    """Make one bad file out of a good one."""
    return chance.choice((*OUT_OF_PLACE, *UNSOUND))(lines, chance)


# --- reading by the words of the format ---------------------------------------------------


def _one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def _whole(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and least <= value <= most


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _card(value: Any) -> bool:
    text = value if isinstance(value, str) and len(value) == 2 else "  "
    return value is None or (text[0] in "A23456789TJQK" and text[1] in "SHDC?")


def _or_null(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _name(value: Any) -> bool:
    return isinstance(value, str) and 1 <= len(value) <= 200


def _place(value: Any) -> bool:
    if not isinstance(value, dict):
        return value == "rack" and isinstance(value, str)
    to, hand = value.get("to"), value.get("hand", 0)
    return value.keys() <= {"to", "hand"} and (_spot(to) or to == "dealer") and _hand(hand)


_spot, _hand = _whole(1, 99), _whole(0, 15)
_chips, _change = _whole(0, 10**12), _whole(-(10**12), 10**12)
_count = _whole(1, 2**63 - 1)
_wager: Final[Fields] = {
    "spot": _spot,
    "hand?": _hand,
    "kind": _one_of("main", "double", "split", "insurance", "side", "toke", "coupon"),
    "amount": _chips,
    "bet?": _or_null(_name),
    "bettor?": _or_null(_name),
}
_ruling: Final[Fields] = {"reason?": _text, "by?": _name}
_dealt: Final[Fields] = {
    "to": lambda value: _spot(value) or value == "dealer",
    "hand?": _hand,
    "card": _card,
}
_seated: Final[Fields] = {"player": _text, "spots": _list_of(_spot)}
_EVERY: Final[Fields] = {
    "seq?": _or_null(_count),
    "at?": _or_null(_whole(0, 2**63 - 1)),
    "table?": _or_null(_text),
    "evidence?": _list_of(_whole(-(2**63), 2**63 - 1)),
}
FIELDS: Final[dict[str, Fields]] = {
    "shoe_started": {"decks": _whole(1, 8)},
    "card_burned": {"card": _card},
    "card_boxed": {"card": _card},
    "cut_card_reached": {},
    "player_seated": _seated,
    "player_left": _seated,
    "round_opened": {"round": _count},
    "wager_placed": _wager,
    "wager_removed": {**_wager, "by?": _one_of("player", "floor"), "reason?": _text},
    "card_dealt": {**_dealt, "face?": _one_of("up", "down")},
    "card_exposed": _dealt,
    "hole_card_checked": {"blackjack": lambda value: isinstance(value, bool)},
    "player_acted": {
        "spot": _spot,
        "hand?": _hand,
        "action": _one_of("hit", "stand", "double", "split", "surrender", "even_money"),
        "manner?": _or_null(_one_of("hand", "verbal", "tuck")),
    },
    "cards_touched": {"spot": _spot, "manner": _one_of("one_hand", "two_hands")},
    "payment_made": {
        "spot": _spot,
        "hand?": _hand,
        "kind?": _one_of("main", "insurance", "side", "toke", "coupon"),
        "amount": _change,
        "bet?": _or_null(_name),
        "bettor?": _or_null(_name),
    },
    "hand_called_off": {"spot": _spot, "hand?": _or_null(_hand), **_ruling},
    "round_called_off": _ruling,
    "card_moved": {"card": _card, "from": _place, "to": _place, **_ruling},
    "discards_reshuffled": _ruling,
    "tray_changed": {
        "amount": _change,
        "reason": _one_of(
            "buy_in", "cash_out", "fill", "credit", "colour_change", "marker", "other"
        ),
        "spot?": _or_null(_spot),
        "player?": _or_null(_name),
        "slip?": _or_null(_name),
    },
    "tray_counted": {"amount": _chips},
    "round_closed": {},
}
"""Every fact's fields with what they may be; ``?`` marks those that may be left out."""


class Unreadable(Exception):
    """A line is not what the format says."""


def readable(data: bytes) -> tuple[list[tuple[int, Fact]], int | None]:
    """Return the facts of a file with their lines, and the first line that is not sound."""
    facts: list[tuple[int, Fact]] = []
    last_seq: dict[str | None, int] = {}
    last_round: dict[str | None, int] = {}
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            fact = _fact(line)
        except (ValueError, RecursionError, Unreadable):
            return facts, number
        table, seq = fact.get("table"), fact.get("seq")
        if seq is not None and seq <= last_seq.get(table, 0):
            return facts, number
        last_seq[table] = seq or last_seq.get(table, 0)
        if fact["type"] == "round_opened":
            if fact["round"] <= last_round.get(table, 0):
                return facts, number
            last_round[table] = fact["round"]
        facts.append((number, fact))
    return facts, None


def _fact(line: bytes) -> Fact:
    if len(line) > 1 << 20:
        raise Unreadable
    tree = json.loads(
        line.decode(), object_pairs_hook=_once, parse_constant=_refused, parse_int=_whole_number
    )
    json.dumps(tree, ensure_ascii=False).encode()
    kind = tree.get("type") if isinstance(tree, dict) else None
    if not isinstance(kind, str) or kind not in FIELDS:
        raise Unreadable
    fields = FIELDS[kind] | _EVERY
    if not all(name.endswith("?") or name in tree for name in fields):
        raise Unreadable
    told = {name.rstrip("?"): check for name, check in fields.items()}
    told["type"] = _text
    if not all(name in told and told[name](value) for name, value in tree.items()):
        raise Unreadable
    return dict(tree)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unreadable
    return found


def _refused(constant: str) -> Any:
    raise Unreadable


def _whole_number(digits: str) -> Any:
    return int(digits) if len(digits) < 40 else float("inf")
