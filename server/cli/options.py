"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON on stdout and nothing else there.")]
Knobs = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KNOB=VALUE",
        help="Change one knob, repeatable: decks=8, signals.hit=hand,verbal, "
        "multi_spot_min_multiple=2:2,3:5. `rulebooks show ID` lists them.",
    ),
]
Facts = Annotated[
    list[str],
    typer.Argument(
        metavar="FACTS…",
        help="Event files, journals, folders, archives; - is stdin.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Processes for many files; default: all cores.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Overwrite what is written already, instead of refusing.")
]
OUT_HELP = "Write Parquet: F.parquet has a row a hand; a folder, violations and rounds too."
HouseFile = Annotated[
    Path | None,
    typer.Option(
        "--house",
        metavar="HOUSE.toml",
        help="Time zone, locale and currency; default $PITWATCH_HOUSE, house.toml beside the data.",
        show_default=False,
    ),
]
RULEBOOK_HELP = "A shipped rulebook's id (see `pitwatch rulebooks list`) or a TOML file."
