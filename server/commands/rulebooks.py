"""``pitwatch rulebooks``: list, show and compare."""

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from models.money import Odds, dollars
from models.rulebook import Citation, Cited, Rulebook
from models.side_bet import Condition, HandAward, SideBet
from server.commands.options import RULEBOOK_HELP, Json, Knobs
from server.house.rulebooks import cited, shipped
from server.process.terminal import print_json, screen
from settlement import pay_tables, rulebooks

app = typer.Typer(no_args_is_help=True)


@app.command("list")
def list_rulebooks(as_json: Json = False) -> None:
    """List the shipped rulebooks."""
    show_list(as_json=as_json)


@app.command("show", epilog="[dim]pitwatch rulebooks show kansas-shoe[/dim]")
def show_rulebook(
    rulebook: Annotated[str, typer.Argument(help=RULEBOOK_HELP)],
    knobs: Knobs = None,
    as_json: Json = False,
) -> None:
    """Show every knob of a rulebook: its value and the source of the value."""
    show_one(rulebook, tuple(knobs or ()), as_json=as_json)


@app.command("diff", epilog="[dim]pitwatch rulebooks diff kansas-shoe home[/dim]")
def diff_rulebooks(
    one: Annotated[str, typer.Argument(help=RULEBOOK_HELP)],
    other: Annotated[str, typer.Argument(help=RULEBOOK_HELP)],
    as_json: Json = False,
) -> None:
    """Show where two rulebooks differ."""
    show_differences(one, other, as_json=as_json)


SETTING = (
    "--set KNOB=VALUE changes a knob. A value is written as above: a list as hand,verbal; "
    f"multi_spot_min_multiple as {rulebooks.MAP_ON_COMMAND_LINE}."
)
SOURCE_STYLE = {"stated": "green", "inferred": "yellow", "default": "dim"}


def show_list(*, as_json: bool) -> None:
    """Print the shipped rulebooks."""
    books = shipped()
    if as_json:
        print_json([{"id": book.rules.id, "title": book.title} for book in books])
        return
    table = Table(box=None, header_style="dim", pad_edge=False)
    for heading in ("id", "title", "decks", "soft 17", "blackjack", "surrender"):
        table.add_column(heading)
    for book in books:
        table.add_row(Text(book.rules.id, style="bold"), book.title, *_gist(book))
    screen().print(table)


def show_one(name: str, knobs: Sequence[str], *, as_json: bool) -> None:
    """Print every knob of one rulebook, with its citation or the setting that changed it."""
    book = cited(name)
    rules = rulebooks.overridden(book.rules, knobs)
    changed = {knob for knob, _, _ in rulebooks.differences(book.rules, rules)}
    if as_json:
        print_json(_as_json(book, rules, changed))
        return
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("knob", style="bold", no_wrap=True)
    table.add_column("value", style="cyan")
    table.add_column("source")
    table.add_column("quote or reason", overflow="fold")
    for knob in rulebooks.KNOBS:
        value = rulebooks.shown(rulebooks.value(rules, knob))
        if knob == "side_bets" and rules.side_bets:
            value = "\n".join(rules.side_bets)
        elif knob == "pays" and rules.pays:
            value = "\n".join(line.award for line in rules.pays)
        table.add_row(knob, value, *_source_cells(book.citations[knob], knob in changed))
    console = screen()
    console.print(Text(f"{rules.id}: {book.title}", style="bold"))
    console.print(Text(f"from {book.document}", style="dim"))
    console.print(Text(f"rules {rulebooks.rules_hash(rules)}", style="dim"))
    console.print(table)
    if rules.pays:
        console.print(Text("\npays of hands: the first line that a hand makes", style="bold"))
        console.print(_pays(rules.pays))
    for called, bet in rules.side_bets.items():
        console.print(Text(f"\nside bet {called}: {bet.title}", style="bold"))
        console.print(Text(f"from {bet.document}", style="dim"))
        for line in bet.pays:
            console.print(f"  {line.award} {line.odds}", highlight=False, markup=False)
    console.print(Text(f"\n{SETTING}", style="dim"))


def _pays(lines: Sequence[HandAward]) -> Table:
    """Return a pay table of hands for people: what each line asks, pays and is quoted from."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for heading in ("hand", "odds", "wins", "where", "quote"):
        table.add_column(heading, overflow="fold")
    for line in lines:
        asked = [one for one in map(_condition, line.when) if one]
        wins = "at once" if line.wins else "over the dealer"
        quote = f"{line.clause} ({line.document})" if line.document else line.clause
        table.add_row(line.award, str(line.odds), wins, "; ".join(asked), Text(quote, "dim"))
        for bonus in line.bonus:
            reached = f"against {' or '.join(bonus.up)}, from a wager of {dollars(bonus.wager)}"
            cited = f"{bonus.clause} ({bonus.document})" if bonus.document else bonus.clause
            table.add_row("", f"+ {dollars(bonus.pays)}", "", reached, Text(cited, "dim"))
    return table


def _condition(asked: Condition) -> str:
    """Write a condition for people: ``ranks 678, same suit, not doubled``."""
    fields: dict[str, Any] = msgspec.to_builtins(asked)
    return ", ".join(map(_asked, fields, fields.values()))


def _asked(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return name if value else f"not {name}"
    if name in ("total", "low_total", "count", "between"):
        low, high = value
        return f"{name} {low}" if low == high else f"{name} {low} to {high}"
    return f"{name} {value if isinstance(value, str) else ' '.join(value)}"


def show_differences(one: str, other: str, *, as_json: bool) -> None:
    """Print each knob in which two rulebooks differ."""
    first, second = cited(one), cited(other)
    found = rulebooks.differences(first.rules, second.rules)
    if as_json:
        print_json([{"knob": knob, one: was, other: now} for knob, was, now in found])
        return
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("knob", style="bold", no_wrap=True)
    table.add_column(first.rules.id, style="cyan")
    table.add_column(second.rules.id, style="magenta")
    for row in found:
        table.add_row(*row)
    screen().print(table if found else f"{one} and {other} have the same knobs")


def _gist(book: Cited) -> tuple[str, ...]:
    rules = book.rules
    return str(rules.decks), rules.dealer_soft17, str(rules.blackjack_payout), rules.surrender


def _source_cells(citation: Citation, changed: bool) -> tuple[Text, Text]:
    if changed:
        return Text("changed", style="bold magenta"), Text("set on the command line")
    text = Text(citation.says)
    if citation.section:
        text.append(f" ({citation.section})", "dim")
    return Text(citation.source, style=SOURCE_STYLE[citation.source]), text


def _as_json(book: Cited, rules: Rulebook, changed: set[str]) -> dict[str, object]:
    return {
        "id": rules.id,
        "title": book.title,
        "document": book.document,
        "file": book.file,
        "overrides": rules.overrides,
        "rules_hash": rulebooks.rules_hash(rules),
        "knobs": {
            knob: {"value": _plain(rulebooks.value(rules, knob))} | _cite(book, knob, changed)
            for knob in rulebooks.KNOBS
        },
    }


def _plain(value: object) -> object:
    if isinstance(value, dict) and any(isinstance(one, SideBet) for one in value.values()):
        return pay_tables.plain(value)
    return str(value) if isinstance(value, Odds) else value


def _cite(book: Cited, knob: str, changed: set[str]) -> dict[str, str]:
    if knob in changed:
        return {"source": "set"}
    cites: dict[str, str | None] = msgspec.to_builtins(book.citations[knob])
    return {name: one for name, one in cites.items() if one is not None}
