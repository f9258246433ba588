"""Options that several commands share."""

from enum import StrEnum, auto
from pathlib import Path
from typing import Annotated, get_args

import typer

from models.session import Lettering

Json = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]
Knobs = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KNOB=VALUE",
        help="Override one knob of the rulebook; repeatable: decks=8, signals.hit=hand,verbal, "
        "multi_spot_min_multiple=2:2,3:5. `rulebooks show ID` lists the knobs.",
    ),
]
Facts = Annotated[
    list[str],
    typer.Argument(
        metavar="FACTS…",
        help="Event files, journals, folders or archives; - is stdin.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Number of processes. Default: all cores.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
OUT_HELP = "Write Parquet: a .parquet file of hands, or a folder with mistakes and rounds too."
HouseFile = Annotated[
    Path | None,
    typer.Option(
        "--house",
        metavar="HOUSE.toml",
        help="Time zone, locale and currency. Default: $PITWATCH_HOUSE, else house.toml beside "
        "the data.",
        show_default=False,
    ),
]
RULEBOOK_HELP = "A shipped rulebook's id (`pitwatch rulebooks list`) or a TOML file."
FloorUrl = Annotated[
    str,
    typer.Option(
        "--floor",
        metavar="postgresql://…",
        envvar="PITWATCH_FLOOR",
        help="The floor's database. Keep its password in a .pgpass file. Default: $PITWATCH_FLOOR.",
        show_default=False,
    ),
]

DeckLibrary = Annotated[
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
