"""The commands of ``pitwatch decks``; what they need is imported when they run."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import Json

decks = typer.Typer(help="The decks that this site deals: shown to the reader once each.")

Library = Annotated[
    Path | None,
    typer.Option(
        "--library",
        metavar="FOLDER",
        help="Where decks are kept. Default: $PITWATCH_DECKS, else the user's data folder.",
    ),
]
Deck = Annotated[str, typer.Argument(metavar="NAME", help="The deck's name.")]


@decks.command(
    epilog="[dim]pitwatch decks learn bee-red cards/*.jpg[/dim]\n\n"
    "[dim]pitwatch decks learn bee-red turning-over-the-deck.mp4[/dim]"
)
def learn(
    name: Deck,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Photographs in any order, or films.")
    ],
    *,
    library: Library = None,
    as_json: Json = False,
) -> None:
    """Show the reader a new deck: every card and the back, each whole, in any order.

    Run again with more pictures until no card is lacking. Exit 0 when the deck may be used,
    3 while cards are lacking or what was seen contradicts itself.
    """
    from server.commands.decks import run_learn

    raise typer.Exit(run_learn(name, files, library, as_json=as_json))


@decks.command("list")
def list_decks(*, library: Library = None, as_json: Json = False) -> None:
    """List the decks learnt so far."""
    from server.commands.decks import show_list

    show_list(library, as_json=as_json)


@decks.command()
def show(name: Deck, *, library: Library = None, as_json: Json = False) -> None:
    """Show which picture each card of a deck was learnt from."""
    from server.commands.decks import show_one

    show_one(name, library, as_json=as_json)


@decks.command()
def check(name: Deck, *, library: Library = None, as_json: Json = False) -> None:
    """Check that a deck is whole, undamaged, and that its cards can be told apart."""
    from server.commands.decks import check as check_deck

    raise typer.Exit(check_deck(name, library, as_json=as_json))
