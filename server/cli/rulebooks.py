"""The shipped rulebooks."""

from typing import Annotated

import typer

from server.cli.options import RULEBOOK_HELP, Json, Knobs

rulebooks = typer.Typer(help="The shipped rulebooks: every value with its citation.")


@rulebooks.command("list")
def list_rulebooks(as_json: Json = False) -> None:
    """List the shipped rulebooks."""
    from server.commands import rulebooks as rulebook_pages

    rulebook_pages.show_list(as_json=as_json)


@rulebooks.command("show", epilog="[dim]pitwatch rulebooks show kansas-shoe[/dim]")
def show_rulebook(
    rulebook: Annotated[str, typer.Argument(help=RULEBOOK_HELP)],
    knobs: Knobs = None,
    as_json: Json = False,
) -> None:
    """Show every knob of a rulebook: its value and the source of the value."""
    from server.commands import rulebooks as rulebook_pages

    rulebook_pages.show_one(rulebook, tuple(knobs or ()), as_json=as_json)


@rulebooks.command("diff", epilog="[dim]pitwatch rulebooks diff kansas-shoe home[/dim]")
def diff_rulebooks(
    one: Annotated[str, typer.Argument(help=RULEBOOK_HELP)],
    other: Annotated[str, typer.Argument(help=RULEBOOK_HELP)],
    as_json: Json = False,
) -> None:
    """Show where two rulebooks differ."""
    from server.commands import rulebooks as rulebook_pages

    rulebook_pages.show_differences(one, other, as_json=as_json)
