"""Rulebooks from TOML: every knob is stated and cited, or the file is refused by field."""

import hashlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import gcd
from typing import Any, Final, TypeAlias, get_type_hints

import msgspec
from msgspec.structs import replace

from models.cards import pack
from models.errors import InputRefused
from models.money import Odds
from models.rulebook import Citation, Cited, Policy, Rulebook, Signals
from models.side_bet import HandAward, SideBet
from settlement import pay_tables
from settlement.clauses import PASSAGES

Base: TypeAlias = Callable[[str], Cited]
"""Finds the rulebook that another ``extends``."""

_SIDE_BETS: Final = "side_bets"
_PAYS: Final = "pays"
_TABLES: Final = {
    _SIDE_BETS: "a table [side_bets.NAME] for each side bet",
    _PAYS: "a table [[pays]] for each line",
}
"""Knobs that tables of their own set, and not one under ``[knobs]``."""

_KEYS: Final = frozenset(
    {"id", "title", "document", "file", "extends", "licensed", "knobs", "passages", *_TABLES}
)
_GROUPS: Final[Mapping[str, Any]] = {"signals": Signals, "policy": Policy}
_NO_KNOBS: Final = ("id", "overrides", "rules_hash")


def _knobs() -> Iterator[tuple[str, Any]]:
    for name, hint in get_type_hints(Rulebook, include_extras=True).items():
        if name in _GROUPS:
            inner = get_type_hints(_GROUPS[name], include_extras=True)
            yield from ((f"{name}.{knob}", kind) for knob, kind in inner.items())
        elif name not in _NO_KNOBS:
            yield name, hint


KNOBS: Final[Mapping[str, Any]] = dict(_knobs())
"""Every knob by its dotted name, with its type, in the order of the schema."""

_ADDED_LATER: Final[Mapping[str, tuple[Any, str]]] = {
    "shoe": (
        "dealt_out",
        "The sheet was written before this knob; every game then was dealt out and shuffled.",
    ),
    "dealer_second_card": (
        "with_deal",
        "The sheet was written before this knob; every game then had a hole card from the deal.",
    ),
    "hit_on_21": (
        True,
        "The sheet was written before this knob; a player may draw until he stands or breaks.",
    ),
    _SIDE_BETS: ({}, "The sheet declares no side bet."),
    "pack_without": ((), "The sheet takes no cards out of its decks."),
    "dealer_22": ("loses", "The sheet has no other rule for 22 than for any total past 21."),
    _PAYS: ((), "The sheet pays no other hand apart from blackjacks and wins."),
    "double_rescue": (False, "The sheet does not let a doubled hand be given up."),
    "coupon": (
        "even_money",
        "Coupons are a house's promotion beside its sheet; a match play pays its value once.",
    ),
    "coupon_taken": (
        "decided",
        "Coupons are a house's promotion beside its sheet; one is used once its hand is decided.",
    ),
}
"""Knobs that a sheet need not state: their value and the reason."""


def parse(
    text: str, source: str, base: Base | None = None, shelf: pay_tables.Shelf | None = None
) -> Cited:
    """Read a rulebook; one that ``extends`` another states only what differs.

    Args:
        text: the TOML.
        source: the file's name, for messages.
        base: finds the rulebook named by ``extends``.
        shelf: finds the shipped side bet that one of the rulebook's ``extends``.

    Raises:
        InputRefused: a field is missing, unknown, of the wrong kind, uncited, in contradiction with
            another, or set although the base does not license the site to set it; the message names
            the field.
    """
    document = _toml(text, source)
    _known_keys(document, _KEYS, source)
    start = _start(document, source, base)
    plain = _flat(start.rules) if start else {}
    citations = dict(start.citations) if start else {}
    licensed = start.licensed if start else None
    stating = _text(document, "document", source, start.document if start else None)
    for knob, entry in _leaves(_table(document, "knobs", source, empty=start is not None)):
        _refuse_unlicensed(knob, f"knobs.{knob}", licensed, source)
        plain[knob], citations[knob] = _knob(knob, entry, stating, source)
    if _SIDE_BETS in document:
        _refuse_unlicensed(_SIDE_BETS, _SIDE_BETS, licensed, source)
        tables = _table(document, _SIDE_BETS, source, empty=False)
        own = pay_tables.side_bets(tables, stating, source, shelf)
        plain[_SIDE_BETS] = plain.get(_SIDE_BETS, {}) | own
        citations[_SIDE_BETS] = _documents(plain[_SIDE_BETS])
    if _PAYS in document:
        _refuse_unlicensed(_PAYS, _PAYS, licensed, source)
        plain[_PAYS] = pay_tables.hand_awards(document[_PAYS], source)
        citations[_PAYS] = _lines_cited(plain[_PAYS], stating)
    _fill_later(plain, citations)
    _complete(plain, source)
    cited = Cited(
        title=_text(document, "title", source, start.title if start else None),
        document=stating,
        file=_file(document, start, source),
        rules=_assemble(_text(document, "id", source, None), plain),
        citations={knob: citations[knob] for knob in KNOBS},
        passages=_passages(document, start, stating, source),
        licensed=_licensed(document, licensed, source),
    )
    _refuse_contradictions(cited.rules, source, _impossible(cited.rules))
    _refuse_contradictions(cited.rules, source, _at_odds(cited.rules))
    return cited


def override(rules: Rulebook, knob: str, value: str) -> Rulebook:
    """Return ``rules`` with one knob (dotted name) set from text, as ``--set`` does.

    Raises:
        InputRefused: the knob is unknown, or cannot have the value.
    """
    return _noted(rules, _set(rules, knob, value))


def overridden(rules: Rulebook, settings: Iterable[str]) -> Rulebook:
    """Return ``rules`` with each ``KNOB=VALUE`` of ``settings`` applied, checked together.

    ``overrides`` then lists the changes: a knob set to its present value overrides nothing.

    Raises:
        InputRefused: a setting is not ``KNOB=VALUE``, its knob is unknown or cannot have the value,
            or the settings together are impossible.
    """
    sheet = rules
    for setting in settings:
        knob, equals, value = setting.partition("=")
        if not equals:
            raise InputRefused(source="--set", field=setting, expected="KNOB=VALUE", found=setting)
        rules = _set(rules, knob.strip(), value.strip())
    _refuse_contradictions(rules, "--set", _impossible(rules))
    return _noted(sheet, rules)


def rules_hash(rules: Rulebook) -> str:
    """Return the hash of every knob in force: equal for rules that play alike.

    It is SHA-256, in hex, of a line ``KNOB=VALUE`` and a line feed for each knob, in the order of
    their dotted names, each value as :func:`shown` writes it. Lists are sorted and odds reduced
    first, as neither changes the game. A knob that a sheet need not state has a line only where it
    differs from what a silent sheet means, so that a new knob changes no hash. The sheet's id,
    title and citations are not covered.
    """
    lines = (
        f"{knob}={shown(_canonical(value))}\n"
        for knob, value in sorted(_flat(rules).items())
        if knob not in _ADDED_LATER or value != _ADDED_LATER[knob][0]
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def named(rules: Rulebook, sheet: str, overrides: dict[str, str]) -> Rulebook:
    """Return ``rules`` under the name of their sheet, with the differences from it."""
    covered = rules_hash(rules) if overrides else ""
    return replace(rules, id=sheet, overrides=overrides, rules_hash=covered)


def _canonical(value: Any) -> Any:
    if isinstance(value, tuple) and not any(isinstance(one, HandAward) for one in value):
        return tuple(sorted(value))
    if isinstance(value, Odds):
        common = gcd(value.pays, value.per)
        return Odds(value.pays // common, value.per // common)
    return value


def _set(rules: Rulebook, knob: str, value: str) -> Rulebook:
    _known_knob(knob, "--set")
    plain = _flat(rules)
    plain[knob] = _typed(knob, _from_text(knob, value), "--set", typed=value)
    return replace(_assemble(rules.id, plain), overrides=rules.overrides)


def _noted(sheet: Rulebook, rules: Rulebook) -> Rulebook:
    """Return ``rules`` with ``overrides`` listing every knob changed since ``sheet``."""
    changed = {knob: now for knob, _, now in differences(sheet, rules)}
    every = sheet.overrides | changed
    return named(rules, sheet.id, {knob: every[knob] for knob in KNOBS if knob in every})


def sheet(cited: Cited) -> tuple[str, ...]:
    """Write a rulebook as lines for people, each knob with its origin."""
    lines = [f"{cited.rules.id}: {cited.title}", f"document {cited.document}", ""]
    for knob, value in _flat(cited.rules).items():
        citation = cited.citations[knob]
        lines += [f"{knob} = {shown(value)}", f"    {citation.says} ({citation.origin})"]
    return tuple(lines)


def differences(one: Rulebook, other: Rulebook) -> tuple[tuple[str, str, str], ...]:
    """Return ``(knob, value in one, value in other)`` for each knob that differs."""
    first, second = _flat(one), _flat(other)
    return tuple(
        (knob, shown(first[knob]), shown(second[knob]))
        for knob in KNOBS
        if first[knob] != second[knob]
    )


def shown(value: Any) -> str:
    """Write a knob's value for people, in the notation of ``--set``."""
    if value is None or value == ():
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    tables = _plain_tables(value)
    if tables:
        return msgspec.json.encode(tables, order="sorted").decode()
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, dict):
        return ",".join(f"{key}:{value[key]}" for key in sorted(value)) or "none"
    return str(value)


def _plain_tables(value: Any) -> Any:
    """Return pay tables as plain values; ``None`` for what is none."""
    if isinstance(value, tuple) and isinstance(value[0], HandAward):
        return pay_tables.plain_awards(value)
    if isinstance(value, dict) and any(isinstance(one, SideBet) for one in value.values()):
        return pay_tables.plain(value)
    return None


def value(rules: Rulebook, knob: str) -> Any:
    """Return one knob by its dotted name; raises ``KeyError`` for an unknown one."""
    return _flat(rules)[knob]


def _toml(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputRefused(
            source=source, field="(file)", expected="TOML", found=str(error)
        ) from error


def _start(document: Mapping[str, Any], source: str, base: Base | None) -> Cited | None:
    if "extends" not in document:
        return None
    name = _text(document, "extends", source, None)
    if base is None:
        raise InputRefused(
            source=source, field="extends", expected="no base rulebook here", found=repr(name)
        )
    return base(name)


def _licensed(
    document: Mapping[str, Any], inherited: tuple[str, ...] | None, source: str
) -> tuple[str, ...] | None:
    """Return the knobs that sheets derived from this one may set: at most its base's."""
    if "licensed" not in document:
        return inherited
    try:
        knobs = msgspec.convert(document["licensed"], tuple[str, ...])
    except msgspec.ValidationError as error:
        raise InputRefused(
            source=source, field="licensed", expected="a list of knobs", found=str(error)
        ) from error
    for knob in knobs:
        _known_knob(knob, source)
        _refuse_unlicensed(knob, "licensed", inherited, source)
    return knobs


def _refuse_unlicensed(
    knob: str, field: str, licensed: tuple[str, ...] | None, source: str
) -> None:
    if licensed is not None and knob not in licensed:
        left = ", ".join(licensed) or "none"
        raise InputRefused(
            source=source,
            field=field,
            expected=f"a knob that the licence leaves to the site: {left}",
            found=knob,
        )


def _table(
    document: Mapping[str, Any], field: str, source: str, *, empty: bool
) -> Mapping[str, Any]:
    table = document.get(field, {} if empty else None)
    if not isinstance(table, dict):
        raise InputRefused(source=source, field=field, expected="a table", found=_found(table))
    return table


def _text(document: Mapping[str, Any], field: str, source: str, inherited: str | None) -> str:
    text = document.get(field, inherited)
    if not isinstance(text, str) or not text.strip():
        raise InputRefused(source=source, field=field, expected="a text", found=_found(text))
    return text


def _leaves(table: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, Any]]:
    for name, entry in table.items():
        if not above and name in _GROUPS and isinstance(entry, dict):
            yield from _leaves(entry, f"{name}.")
        else:
            yield above + name, entry


def _file(document: Mapping[str, Any], start: Cited | None, source: str) -> str | None:
    """Return the file of the sheet's document; a sheet with its own document has its own file."""
    if "file" in document:
        return _text(document, "file", source, None)
    return start.file if start and "document" not in document else None


def _documents(bets: Mapping[str, SideBet]) -> Citation:
    """Cite the documents of the side bets, one after another."""
    titles = dict.fromkeys(f"{bet.title}: {bet.document}" for bet in bets.values())
    return Citation(source="stated", document="; ".join(titles), reason="Each states its document.")


def _lines_cited(awards: Sequence[HandAward], stating: str) -> Citation:
    """Cite the lines of the main wager's pay table, one after another."""
    titles = dict.fromkeys(award.document or stating for award in awards)
    quote = " ".join(award.clause for award in awards)
    return Citation(source="stated", document="; ".join(titles), quote=quote)


def _passages(
    document: Mapping[str, Any], start: Cited | None, stating: str, source: str
) -> dict[str, Citation]:
    """Return the sheet's quoted passages, with those of its base."""
    found = dict(start.passages) if start else {}
    for name, entry in _table(document, "passages", source, empty=True).items():
        if name not in PASSAGES:
            expected = f"one of {', '.join(sorted(PASSAGES))}"
            raise InputRefused(
                source=source, field=f"passages.{name}", expected=expected, found=name
            )
        found[name] = _citation(f"passages.{name}", entry, stating, source)
    return found


def _knob(knob: str, entry: Any, stating: str, source: str) -> tuple[Any, Citation]:
    _known_knob(knob, source)
    field = f"knobs.{knob}"
    if knob in _TABLES:
        raise InputRefused(source=source, field=field, expected=_TABLES[knob], found=_found(entry))
    if not isinstance(entry, dict) or "value" not in entry:
        raise InputRefused(
            source=source, field=field, expected="a table with a value", found=_found(entry)
        )
    cites = {key: one for key, one in entry.items() if key != "value"}
    return _typed(knob, entry["value"], source), _citation(field, cites, stating, source)


def _citation(field: str, cites: Any, stating: str, source: str) -> Citation:
    """Read a citation; ``stating`` is the sheet's document, the default."""
    try:
        citation = msgspec.convert(cites, Citation)
    except msgspec.ValidationError as error:
        raise InputRefused(
            source=source,
            field=field,
            expected="source, document, section, quote, reason",
            found=str(error),
        ) from error
    needed = "quote" if citation.source == "stated" else "reason"
    if not getattr(citation, needed):
        raise InputRefused(
            source=source,
            field=f"{field}.{needed}",
            expected=f"a text, as the source is {citation.source!r}",
            found="nothing",
        )
    if citation.source != "stated" or citation.document:
        return citation
    return msgspec.structs.replace(citation, document=stating)


def _typed(knob: str, plain: Any, source: str, *, typed: str | None = None) -> Any:
    """Return a knob's value; ``typed`` is its text from the command line."""
    kind = KNOBS[knob]
    if knob == _SIDE_BETS and isinstance(plain, dict):
        return pay_tables.side_bets(plain, "", source, None)
    if knob == _PAYS:
        return pay_tables.hand_awards(plain, source)
    try:
        if kind is Odds:
            return Odds.parse(msgspec.convert(plain, str))
        if plain == "none" and knob in ("max_spots_per_player", "table_max"):
            return None
        return msgspec.convert(plain, kind, str_keys=True)
    except (msgspec.ValidationError, ValueError) as error:
        raise InputRefused(
            source=source,
            field=f"knobs.{knob}",
            expected=_wanted(kind, typed=typed is not None),
            found=_found(plain if typed is None else typed),
        ) from error


def _wanted(kind: Any, *, typed: bool) -> str:
    """Describe a knob's allowed values; ``typed``: on the command line, not in a TOML file."""
    if kind is Odds:
        return 'odds such as "3:2", from 1:10 to 10:1 in numbers up to 100'
    schema = msgspec.json.schema(kind)
    options = schema.get("enum") or schema.get("items", {}).get("enum")
    if options:
        return "one of " + ", ".join(shown(option) for option in options)
    if kind is KNOBS[_SIDE_BETS]:
        return "the side bets as JSON, or none"
    if schema.get("type") == "object":
        return MAP_ON_COMMAND_LINE if typed else _MAP_IN_TOML
    limits = [f"{word} {schema[key]}" for key, word in _LIMITS if key in schema]
    return " ".join([_KINDS.get(str(schema.get("type")), "a value or none"), *limits])


_LIMITS: Final = (("minimum", "from"), ("maximum", "to"))
_KINDS: Final = {"boolean": "true or false", "integer": "a whole number"}
MAP_ON_COMMAND_LINE: Final = "pairs SPOTS:MULTIPLE such as 2:2,3:5, or none"
_MAP_IN_TOML: Final = "a table of spots and multiples such as { 2 = 2, 3 = 5 }"


def _from_text(knob: str, text: str) -> Any:
    if knob in _TABLES and text != "none":
        return _decoded(text)
    schema = msgspec.json.schema(KNOBS[knob])
    if schema.get("type") == "array":
        return [] if text in ("", "none") else [part.strip() for part in text.split(",")]
    if schema.get("type") == "object":
        pairs = [] if text in ("", "none") else text.split(",")
        return {key.strip(): _number(many) for key, _, many in (p.partition(":") for p in pairs)}
    if text in ("true", "false"):
        return text == "true"
    return _number(text)


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _number(text: str) -> int | str:
    digits = text.strip().removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() else text


def _flat(rules: Rulebook) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for knob in KNOBS:
        group, dot, name = knob.partition(".")
        flat[knob] = getattr(getattr(rules, group), name) if dot else getattr(rules, knob)
    return flat


def _assemble(name: str, flat: Mapping[str, Any]) -> Rulebook:
    plain: dict[str, Any] = {"id": name}
    for group, kind in _GROUPS.items():
        start = f"{group}."
        plain[group] = kind(
            **{k.removeprefix(start): v for k, v in flat.items() if k.startswith(start)}
        )
    return Rulebook(**plain, **{k: v for k, v in flat.items() if "." not in k})


def _fill_later(plain: dict[str, Any], citations: dict[str, Citation]) -> None:
    for knob, (value, reason) in _ADDED_LATER.items():
        if knob not in plain:
            plain[knob] = value
            citations[knob] = Citation(source="default", reason=reason)


def _complete(plain: Mapping[str, Any], source: str) -> None:
    for knob in KNOBS:
        if knob not in plain:
            raise InputRefused(
                source=source,
                field=f"knobs.{knob}",
                expected="a value with its citation",
                found="nothing",
            )


_A_KNOB: Final = "the name of a knob (`pitwatch rulebooks show ID` lists them)"


def _known_knob(knob: str, source: str) -> None:
    if knob not in KNOBS:
        raise InputRefused(source=source, field=knob, expected=_A_KNOB, found=_near(knob))


def _near(knob: str) -> str:
    alike = [name for name in KNOBS if knob.rpartition(".")[2] in name]
    return f"{knob!r}" + (f" (did you mean {', '.join(alike[:3])}?)" if knob and alike else "")


def _known_keys(table: Mapping[str, Any], names: AbstractSet[str], source: str) -> None:
    for name in table:
        if name not in names:
            raise InputRefused(
                source=source, field=name, expected=", ".join(sorted(names)), found=repr(name)
            )


def _impossible(rules: Rulebook) -> Iterable[tuple[str, str, str]]:
    """Yield ``(knob, expected, found)`` for values that no game can combine."""
    if not pack(rules.pack_without):
        yield "pack_without", "fewer than all ranks", shown(rules.pack_without)
    if rules.table_min < 0:
        yield "table_min", "an amount of 0 or more", str(rules.table_min)
    if rules.table_max is not None and rules.table_max < rules.table_min:
        yield "table_max", f"at least table_min ({rules.table_min})", str(rules.table_max)
    most = rules.max_spots_per_player
    for spots, multiple in rules.multi_spot_min_multiple.items():
        if spots < 2 or multiple < 1 or (most is not None and spots > most):
            limit = "2 or more" if most is None else f"2 to {most}"
            yield (
                "multi_spot_min_multiple",
                f"{limit} spots, multiples of 1 up, written such as 2:2",
                f"{spots}:{multiple}",
            )


def _at_odds(rules: Rulebook) -> Iterable[tuple[str, str, str]]:
    """Yield ``(knob, expected, found)`` where one clause grants what another excludes."""
    if rules.dealer_second_card == "after_players" and rules.dealer_first_card == "down":
        yield "dealer_first_card", "up, as dealer_second_card is after_players", "down"
    if rules.resplit_aces and rules.max_hands < 3:
        yield "resplit_aces", f"false, as max_hands is {rules.max_hands}", "true"
    if rules.double_after_split and rules.double_on == "none":
        yield "double_after_split", "false, as double_on is none", "true"
    if rules.double_split_aces and not rules.double_after_split:
        yield "double_split_aces", "false, as double_after_split is false", "true"
    if rules.surrender_after_split and rules.surrender == "none":
        yield "surrender_after_split", "false, as surrender is none", "true"
    if rules.side_bets and not rules.side_wagers:
        yield "side_wagers", "true, as side bets are declared", "false"
    if rules.double_rescue and rules.double_on == "none":
        yield "double_rescue", "false, as double_on is none", "true"
    if (rules.surrender != "none" or rules.double_rescue) and not rules.signals.surrender:
        yield "signals.surrender", "a signal, as surrender is offered", "none"


def _refuse_contradictions(
    rules: Rulebook, source: str, found: Iterable[tuple[str, str, str]]
) -> None:
    for knob, expected, value_found in found:
        raise InputRefused(
            source=f"{source} ({rules.id})",
            field=f"knobs.{knob}",
            expected=expected,
            found=value_found,
        )


def _found(plain: Any) -> str:
    return "nothing" if plain is None else repr(plain)
