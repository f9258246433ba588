"""The rules that a simulated session plays by, from a rulebook's name or file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from models.errors import OperatorError
from models.rulebook import Cited, Rulebook
from settlement import rulebooks
from stream import library

RULEBOOK_FILE: Final = "rulebook.toml"
_OF_THE_TABLE: Final = ("table_min", "table_max")
"""Knobs that the session's own description contains."""


@dataclass(frozen=True, slots=True)
class House:
    """The rules in force, with their name in the session's folder.

    Attributes:
        rules: the rulebook with every setting applied.
        name: its name in ``session.toml``: a shipped id, or a file beside it.
        text: that file's content, if it is one.
    """

    rules: Rulebook
    name: str
    text: str | None


def house(name: str, settings: Sequence[str] = (), side_bet: str = "") -> House:
    """Find a rulebook by its id or in a file, apply each ``KNOB=VALUE`` and take a side bet.

    Raises:
        OperatorError: there is no such rulebook, or a file of one's own is to be changed.
        InputRefused: the rulebook, a setting or the side bet does not match the schema.
    """
    rules = rulebooks.overridden(_cited(name).rules, settings)
    written = [knob for knob in _knobs(settings) if knob not in _OF_THE_TABLE]
    if name not in library.rulebook_ids():
        if written or side_bet:
            raise OperatorError(
                f"{side_bet or written[0]} cannot be set on a rulebook of your own",
                where=name,
                way_out="Change it in the file",
            )
        return House(rules, RULEBOOK_FILE, Path(name).read_text("utf-8"))
    if not (written or side_bet):
        return House(rules, name, None)
    text = _extending(name, rules, written, side_bet)
    if side_bet:
        taken = rulebooks.parse(text, RULEBOOK_FILE, _cited, library.side_bet_text)
        rules = msgspec.structs.replace(rules, side_bets=taken.rules.side_bets)
    return House(rules, RULEBOOK_FILE, text)


def _cited(name: str) -> Cited:
    if name in library.rulebook_ids():
        return rulebooks.parse(library.rulebook_text(name), name, _cited, library.side_bet_text)
    file = Path(name)
    if file.suffix != ".toml" or not file.is_file():
        raise OperatorError(
            "no rulebook has this id, and no TOML file this name",
            where=f"rulebook {name!r}",
            way_out=f"Name a file or one of {', '.join(library.rulebook_ids())}",
        )
    return rulebooks.parse(file.read_text("utf-8"), name, _cited, library.side_bet_text)


def _knobs(settings: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(setting.partition("=")[0].strip() for setting in settings))


def _extending(base: str, rules: Rulebook, knobs: Sequence[str], side_bet: str) -> str:
    lines = [f'id = "{base}-as-played"', f'extends = "{base}"']
    for knob in knobs:
        lines += [
            "",
            f"[knobs.{knob}]",
            f"value = {_literal(rulebooks.value(rules, knob))}",
            'source = "default"',
            'reason = "Set for this session."',
        ]
    if side_bet:
        lines += ["", f'[side_bets."{side_bet}"]', f'extends = "{side_bet}"']
    return "\n".join(lines) + "\n"


def _literal(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case None:
            return '"none"'
        case tuple() | list():
            return "[" + ", ".join(map(_literal, value)) + "]"
        case dict():
            pairs = (f'"{key}" = {_literal(entry)}' for key, entry in value.items())
            return "{ " + ", ".join(pairs) + " }"
        case _:
            return f'"{value}"'
