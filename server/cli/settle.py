"""Settling facts and archives."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import OUT_HELP, RULEBOOK_HELP, Facts, Force, HouseFile, Jobs, Json, Knobs

commands = typer.Typer()


@commands.command(
    epilog="[dim]pitwatch settle evening.jsonl --rulebook kansas-shoe[/dim]\n\n"
    "[dim]cat facts.jsonl | pitwatch settle - -r home --set dealer_soft17=hit --json[/dim]\n\n"
    "[dim]pitwatch settle november/ BJ-07.journal -r kansas-shoe --summary[/dim]"
)
def settle(
    facts: Facts,
    *,
    rulebook: Annotated[str, typer.Option("--rulebook", "-r", help=RULEBOOK_HELP)],
    knobs: Knobs = None,
    summary: Annotated[bool, typer.Option("--summary", help="Print the totals alone.")] = False,
    findings: Annotated[
        bool, typer.Option("--findings", help="Print only rounds that a person should look at.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="PLACE", help=OUT_HELP)] = None,
    jobs: Jobs = None,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Settle rounds from facts: who wins what, by which clause, and what went wrong.

    Takes event files (.jsonl, .jsonl.gz), journals, .zip and .tar archives of them, and folders
    that hold any of these; of a session's folder its journal, else its facts, else its truth.
    Every file is checked in full before its first round is settled; one that is not sound is
    refused whole, by line and field, and the others are settled. Facts on stdin settle as they
    come, up to the first line that is not sound. A card_dealt that does not say its face lies
    face up.
    """
    from server.archive.worker_pool import cores
    from server.commands.settle import run_settle
    from server.house.formatting import Formats
    from server.house.house_file import folders_of, house_for
    from server.house.rulebooks import rules_for

    rules = rules_for(rulebook, knobs or ())
    settled = run_settle(
        facts,
        rules,
        show="totals" if summary else "findings" if findings else "rounds",
        jobs=jobs or cores(),
        out=out,
        force=force,
        formats=Formats(house_for(house, *folders_of(facts))),
        as_json=as_json,
    )
    raise typer.Exit(settled)


@commands.command(
    epilog="[dim]pitwatch resettle BJ-07.journal --rulebook kansas-shoe[/dim]\n\n"
    "[dim]pitwatch resettle facts/ -r kansas-shoe --was home --summary --json[/dim]"
)
def resettle(
    archive: Facts,
    *,
    rulebook: Annotated[str, typer.Option("--rulebook", "-r", help=RULEBOOK_HELP)],
    knobs: Knobs = None,
    was: Annotated[
        str | None,
        typer.Option("--was", help="Rules of then. Default: the settlements in the archive."),
    ] = None,
    summary: Annotated[bool, typer.Option("--summary", help="Print the totals alone.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PLACE", help="Write Parquet: F.parquet, or a folder."),
    ] = None,
    jobs: Jobs = None,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Settle an archive again under other rules, and say what changes against what was settled.

    Takes what settle takes. What was settled then stands in journals and session truths; for
    files of facts alone, say with --was which rules they were settled under. Hands that the new
    rules leave open (a card was due that was not drawn) are for a person to decide. Exit 0 if
    nothing changes.
    """
    from server.archive.worker_pool import cores
    from server.commands.resettle import run_resettle
    from server.house.formatting import Formats
    from server.house.house_file import folders_of, house_for
    from server.house.rulebooks import rules_for

    resettled = run_resettle(
        archive,
        rules_for(rulebook, knobs or ()),
        None if was is None else rules_for(was),
        summary=summary,
        jobs=jobs or cores(),
        out=out,
        force=force,
        formats=Formats(house_for(house, *folders_of(archive))),
        as_json=as_json,
    )
    raise typer.Exit(resettled)
