"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

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
