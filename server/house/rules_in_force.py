"""The name of the rules in force: the sheet, its overrides, and a hash of every knob."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import UNSET

from models.judgements import RoundResult
from models.rulebook import Rulebook

_HASH_DIGITS_SHOWN: Final = 12


class RulesName(msgspec.Struct, frozen=True, omit_defaults=True):
    """The name of rules in JSON: the sheet alone, unless there are overrides."""

    rulebook: str
    overrides: dict[str, str] = {}
    rules_hash: str = ""

    @property
    def text(self) -> str:
        """The name for people: ``home with dealer_soft17=hit (rules 3f0c…)``."""
        if not self.overrides:
            return self.rulebook
        short = self.rules_hash[:_HASH_DIGITS_SHOWN]
        return f"{self.rulebook} with {overrides_text(self.overrides)} (rules {short})"


def overrides_text(overrides: Mapping[str, str]) -> str:
    """Write overrides in the notation of ``--set``, separated by blanks."""
    return " ".join(f"{knob}={value}" for knob, value in overrides.items())


def name_of(rules: Rulebook) -> RulesName:
    """Return the name of ``rules``."""
    return RulesName(rules.id, rules.overrides, rules.rules_hash)


def name_in(result: RoundResult) -> RulesName:
    """Return the name of the rules that settled a round."""
    overrides = {} if result.overrides is UNSET else result.overrides
    return RulesName(result.rulebook, overrides, result.rules_hash or "")
