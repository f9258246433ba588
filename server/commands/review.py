"""``pitwatch review``: list the items that a person must decide, and decide them."""

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, get_args

import msgspec
import typer
from rich.table import Table
from rich.text import Text

from models.cards import Card
from models.errors import OperatorError
from models.events import CardPlace, Decision, ReviewResolved
from models.house import House
from models.judgements import (
    Account,
    AccountHand,
    AnyEvent,
    ReviewRaised,
    RoundResult,
    RoundSettled,
    Sense,
    Witness,
)
from models.money import dollars
from models.rulebook import Rulebook
from server.commands.options import HouseFile, Json, Knobs
from server.house.house_file import house_for
from server.house.rulebooks import rules_for
from server.house.wording import place, with_pips
from server.process.exit_status import Exit
from server.process.terminal import print_json, screen
from server.table.answering import JournalAnswers
from server.table.resolving import decide
from stream.clock import HostClock
from stream.journal import Checkpoints
from stream.reading import UnknownEvent, read_journal
from stream.signing import Signer

app = typer.Typer(no_args_is_help=True)

Rules = Annotated[
    str | None,
    typer.Option("--rulebook", "-r", help="The rules, if the journal does not record them."),
]


@app.command("list", epilog="[dim]pitwatch review list BJ-07.journal[/dim]")
def list_reviews(
    journal: Annotated[Path, typer.Argument(help="The journal of a table.")],
    as_json: Json = False,
) -> None:
    """List a journal's review items and their decisions. Exit 3 while any is open."""
    is_open = print_list(journal, as_json=as_json)
    raise typer.Exit(Exit.FINDINGS if is_open else Exit.CLEAN)


@app.command("show", epilog="[dim]pitwatch review show BJ-07.journal -n 12[/dim]")
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
    rules = None if rulebook is None else rules_for(rulebook, knobs or ())
    is_open = print_open(journal, number, rules, as_json=as_json)
    raise typer.Exit(Exit.FINDINGS if is_open else Exit.CLEAN)


@app.command(
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
    decided = Decided(by, approved_by, number, item, decision, choose, place, reason, answer)
    rules = None if rulebook is None else rules_for(rulebook, knobs or ())
    described = house_for(house, journal.parent)
    resolve(journal, decided, described, rules, key, as_json=as_json)


_IN_WORDS: Final = re.compile(
    r"(?:spot )?(?P<to>dealer|[0-9]+)(?:,? hand (?P<hand>[1-9][0-9]*))?"
    r"(?:,? card (?P<nth>[1-9][0-9]*))?"
)
_IN_NUMBERS: Final = re.compile(
    r"(?P<to>dealer|[0-9]+)(?:\.(?P<hand>[0-9]+))?(?::(?P<nth>[0-9]+))?"
)


_SENSES: Final[dict[Sense, str]] = {
    "camera": "the camera speaks",
    "shoe": "the shoe speaks",
    "chips": "the chips speak",
    "console": "what was entered speaks",
    "play": "how dealer and players usually go on speaks",
}


@dataclass(frozen=True, slots=True)
class Decided:
    """A person's decision on an item."""

    by: str
    approved_by: str | None
    round: int
    item: int
    decision: str
    choice: str | None
    place: str | None
    """``spot 3, hand 2, card 1`` or ``dealer, card 2``."""
    reason: str
    answer: int | None = None
    """The item's answer of that number, from 1, as ``review show`` numbers them."""
    account: int | None = None
    says: str = ""


def print_list(journal: Path, *, as_json: bool) -> int:
    """Print every item of a journal with its decision; return the number of open ones.

    Raises:
        TechnicianError: the journal is damaged.
    """
    rows = tuple(_rows(read_journal(journal)))
    if as_json:
        print_json(rows)
    else:
        screen().print(_table(rows) if rows else "nothing to decide")
    return sum(row["decided"] is None for row in rows)


def print_open(journal: Path, number: int | None, rules: Rulebook | None, *, as_json: bool) -> int:
    """Print the open items of a journal, or of one round, with their answers.

    Args:
        journal: the table's.
        number: the round; ``None`` for all.
        rules: those of the session, where its journal does not state them.
        as_json: whether to print JSON.

    Returns:
        The number of items printed.

    Raises:
        TechnicianError: the journal is damaged.
    """
    events = tuple(read_journal(journal))
    rows = [
        row for row in _rows(events) if row["decided"] is None and number in (None, row["round"])
    ]
    answers = JournalAnswers(events, rules, where=str(journal))
    for row in rows:
        row["answers"] = answers.to(row["round"], row["item"]).answers
    if as_json:
        print_json(rows)
    elif not rows:
        screen().print("nothing to decide")
    for row in () if as_json else rows:
        screen().print(_shown(row))
    if rows and not as_json:
        screen().print(Text(f"Decide with: {_how_to(journal, rows[0])}", style="dim"))
        if any(one.decision == "unreadable" for row in rows for one in row["answers"]):
            screen().print(Text("Name another card: --choose 9C instead of --answer", style="dim"))
    return len(rows)


def _how_to(journal: Path, row: dict[str, object]) -> str:
    named = f"{journal} -n {row['round']} --item {row['item']}"
    return f"pitwatch review resolve {named} --answer NUMBER --by YOUR-NAME"


def _shown(row: dict[str, Any]) -> Text:
    """Return an item in words: its answers, what each comes to, and which sense supports it."""
    text = Text(f"round {row['round']}, item {row['item']}: ", style="bold")
    text.append(f"{with_pips(row['what'])}\n", style="not bold")
    accounts: tuple[Account, ...] = row["accounts"]
    for number, answer in enumerate(row["answers"], 1):
        known = f" ({answer.likelihood}: {answer.odds:g})" if answer.likelihood else ""
        reason = " (give a --reason)" if answer.asks_reason else ""
        says = with_pips(answer.says[:1].upper() + answer.says[1:])
        text.append(f"  {number}  {says}{known}{reason}\n", style="not bold")
        comes_to = f"     {with_pips(answer.comes_to)}\n" if answer.comes_to else ""
        text.append(comes_to, style="dim not bold")
        if answer.account is not None:
            text.append(_spoken(accounts[answer.account], "     "), style="dim not bold")
    for account in () if any(one.account is not None for one in row["answers"]) else accounts:
        odds = "as recorded" if account is accounts[0] else f"odds {account.odds:g} to 1"
        text.append(f"  {odds}: {with_pips(account.tells)}\n", style="not bold")
        settles = [_settles(hand) for hand in account.hands]
        settles += account.mistakes or ("no mistake",)
        text.append(f"     settles to: {', '.join(settles)}\n", style="dim not bold")
        text.append(_spoken(account, "     "), style="dim not bold")
    return text


def _spoken(account: Account, before: str) -> str:
    spoken = "; ".join(_speaks(witness) for witness in account.witnesses)
    return f"{before}{spoken}\n" if spoken else ""


def _settles(hand: AccountHand) -> str:
    net = "open" if hand.net is None else dollars(hand.net)
    return f"{place(hand.spot, hand.hand)}: {hand.outcome} {net}"


def _speaks(witness: Witness) -> str:
    """Describe how many times likelier or less likely a sense makes an account."""
    who = _SENSES[witness.sense]
    if witness.odds >= 1.0:
        return f"{who} for it, {witness.odds:,.0f} to 1"
    return f"{who} against it, {float(f'{1.0 / witness.odds:.2g}'):,.0f} to 1"


def resolve(
    journal: Path,
    decided: Decided,
    house: House,
    rules: Rulebook | None,
    key: Path | None,
    *,
    as_json: bool,
) -> None:
    """Decide an item: the running table writes it, else the closed journal is reopened for it."""
    if decided.answer is not None:
        decided = _answered(journal, decided, rules)
    _check_people(journal, decided, house)
    clock = HostClock()
    decision = ReviewResolved(
        source=f"console:{decided.by}",
        at=clock.now_ns(),
        round=decided.round,
        item=decided.item,
        decision=_decision(decided.decision),
        choice=None if decided.choice is None else _card(decided.choice),
        card=None if decided.place is None else _place(decided.place),
        account=decided.account,
        says=decided.says,
        reason=decided.reason,
        approved_by=decided.approved_by or "",
    )
    due = None if key is None else Checkpoints(Signer.read(key), clock)
    handed = asyncio.run(decide(journal, decision, rules, due))
    if as_json:
        print_json(handed)
    else:
        line = Text("decided", style="bold green")
        screen().print(line.append(f"  entry {handed.seq}, written by the {handed.by}"))


def _answered(journal: Path, decided: Decided, rules: Rulebook | None) -> Decided:
    """Return what is decided by an answer of the item.

    Raises:
        OperatorError: the item has no answer of that number.
    """
    known = JournalAnswers(read_journal(journal), rules, where=str(journal))
    answers = known.to(decided.round, decided.item).answers
    number = decided.answer or 0
    if not 1 <= number <= len(answers):
        raise OperatorError(
            f"the item has no answer {number}",
            where="--answer",
            way_out=f"Give a number from 1 to {len(answers)}; `pitwatch review show` lists them",
        )
    given = answers[number - 1]
    return replace(
        decided,
        decision=given.decision,
        choice=None if given.choice is None else str(given.choice),
        place=None if given.card is None else _place_words(given.card),
        account=given.account,
        says=given.says,
    )


def _check_people(journal: Path, decided: Decided, house: House) -> None:
    """Check the second person that the house requires; neither name is verified."""
    if decided.approved_by is not None and decided.approved_by.strip() in ("", decided.by.strip()):
        raise OperatorError(
            "--approved-by must name a second person",
            where="--approved-by",
            way_out="Give another person's name",
        )
    asked = set(house.two_people)
    if decided.approved_by is not None or not asked:
        return
    needed = asked & {"void"} if decided.decision == "void" else set()
    if "override" in asked and _is_decided(journal, decided):
        needed |= {"override"}
    if needed:
        raise OperatorError(
            f"the house requires two people for this: {', '.join(sorted(needed))}",
            where="--approved-by",
            way_out="Give --approved-by, or decide it in the console, where another person "
            "approves it",
        )


def _is_decided(journal: Path, decided: Decided) -> bool:
    asked = decided.round, decided.item
    return any(
        (row["round"], row["item"]) == asked and row["decided"] is not None
        for row in _rows(read_journal(journal))
    )


def _rows(events: Iterable[AnyEvent | UnknownEvent]) -> list[dict[str, Any]]:
    rows: dict[tuple[int, int], dict[str, Any]] = {}
    raised: dict[int, int] = {}
    last: dict[int, ReviewResolved] = {}
    for event in events:
        if isinstance(event, ReviewRaised):
            item = raised.get(event.round, 0)
            raised[event.round] = item + 1
            rows[event.round, item] = {
                "round": event.round,
                "item": item,
                "what": event.review.what,
                "candidates": event.review.candidates,
                "accounts": event.accounts or (),
                "decided": None,
            }
        elif isinstance(event, ReviewResolved) and (event.round, event.item) in rows:
            rows[event.round, event.item]["decided"] = _describe(event)
            last[event.round] = event
        elif isinstance(event, RoundSettled) and event.result.round in last:
            _answer(rows.values(), event.result, last[event.result.round])
    return list(rows.values())


def _answer(rows: Iterable[dict[str, Any]], result: RoundResult, decision: ReviewResolved) -> None:
    """Mark the items that a decision on another item of the round has answered too."""
    still_open = {one.what for one in result.reviews or ()}
    for row in rows:
        is_own = row["round"] == result.round and row["decided"] is None
        if is_own and row["what"] not in still_open:
            row["decided"] = _describe(decision)


def _describe(event: ReviewResolved) -> str:
    where = "" if event.card is None else f"at {_place_words(event.card)}"
    parts = [event.decision, str(event.choice or ""), where, event.reason]
    if event.decision == "account":
        parts = [event.says or f"account {event.account}", event.reason]
    text = " ".join(part for part in parts if part)
    return f"{text}, by {event.source.removeprefix('console:')}"


def _table(rows: Iterable[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False)
    for heading in ("round", "item", "question", "it may be", "decided"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        decided = Text("open", style="bold yellow") if row["decided"] is None else row["decided"]
        table.add_row(
            str(row["round"]),
            str(row["item"]),
            with_pips(row["what"]),
            with_pips(" or ".join(row["candidates"])),
            decided if isinstance(decided, Text) else with_pips(str(decided)),
        )
    return table


def _decision(text: str) -> Decision:
    try:
        decision: Decision = msgspec.convert(text, Decision)
    except msgspec.ValidationError as fault:
        raise OperatorError(
            f"there is no decision {text!r}",
            where="--as",
            way_out=f"Choose one of {', '.join(get_args(Decision))}",
        ) from fault
    return decision


def _card(text: str) -> Card:
    try:
        return Card(text.upper())
    except ValueError as fault:
        raise OperatorError(
            f"there is no card {text!r}",
            where="--choose",
            way_out="Write rank and suit: 9C, AS, TD; A? where the suit is not known",
        ) from fault


def _place(text: str) -> CardPlace:
    """Read a card's place in words, which count from 1, or in the journal's numbers, from 0."""
    words = _IN_WORDS.fullmatch(text.strip().lower())
    numbers = _IN_NUMBERS.fullmatch(text.strip().lower())
    if words is not None:
        return _placed(words["to"], *(int(part or 1) - 1 for part in words.group("hand", "nth")))
    if numbers is not None:
        return _placed(numbers["to"], *(int(part or 0) for part in numbers.group("hand", "nth")))
    raise OperatorError(
        f"there is no place {text!r}",
        where="--at",
        way_out="Write 'spot 3', 'spot 3, hand 2, card 1' or 'dealer, card 2': all count from 1",
    )


def _placed(to: str, hand: int, nth: int) -> CardPlace:
    return (
        CardPlace(to="dealer", nth=nth)
        if to == "dealer"
        else CardPlace(to=int(to), hand=hand, nth=nth)
    )


def _place_words(card: CardPlace) -> str:
    whose = place(None if card.to == "dealer" else card.to, card.hand)
    return f"{whose}, card {card.nth + 1}"
