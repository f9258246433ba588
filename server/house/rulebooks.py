"""Find a rulebook by its id or file, and change knobs on request."""

from collections.abc import Sequence
from pathlib import Path

from models.errors import OperatorError
from models.events import RulesStated
from models.money import Cents
from models.rulebook import Cited, Rulebook
from settlement import rulebooks
from stream import library


def rules_for(name: str, knobs: Sequence[str] = (), beside: Path | None = None) -> Rulebook:
    """Return the rules of ``name`` with each ``KNOB=VALUE`` of ``knobs`` applied.

    Args:
        name: a shipped rulebook's id, or a TOML file.
        knobs: settings in the order given.
        beside: folder against which a file's name is also tried.

    Raises:
        OperatorError: there is no such rulebook.
        InputRefused: the file or a setting does not match the schema.
    """
    return rulebooks.overridden(cited(name, beside).rules, knobs)


def cited(name: str, beside: Path | None = None, asked_in: Path | None = None) -> Cited:
    """Return a rulebook with its citations; raises as :func:`rules_for` does.

    Args:
        name: a shipped rulebook's id, or a TOML file.
        beside: folder against which a file's name is also tried.
        asked_in: the file that names it; ``None`` for the command line.
    """
    if name in library.rulebook_ids():
        return rulebooks.parse(library.rulebook_text(name), name, cited, library.side_bet_text)
    path = _file(name, beside, asked_in)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise OperatorError(
            "the rulebook cannot be read as text",
            where=str(path),
            way_out="Give a readable TOML file in UTF-8",
        ) from fault
    return rulebooks.parse(
        text, str(path), lambda base: cited(base, path.parent, path), library.side_bet_text
    )


def shipped() -> tuple[Cited, ...]:
    """Return every shipped rulebook, in order of id."""
    return tuple(cited(name) for name in sorted(library.rulebook_ids()))


def stated(rules: Rulebook, source: str, at_ns: int) -> RulesStated:
    """Return the journal entry that states the rules in force."""
    values = {knob: rulebooks.shown(rulebooks.value(rules, knob)) for knob in rulebooks.KNOBS}
    return RulesStated(
        source=source,
        at=at_ns,
        rulebook=rules.id,
        rules=values,
        overrides=rules.overrides,
        rules_hash=rulebooks.rules_hash(rules),
    )


def as_stated(event: RulesStated) -> Rulebook:
    """Return the rules of a journal's entry; raises ``InputRefused`` where it has none."""
    shipped_too = event.rulebook in library.rulebook_ids()
    base = cited(event.rulebook if shipped_too else library.rulebook_ids()[0]).rules
    settings = [f"{knob}={value}" for knob, value in event.rules.items()]
    rules = rulebooks.overridden(base, settings)
    if event.rules_hash or not shipped_too:
        return rulebooks.named(rules, event.rulebook, event.overrides)
    return rules


def at_table(
    rules: Rulebook, table_min: Cents, table_max: Cents | None, knobs: Sequence[str] = ()
) -> Rulebook:
    """Return ``rules`` under a table's own limits, and then each ``KNOB=VALUE`` of ``knobs``.

    Raises:
        InputRefused: a setting does not match the schema, or the limits are impossible.
    """
    limits = (f"table_min={table_min}", f"table_max={rulebooks.shown(table_max)}")
    return rulebooks.overridden(rules, (*limits, *knobs))


def _file(name: str, beside: Path | None, asked_in: Path | None) -> Path:
    places = [Path(name)] if beside is None else [beside / name, Path(name)]
    for path in places:
        if path.suffix == ".toml" and path.is_file():
            return path
    known = ", ".join(sorted(library.rulebook_ids()))
    raise OperatorError(
        "no rulebook has this id, and no TOML file this name",
        where=f"rulebook {name!r}" if asked_in is None else f"{asked_in}, rulebook {name!r}",
        way_out=f"Name a file or one of {known}",
    )
