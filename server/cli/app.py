"""``pitwatch``: the command line. Commands parse, call and print; the work is elsewhere.

What a command needs is imported when it runs, so that ``--help`` and ``settle`` start at
once and never load a video decoder.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from models.errors import PitwatchError
from server.cli.backup import backups
from server.cli.decks import Library, decks
from server.cli.journal import journals
from server.cli.relay import relay
from server.process.exit_status import Exit
from server.process.signals import Ended, as_process

app = typer.Typer(
    name="pitwatch",
    epilog="Exit status: 0 clean · 2 input refused · 3 something for a person to look at · "
    "4 part of an archive passed over unread · 5 not proven · 129 SIGHUP · 130 Ctrl-C · "
    "141 stdout closed by its reader · 143 SIGTERM.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
rulebooks = typer.Typer(help="The shipped rulebooks, every value with its citation.")
incident_files = typer.Typer(help="One file that proves what happened at a table.")
configs = typer.Typer(help="The configuration of a live table.")
reviews = typer.Typer(help="What the sensors left to a person.")
reports = typer.Typer(help="Reports that the service signed.")
snapshots = typer.Typer(help="Pictures that were taken out of the console.")
app.add_typer(rulebooks, name="rulebooks", no_args_is_help=True)
app.add_typer(journals, name="journal", no_args_is_help=True)
app.add_typer(configs, name="config", no_args_is_help=True)
app.add_typer(reviews, name="review", no_args_is_help=True)
app.add_typer(reports, name="report", no_args_is_help=True)
app.add_typer(snapshots, name="snapshot", no_args_is_help=True)
app.add_typer(incident_files, name="incident", no_args_is_help=True)
app.add_typer(backups, name="backup", no_args_is_help=True)
app.add_typer(decks, name="decks", no_args_is_help=True)
app.add_typer(relay, name="relay", no_args_is_help=True)


def _print_version(*, asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"pitwatch {version('pitwatch')}")
        raise typer.Exit


@app.callback()
def options(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Watch a blackjack table and prove every payout."""


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
PICTURE = "How it is filmed"
RULEBOOK_HELP = "A shipped rulebook's id (see `pitwatch rulebooks list`) or a TOML file."


@app.command(
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


@app.command(
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


@app.command(
    epilog="[dim]pitwatch simulate out/evening --rounds 5 --seed 7[/dim]\n\n"
    "[dim]pitwatch simulate out/errs --mistake dealer_hit_hard_17 --include split,double[/dim]"
)
def simulate(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A new folder to write.")],
    *,
    rulebook: Annotated[str, typer.Option("--rulebook", "-r", help=RULEBOOK_HELP)] = "kansas-shoe",
    knobs: Knobs = None,
    rounds: Annotated[int, typer.Option(min=1, max=1000)] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Decides everything left to chance.")] = 1,
    spots: Annotated[str | None, typer.Option(help="Spots that play: 1,2,4. Default: all.")] = None,
    mistakes: Annotated[
        list[str] | None,
        typer.Option("--mistake", metavar="CODE", help="Err in this way once; repeatable."),
    ] = None,
    include: Annotated[
        str | None,
        typer.Option(help="Situations to bring about, one a round; + joins: split+double,push."),
    ] = None,
    peek: Annotated[
        bool, typer.Option(help="Whether the dealer looks under an ace or ten.")
    ] = True,
    table: Annotated[str, typer.Option(help="The table's id.")] = "BJ-01",
    live: Annotated[
        bool,
        typer.Option("--live", help="Then play it in real time to `pitwatch run`: ports, camera."),
    ] = False,
    shoe: Annotated[str, typer.Option(help="What the shoe speaks.")] = "angel-eye",
    layout: Annotated[str, typer.Option(help="A shipped felt, or a TOML file.")] = "five-spots",
    video: Annotated[
        bool, typer.Option(help="Whether to film it.", rich_help_panel=PICTURE)
    ] = True,
    vary: Annotated[
        bool,
        typer.Option(help="Draw deck, felt, pose, light from the seed.", rich_help_panel=PICTURE),
    ] = False,
    deck: Annotated[str | None, typer.Option(rich_help_panel=PICTURE)] = None,
    felt: Annotated[str | None, typer.Option(rich_help_panel=PICTURE)] = None,
    size: Annotated[
        str | None, typer.Option(metavar="WxH", help="Pixels: 1920x1080.", rich_help_panel=PICTURE)
    ] = None,
    fps: Annotated[float | None, typer.Option(min=1, max=120, rich_help_panel=PICTURE)] = None,
    crf: Annotated[
        int,
        typer.Option(min=0, max=51, help="Compression: 0 none, 51 worst.", rich_help_panel=PICTURE),
    ] = 25,
    preset: Annotated[
        str, typer.Option(help="Encoder: ultrafast … veryslow.", rich_help_panel=PICTURE)
    ] = "ultrafast",
    zoom: Annotated[float | None, typer.Option(min=0.2, max=3, rich_help_panel=PICTURE)] = None,
    tilt: Annotated[
        str | None, typer.Option(metavar="DEG,DEG", help="Camera tilt.", rich_help_panel=PICTURE)
    ] = None,
    rotation: Annotated[
        float | None, typer.Option(help="Degrees.", rich_help_panel=PICTURE)
    ] = None,
    shift: Annotated[
        str | None,
        typer.Option(metavar="PX,PX", help="Camera off centre.", rich_help_panel=PICTURE),
    ] = None,
    distortion: Annotated[
        float | None, typer.Option(help="Radial.", rich_help_panel=PICTURE)
    ] = None,
    markers: Annotated[
        bool,
        typer.Option(help="Stick the layout's markers to the felt.", rich_help_panel=PICTURE),
    ] = False,
    noise: Annotated[
        float | None, typer.Option(min=0, max=60, help="Grey levels.", rich_help_panel=PICTURE)
    ] = None,
    blur: Annotated[
        float | None, typer.Option(min=0, max=20, help="Sigma in pixels.", rich_help_panel=PICTURE)
    ] = None,
    glare: Annotated[float | None, typer.Option(min=0, max=1, rich_help_panel=PICTURE)] = None,
    shadow: Annotated[float | None, typer.Option(min=0, max=1, rich_help_panel=PICTURE)] = None,
    brightness: Annotated[
        float | None, typer.Option(min=0.1, max=3, rich_help_panel=PICTURE)
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Deal, err, pay and film a table by a seed, and write it as a session with its truth."""
    from server.commands import simulate as simulating
    from simulation.session import Settings

    width, height = simulating.pair(size, "--size", "x", int) or (None, None)
    look = simulating.look_of(
        seed,
        vary=vary,
        given={
            "deck": deck,
            "felt": felt,
            "width_px": width,
            "height_px": height,
            "fps": fps,
            "zoom": zoom,
            "tilt_deg": simulating.pair(tilt, "--tilt", ",", float),
            "rotation_deg": rotation,
            "shift_px": simulating.pair(shift, "--shift", ",", float),
            "distortion": distortion,
            "markers": markers,
            "noise_sigma": noise,
            "blur_px": blur,
            "glare": glare,
            "shadow": shadow,
            "brightness": brightness,
        },
    )
    settings = Settings(
        rulebook=rulebook,
        knobs=tuple(knobs or ()),
        rounds=rounds,
        seed=seed,
        spots=simulating.numbers(spots, "--spots"),
        layout=layout,
        look=look,
        crf=crf,
        preset=simulating.encoder_preset(preset),
        video=video,
        shoe=simulating.shoe_driver(shoe),
        mistakes=tuple(mistakes or ()),
        include=tuple(include.split(",")) if include else (),
        peek=peek,
        table=table,
    )
    simulating.run_simulate(settings, session, as_json=as_json, force=force)
    if live:
        from server.commands.live_session import play_live

        play_live(session, as_json=as_json)


@app.command(epilog="[dim]pitwatch examples examples[/dim]")
def examples(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A new folder to write.")],
) -> None:
    """Write facts, a picture, a session and configurations to try the other commands on."""
    from server.commands.examples import write_examples

    write_examples(folder)


@app.command(
    epilog="[dim]pitwatch replay evening/ --report report.html[/dim]\n\n"
    "[dim]pitwatch replay evening/ --json | jq .status[/dim]"
)
def replay(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A session folder.")],
    *,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a self-contained page of the session.")
    ] = None,
    journal: Annotated[
        Path | None, typer.Option("--journal", help="Keep the journal in this new file.")
    ] = None,
    facts: Annotated[
        Path | None, typer.Option("--facts", help="Write the facts found, for `settle`.")
    ] = None,
    rulebook: Annotated[
        str | None,
        typer.Option("--rulebook", "-r", help=RULEBOOK_HELP + " Default: the session's."),
    ] = None,
    knobs: Knobs = None,
    speed: Annotated[
        float | None,
        typer.Option(min=0.01, help="Times real time; default as fast as possible."),
    ] = None,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Turn a recorded session's pixels and serial bytes into payouts, and compare with truth.

    Exit 0 only if every round is final and as it really happened, with no violation and no
    device at fault; 3 if a person has something to look at; 2 if the session is refused.
    """
    from server.commands.replay import Outputs, run_replay
    from server.house.house_file import house_for
    from server.table.replay import ReplayOptions

    options = ReplayOptions(
        folder=session,
        rulebook=rulebook,
        knobs=tuple(knobs or ()),
        speed=speed,
        pictures=report is not None,
    )
    found = house_for(house, session)
    outputs = Outputs(report, journal, facts, force, found)
    raise typer.Exit(run_replay(options, outputs, house=found, as_json=as_json))


@app.command(
    epilog="[dim]pitwatch read hand.jpg table.png[/dim]\n\n"
    "[dim]pitwatch read *.jpg --json --annotate drawn/[/dim]"
)
def read(
    images: Annotated[list[Path], typer.Argument(metavar="IMAGE", help="JPEG, PNG, WebP…")],
    *,
    annotate: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Draw what was read here, NAME.read.jpg by NAME.jpg."),
    ] = None,
    deck: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A learnt deck that the cards are of; repeatable."),
    ] = None,
    library: Library = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Find and read the cards in photographs. What cannot be read for sure is said to be so."""
    from server.commands.read import run_read

    run_read(images, annotate, as_json=as_json, decks=deck or (), shelf=library, force=force)


@app.command(
    epilog="[dim]pitwatch calibrate frame.png layout.toml --out pose.toml --picture o.png[/dim]\n\n"
    "[dim]pitwatch calibrate evening/overhead.mp4 evening/layout.toml --session evening[/dim]\n\n"
    "[dim]pitwatch calibrate frame.png five-spots --point 1800,385=circle-1 …[/dim]\n\n"
    "[dim]pitwatch calibrate --print-markers layout.toml markers.pdf[/dim]"
)
def calibrate(
    picture: Annotated[
        str, typer.Argument(metavar="PICTURE", help="A frame of the camera, or its video.")
    ],
    layout: Annotated[str, typer.Argument(metavar="LAYOUT", help="A TOML file, or a shipped id.")],
    *,
    points: Annotated[
        list[str] | None,
        typer.Option(
            "--point", metavar="X,Y=NAME", help="Instead of markers: where a named point is seen."
        ),
    ] = None,
    point_file: Annotated[
        Path | None, typer.Option("--points", help="The same, a line each, in a file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="POSE.toml", help="Write the pose here.")
    ] = None,
    drawn: Annotated[
        Path | None,
        typer.Option("--picture", metavar="PNG", help="Draw the layout over the picture."),
    ] = None,
    session: Annotated[
        Path | None, typer.Option(help="Put the pose into this session's description.")
    ] = None,
    camera: Annotated[
        str | None, typer.Option(help="Which of the session's cameras, where it has several.")
    ] = None,
    at_s: Annotated[
        float, typer.Option("--at", min=0, help="Second of the video to take the frame from.")
    ] = 0.0,
    print_markers: Annotated[
        bool,
        typer.Option("--print-markers", help="Give LAYOUT OUT.pdf: write its markers to print."),
    ] = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Find the camera's pose and lens from the felt's markers, or from points clicked."""
    from server.commands import calibrate as calibrating

    if print_markers:
        calibrating.print_markers(picture, Path(layout), force=force)
        return
    calibrating.run_calibrate(
        calibrating.Asked(
            Path(picture),
            layout,
            tuple(points or ()),
            point_file,
            at_s,
            out,
            drawn,
            session,
            camera,
            force,
        ),
        as_json=as_json,
    )


@app.command(
    epilog="[dim]pitwatch serve journals/ --port 8443 --tls-certificate c --tls-key k[/dim]"
)
def serve(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where *.journal lie.")],
    *,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8707,
    state: Annotated[
        Path | None,
        typer.Option(help="Where accounts are kept; default FOLDER/.service.", show_default=False),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--tls-certificate", metavar="PEM", help="Serve over TLS.")
    ] = None,
    key: Annotated[Path | None, typer.Option("--tls-key", metavar="PEM")] = None,
    proxy: Annotated[
        str | None,
        typer.Option("--behind-proxy", metavar="ADDRESS", help="A proxy that speaks TLS for us."),
    ] = None,
    guarded: Annotated[
        list[str] | None,
        typer.Option(
            "--second-factor", metavar="ROLE", help="Such accounts must have one; repeatable."
        ),
    ] = None,
    two_people: Annotated[
        list[str] | None,
        typer.Option(
            "--two-people",
            metavar="DECISION",
            help="void, override: such decisions hold once a second person agreed; repeatable.",
        ),
    ] = None,
    password_history: Annotated[
        int,
        typer.Option(min=0, max=24, help="So many former passwords may not come back."),
    ] = 5,
    password_days: Annotated[
        int | None,
        typer.Option(min=1, metavar="DAYS", help="A password must be changed after so long."),
    ] = None,
    integration: Annotated[
        Path | None,
        typer.Option(
            "--integration", metavar="TOML", help="Tell others; `pitwatch examples` writes one."
        ),
    ] = None,
    recordings: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where session folders lie; default FOLDER itself."),
    ] = None,
    checkpoints: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET",
            help="Where checkpoints of the service's own journals go: a file on another machine's "
            "disk, syslog://HOST:514, syslog+tcp://HOST:601; repeatable.",
        ),
    ] = None,
    house: HouseFile = None,
    report_certificate: Annotated[
        Path | None,
        typer.Option(metavar="PEM", help="Sign PDF reports with this X.509 certificate."),
    ] = None,
    report_key: Annotated[
        Path | None, typer.Option(metavar="PEM", help="That certificate's private key.")
    ] = None,
) -> None:
    """Show the tables whose journals lie in a folder: console, REST, WebSocket, metrics."""
    from server.commands.serve import Address, People, run_serve

    address = Address(host, port, certificate, key, proxy)
    run_serve(
        folder,
        state,
        address,
        people=People(guarded or (), two_people or (), password_history, password_days),
        integration=integration,
        recordings=recordings,
        house=house,
        identity=(report_certificate, report_key),
        checkpoints=checkpoints or (),
    )


@app.command(
    "console", epilog="[dim]pitwatch console[/dim]\n\n[dim]pitwatch console evening/[/dim]"
)
def open_console(
    session: Annotated[
        Path | None,
        typer.Argument(metavar="SESSION", help="A session folder; the demo's where left out."),
    ] = None,
    *,
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8707,
    state: Annotated[
        Path | None,
        typer.Option(help="Where its journal and account are kept.", show_default=False),
    ] = None,
    house: HouseFile = None,
) -> None:
    """Look at a recorded session in the console, on this machine alone.

    It is replayed first where it has no journal yet; the first start makes one account.
    """
    from server.commands.console import run_console

    run_console(session, state, port, house)


@app.command(
    epilog="[dim]pitwatch export november/*.journal --what ledger --out ledger.parquet[/dim]"
)
def export(
    files: Annotated[list[Path], typer.Argument(metavar="JOURNAL…", help="Tables' journals.")],
    *,
    what: Annotated[
        str, typer.Option(help="rounds, hands, violations, reviews, payments, ledger.")
    ],
    out: Annotated[Path, typer.Option(help="A new .csv or .parquet file.")],
    force: Force = False,
    house: HouseFile = None,
) -> None:
    """Write a list out of journals as a table, the newest first. Nothing in it is veiled."""
    from server.commands.export import run_export
    from server.house.house_file import folders_of, house_for

    found = house_for(house, *folders_of([str(file) for file in files]))
    run_export(files, what, out, found, force=force)


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
    """Show every knob of a rulebook with where its value comes from."""
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


@app.command(
    "run",
    epilog="[dim]pitwatch run table.toml[/dim]\n\n"
    "[dim]pitwatch run table.toml --for 3600 --json > rounds.jsonl[/dim]",
)
def run_live(
    file: Annotated[Path, typer.Argument(metavar="TABLE.toml", help="The configuration.")],
    *,
    for_s: Annotated[
        float | None, typer.Option("--for", metavar="SECONDS", min=0, help="Then stop.")
    ] = None,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Run a live table: watch, settle, record, until SIGINT, SIGTERM or SIGHUP.

    Started again with the same journal it goes on where it stopped, in the middle of a round too.
    """
    from server.commands.run import run_table

    raise typer.Exit(run_table(file, for_s, house=house, as_json=as_json))


@configs.command("check", epilog="[dim]pitwatch config check table.toml[/dim]")
def check_config(
    file: Annotated[Path, typer.Argument(metavar="TABLE.toml", help="The configuration.")],
    *,
    at_rest: Annotated[
        bool, typer.Option("--at-rest", help="Do not ask what is plugged into this machine.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say everything that is wrong with a table's configuration, a line a fault."""
    from server.commands import config as config_command

    raise typer.Exit(config_command.check_config(file, at_rest=at_rest, as_json=as_json))


@configs.command("schema", epilog="[dim]pitwatch config schema > table.schema.json[/dim]")
def show_config_schema(
    *,
    of_integration: Annotated[
        bool, typer.Option("--integration", help="Of integration.toml instead of table.toml.")
    ] = False,
) -> None:
    """Print the JSON Schema of a configuration, every field with its meaning."""
    from server.commands import config as config_command

    config_command.show_schema(of_integration=of_integration)


@reviews.command("list", epilog="[dim]pitwatch review list BJ-07.journal[/dim]")
def list_reviews(
    journal: Annotated[Path, typer.Argument(help="The journal of a table.")],
    as_json: Json = False,
) -> None:
    """List the items of a journal and what was decided of them; exit 3 while one is open."""
    from server.commands import review as review_command

    is_open = review_command.list_reviews(journal, as_json=as_json)
    raise typer.Exit(Exit.FINDINGS if is_open else Exit.CLEAN)


@reviews.command(
    "resolve",
    epilog="[dim]pitwatch review resolve BJ-07.journal -n 12 --item 0 --choose 9C --by ann[/dim]"
    "\n\n[dim]pitwatch review resolve BJ-07.journal -n 12 --as void --reason '…' --by ann[/dim]",
)
def resolve_review(
    journal: Annotated[Path, typer.Argument(help="The journal of a table.")],
    *,
    number: Annotated[int, typer.Option("--round", "-n", min=1)],
    by: Annotated[str, typer.Option(help="Who decides it: the name goes into the journal.")],
    item: Annotated[int, typer.Option(min=0, help="Which of the round's items, from 0.")] = 0,
    choose: Annotated[str | None, typer.Option(metavar="CARD", help="9C, AS, TD …")] = None,
    decision: Annotated[
        str,
        typer.Option("--as", help="chosen, dealt, burned, stands, unreadable, void."),
    ] = "chosen",
    place: Annotated[
        str | None,
        typer.Option("--at", metavar="PLACE", help="The card: SPOT, SPOT.HAND, dealer; :N."),
    ] = None,
    reason: Annotated[str, typer.Option(help="For unreadable and void.")] = "",
    rulebook: Annotated[
        str | None,
        typer.Option("--rulebook", "-r", help="Where the journal does not say its rules."),
    ] = None,
    knobs: Knobs = None,
    key: Annotated[
        Path | None, typer.Option(help="The private key that signs the journal.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Decide an item; the round settles anew, at the table at work or in the closed journal."""
    from server.commands import review as review_command
    from server.house.rulebooks import rules_for

    said = review_command.Said(by, number, item, decision, choose, place, reason)
    rules = None if rulebook is None else rules_for(rulebook, knobs or ())
    review_command.resolve(journal, said, rules, key, as_json=as_json)


@app.command("restore", epilog="[dim]pitwatch restore /var/backups/pitwatch/NAME DATA[/dim]")
def restore_site(
    backup: Annotated[Path, typer.Argument(help="A folder that `pitwatch backup make` made.")],
    data: Annotated[Path, typer.Argument(help="Where journals and service stand.")],
) -> None:
    """Put a backup's journals and service files into DATA, all of them or none.

    Every file is held to its checksum and every journal to its chain, before and after it is
    written. No file is written over. Stop tables and service first. Run it again after an
    interruption: it goes on where it stopped.
    """
    from server.commands import restore as restore_command

    restore_command.restore(backup, data)


@reports.command(
    "verify", epilog="[dim]pitwatch report verify bj-07.12-report.pdf --key service.pem[/dim]"
)
def verify_report(
    file: Annotated[Path, typer.Argument(help="A report, HTML or PDF, as the service made it.")],
    key: Annotated[
        Path | None, typer.Option(metavar="PUBLIC.pem", help="Who must have signed it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a report's signature; one changed byte is found.

    Exit 0 where it is as the key named signed it; 5 where no key was named, so that anybody may
    have signed it; 2 where it was changed, is unsigned, or another key signed it.
    """
    from server.commands import report as report_command

    raise typer.Exit(report_command.verify_report(file, key, as_json=as_json))


@snapshots.command("verify", epilog="[dim]pitwatch snapshot verify BJ-07-round-1.png[/dim]")
def verify_snapshot(
    file: Annotated[Path, typer.Argument(help="A snapshot, PNG, as the console saved it.")],
    key: Annotated[
        Path | None, typer.Option(metavar="PUBLIC.pem", help="Who must have signed it.")
    ] = None,
    journal: Annotated[
        Path | None, typer.Option(help="Hold it against the table's journal.")
    ] = None,
    recording: Annotated[
        Path | None, typer.Option(help="Hold it against the session's folder, pixel by pixel.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a picture's signature, and say which table, round and moment it shows.

    One changed byte is found. With --journal the entry that it rests on must stand there; with
    --recording the recorded video must show the same picture at that time.

    Exit 5 where no key was named: anybody may have signed it.
    """
    from server.commands import snapshot as snapshot_command

    proven = snapshot_command.verify_snapshot(file, key, journal, recording, as_json=as_json)
    raise typer.Exit(proven)


@app.command("verify-install", epilog="[dim]pitwatch verify-install --json[/dim]")
def verify_install(*, as_json: Json = False) -> None:
    """Compare the installed program with the manifest of its wheel; print the program's hash.

    Files that were changed, are missing or were added are named. Every journal states the hash
    among its first entries.

    Exit 0 where nothing differs; 2 where something does; 5 in a checkout, which has no manifest.
    """
    from server.commands import verify_install as install_command

    raise typer.Exit(install_command.verify_install(as_json=as_json))


@incident_files.command(
    "export",
    epilog="[dim]pitwatch incident export recordings/BJ-07-1 --round 12 --out 12.zip[/dim]",
)
def export_incident(
    session: Annotated[Path, typer.Argument(metavar="SESSION", help="A recorded session.")],
    *,
    out: Annotated[Path, typer.Option("--out", help="The file to write.")],
    round_number: Annotated[int | None, typer.Option("--round", metavar="N")] = None,
    entry: Annotated[
        int | None,
        typer.Option("--entry", metavar="SEQ", help="The moment that a violation names."),
    ] = None,
    from_text: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="2026-11-21T14:23:45, the house's time."),
    ] = None,
    to_text: Annotated[str | None, typer.Option("--to", metavar="TIME")] = None,
    journal: Annotated[
        Path | None,
        typer.Option("--journal", help="The table's; default the one by the session."),
    ] = None,
    margin_s: Annotated[
        float, typer.Option("--margin", min=0, help="Seconds before and after.")
    ] = 5.0,
    key: Annotated[
        Path | None, typer.Option("--key", help="A private key to sign the whole file with.")
    ] = None,
    no_hold: Annotated[
        bool, typer.Option("--no-hold", help="Do not keep the recording from being removed.")
    ] = False,
    force: Force = False,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Write clip, events, serial bytes and their proof into one file, and hold the recording."""
    from server.commands import incident as incident_command

    span = (round_number, entry, from_text, to_text)
    asked = incident_command.Export(
        session,
        out,
        *span,
        journal=journal,
        margin_s=margin_s,
        key=key,
        held=not no_hold,
        force=force,
        house=house,
    )
    incident_command.export_incident(asked, as_json=as_json)


@incident_files.command("verify", epilog="[dim]pitwatch incident verify 12.zip --key 5f3a…[/dim]")
def verify_incident(
    file: Annotated[Path, typer.Argument(help="What `incident export` wrote.")],
    key: Annotated[
        str | None,
        typer.Option("--key", help="The fingerprint of the table's key, or its public key's file."),
    ] = None,
    exporter: Annotated[
        str | None,
        typer.Option("--exporter", help="The same of the key that signed the whole file."),
    ] = None,
    allow_unsigned: Annotated[
        bool,
        typer.Option("--allow-unsigned", help="End with 0 though video and bytes are not proven."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check an incident to its last bit, and say what of it is proven and by whose key.

    Exit 0 where all of it is proven; 5 where something is not: no key was named, the journal has
    no hashes of the recordings, nobody signed the export; 2 where anything differs from what was
    exported or another key signed it.
    """
    from server.commands import incident as incident_command

    keys = incident_command.Keys(key, exporter, allow_unsigned)
    raise typer.Exit(incident_command.verify_incident(file, keys, as_json=as_json))


def main() -> None:
    """Run ``pitwatch`` and leave with its exit status."""
    sys.exit(as_process(lambda: run(sys.argv[1:])))


def run(arguments: Sequence[str]) -> int:
    """Run one command; a refusal is one line on stderr, never a traceback."""
    try:
        app(args=list(arguments), prog_name="pitwatch")
    except Ended:
        raise
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else Exit.REFUSED
    except PitwatchError as refusal:
        print(f"pitwatch: {refusal}", file=sys.stderr)
    except OSError as fault:
        place = fault.filename or "this machine"
        print(f"pitwatch: {place}: {fault.strerror or fault}", file=sys.stderr)
    return Exit.REFUSED
