"""Review items: questions that the sensors left open."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import HouseFile, Json, Knobs
from server.process.exit_status import Exit

Rules = Annotated[
    str | None,
    typer.Option("--rulebook", "-r", help="The rules, if the journal does not record them."),
]
reviews = typer.Typer(help="Review items: questions that the sensors left to a person.")


@reviews.command("list", epilog="[dim]pitwatch review list BJ-07.journal[/dim]")
def list_reviews(
    journal: Annotated[Path, typer.Argument(help="The journal of a table.")],
    as_json: Json = False,
) -> None:
    """List a journal's review items and their decisions. Exit 3 while any is open."""
    from server.commands import review as review_command

    is_open = review_command.list_reviews(journal, as_json=as_json)
    raise typer.Exit(Exit.FINDINGS if is_open else Exit.CLEAN)


@reviews.command("show", epilog="[dim]pitwatch review show BJ-07.journal -n 12[/dim]")
def show_reviews(
    journal: Annotated[Path, typer.Argument(help="The journal of a table.")],
    number: Annotated[
        int | None, typer.Option("--round", "-n", min=1, help="Only this round's items.")
    ] = None,
    rulebook: Rules = None,
    knobs: Knobs = None,
    as_json: Json = False,
) -> None:
    """Show open items: the question, its answers, and what each answer comes to.

    Exit 3 while any is open.
    """
    from server.commands import review as review_command
    from server.house.rulebooks import rules_for

    rules = None if rulebook is None else rules_for(rulebook, knobs or ())
    is_open = review_command.show_reviews(journal, number, rules, as_json=as_json)
    raise typer.Exit(Exit.FINDINGS if is_open else Exit.CLEAN)


@reviews.command(
    "resolve",
    epilog="[dim]pitwatch review resolve BJ-07.journal -n 12 --item 0 --answer 2 --by ann[/dim]"
    "\n\n[dim]pitwatch review resolve BJ-07.journal -n 12 --item 0 --choose 9C --by ann[/dim]"
    "\n\n[dim]pitwatch review resolve BJ-07.journal -n 12 --as void --reason '…' --by ann[/dim]",
)
def resolve_review(
    journal: Annotated[Path, typer.Argument(help="The journal of a table.")],
    *,
    number: Annotated[int, typer.Option("--round", "-n", min=1, help="The round's number.")],
    by: Annotated[str, typer.Option(help="Who decides. The journal records the name.")],
    approved_by: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who approves, where the house requires two people."),
    ] = None,
    item: Annotated[int, typer.Option(min=0, help="The item's index in the round, from 0.")] = 0,
    answer: Annotated[
        int | None,
        typer.Option(min=1, help="The answer of that number, as `review show` lists them."),
    ] = None,
    choose: Annotated[
        str | None, typer.Option(metavar="CARD", help="The card: 9C, AS, TD …")
    ] = None,
    decision: Annotated[
        str,
        typer.Option(
            "--as", help="The decision: chosen, dealt, burned, stands, unreadable or void."
        ),
    ] = "chosen",
    place: Annotated[
        str | None,
        typer.Option(
            "--at",
            metavar="PLACE",
            help="Where the card lies: 'spot 3, hand 2, card 1', 'dealer, card 2'.",
        ),
    ] = None,
    reason: Annotated[str, typer.Option(help="The reason. unreadable and void require one.")] = "",
    rulebook: Rules = None,
    knobs: Knobs = None,
    key: Annotated[
        Path | None, typer.Option(help="The private key that signs the journal.")
    ] = None,
    house: HouseFile = None,
    as_json: Json = False,
) -> None:
    """Decide a review item. The round is then settled again.

    The command hands the decision to the running table, or writes it into a closed journal.
    """
    from server.commands import review as review_command
    from server.house.house_file import house_for
    from server.house.rulebooks import rules_for

    decided = review_command.Decided(
        by, approved_by, number, item, decision, choose, place, reason, answer
    )
    rules = None if rulebook is None else rules_for(rulebook, knobs or ())
    described = house_for(house, journal.parent)
    review_command.resolve(journal, decided, described, rules, key, as_json=as_json)
