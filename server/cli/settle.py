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
    summary: Annotated[bool, typer.Option("--summary", help="Print only the totals.")] = False,
    findings: Annotated[
        bool, typer.Option("--findings", help="Print only rounds that a person should check.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="PLACE", help=OUT_HELP)] = None,
    jobs: Jobs = None,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Settle rounds from facts: who wins what, by which clause, and which rules were broken.

    Input: event files (.jsonl, .jsonl.gz), journals, .zip and .tar archives of these, and folders
    of these. From a session's folder the command reads the journal, else the facts, else the
    truth. It checks each file in full before it settles the first round. It refuses an invalid
    file as a whole, names the line and the field, and settles the others. Facts on stdin are
    settled as they arrive, up to the first invalid line. A card_dealt event without `face` is a
    card dealt face up.
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
    "[dim]pitwatch resettle facts/ -r kansas-shoe --was home --summary --json[/dim]\n\n"
    "[dim]pitwatch resettle history/ -r new.toml --report audit/ --key report.key[/dim]"
)
def resettle(
    archive: Facts,
    *,
    rulebook: Annotated[str, typer.Option("--rulebook", "-r", help=RULEBOOK_HELP)],
    knobs: Knobs = None,
    was: Annotated[
        str | None,
        typer.Option("--was", help="The earlier rules. Default: the archive's own settlements."),
    ] = None,
    summary: Annotated[bool, typer.Option("--summary", help="Print only the totals.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PLACE", help="Write Parquet: a .parquet file or a folder."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FOLDER", help="Write the auditor's report there; print the totals."
        ),
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="The private key that signs the report.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="tcp://HOST:8786",
            help="Settle archived days on a Dask cluster, not on this machine.",
        ),
    ] = None,
    jobs: Jobs = None,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Settle an archive again under other rules; report what changes.

    Input: the same as for `settle`. Journals and session truths hold the earlier settlements. For
    files of facts, name the earlier rules with --was. If the new rules require a card that was
    not drawn, a person must decide the hand. Exit 0 if nothing changes.
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
        cluster=cluster,
        report=report,
        key=key,
    )
    raise typer.Exit(resettled)
