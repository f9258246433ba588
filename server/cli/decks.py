"""The commands of ``pitwatch decks``; what they need is imported when they run."""

from enum import StrEnum, auto
from pathlib import Path
from typing import Annotated, get_args

import typer

from models.session import Lettering
from server.cli.options import Json

decks = typer.Typer(help="The site's own decks, which the card reader learns from pictures.")

Library = Annotated[
    Path | None,
    typer.Option(
        "--library",
        metavar="FOLDER",
        help="The folder of learnt decks. Default: $PITWATCH_DECKS, else the user's data folder.",
    ),
]


class Tongue(StrEnum):
    """A language of a deck's letters."""

    english = auto()
    german = auto()
    french = auto()
    dutch = auto()
    scandinavian = auto()
    russian = auto()
    italian = auto()


def languages_of(letters: list[Tongue] | None) -> tuple[Lettering, ...]:
    """Return the chosen languages."""
    return tuple(one for one in get_args(Lettering) if one in (letters or ()))


Letters = Annotated[
    list[Tongue] | None,
    typer.Option("--letters", help="A language of the decks' letters, if known; repeatable."),
]


Deck = Annotated[str, typer.Argument(metavar="NAME", help="The deck's name.")]


@decks.command(
    epilog="[dim]pitwatch decks learn bee-red cards/*.jpg[/dim]\n\n"
    "[dim]pitwatch decks learn bee-red turning-over-the-deck.mp4[/dim]"
)
def learn(
    name: Deck,
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Photographs or videos, in any order.")
    ],
    *,
    letters: Letters = None,
    library: Library = None,
    as_json: Json = False,
) -> None:
    """Learn a deck from pictures of every card and of the back, in any order.

    Best, each card is visible as a whole; of cards that only fans show the indices are learnt. Run
    the command again with more pictures until no card is missing. Exit 0 when the deck is ready;
    exit 3 while cards are missing or the pictures contradict each other.
    """
    from server.commands.decks import run_learn

    raise typer.Exit(
        run_learn(name, files, library, as_json=as_json, letters=languages_of(letters))
    )


@decks.command("list")
def list_decks(*, library: Library = None, as_json: Json = False) -> None:
    """List the learnt decks."""
    from server.commands.decks import show_list

    show_list(library, as_json=as_json)


@decks.command()
def show(name: Deck, *, library: Library = None, as_json: Json = False) -> None:
    """Show from which picture each card of a deck was learnt."""
    from server.commands.decks import show_one

    show_one(name, library, as_json=as_json)


@decks.command()
def check(name: Deck, *, library: Library = None, as_json: Json = False) -> None:
    """Check that a deck is complete and undamaged, and that no two of its cards look alike."""
    from server.commands.decks import check as check_deck

    raise typer.Exit(check_deck(name, library, as_json=as_json))
