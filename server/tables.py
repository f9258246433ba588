"""Rounds as a pit supervisor reads them in a terminal."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from models.cards import Card
from models.judgements import HandResult, Review, RoundResult, SpotResult, Status, Violation
from models.money import dollars
from server.comparison import Comparison
from server.console import screen
from server.settling import SettledFile
from server.wording import candidates_text, card_text, certain, counted, is_red, settled_net, signed

STATUS_STYLE = {"final": "bold green", "pending": "bold yellow", "review": "bold yellow"}
OUTCOME_STYLE = {
    "win": "green",
    "blackjack": "bold green",
    "push": "cyan",
    "lose": "red",
    "bust": "red",
    "surrender": "magenta",
}
VERDICT_STYLE = {"exact": "bold green", "review": "bold yellow", "wrong": "bold red"}


def print_files(files: Sequence[SettledFile]) -> None:
    """Print every file's rounds, under its name where there are several."""
    console = screen()
    for settled in files:
        if len(files) > 1:
            console.rule(settled.name)
        print_rounds(console, settled.rounds)


def print_rounds(console: Console, rounds: Sequence[RoundResult]) -> None:
    """Print every round and the totals below."""
    for result in rounds:
        console.print(round_view(result))
        console.print()
    console.print(totals_line(rounds))


def round_view(result: RoundResult) -> RenderableType:
    """Lay out one round: heading, hands, then what went wrong and what is still open."""
    reviews = result.reviews or ()
    return Group(
        _heading(result),
        _hands_table(result),
        *(_review_line(review) for review in reviews),
        *(_violation_line(violation, result.status) for violation in result.violations),
    )


def totals_line(rounds: Sequence[RoundResult]) -> Text:
    """Sum up: rounds, the house's gain, mistakes found, rounds still open."""
    violations = len(certain(rounds))
    unsettled = sum(result.status != "final" for result in rounds)
    net = settled_net(rounds)
    line = Text(counted(len(rounds), "round"), style="bold")
    line.append(f"   house {signed(net)}", style="green" if net >= 0 else "red")
    line.append(f"   {counted(violations, 'violation')}", style="red" if violations else "green")
    line.append(f"   {unsettled} not final", style="yellow" if unsettled else "green")
    return line


def truth_line(comparison: Comparison) -> Text:
    """Say how one round compares with what really happened."""
    line = Text(f"round {comparison.round}: ")
    line.append(comparison.verdict, style=VERDICT_STYLE[comparison.verdict])
    for difference in comparison.differences:
        line.append(f"\n  {difference}", style="dim")
    return line


def _heading(result: RoundResult) -> Text:
    line = Text(f"Round {result.round}", style="bold")
    line.append(f"   {result.rulebook}   ", style="dim")
    line.append(result.status, style=STATUS_STYLE[result.status])
    line.append(f"   house {signed(result.net)}")
    return line


def _hands_table(result: RoundResult) -> Table:
    table = Table(show_edge=False, pad_edge=False, box=None, header_style="dim")
    table.add_column("spot")
    table.add_column("hand")
    table.add_column("cards", min_width=18)
    table.add_column("stake", justify="right")
    table.add_column("outcome")
    table.add_column("net", justify="right")
    table.add_column("decided by", style="dim", overflow="fold")
    _add_dealer(table, result)
    for spot in result.spots:
        _add_spot(table, spot)
    return table


def _add_dealer(table: Table, result: RoundResult) -> None:
    dealer = result.dealer
    points = "" if dealer.total is None else f"{'soft ' if dealer.soft else ''}{dealer.total} "
    outcome = Text(f"{points}{dealer.outcome.replace('_', ' ')}", style="bold")
    table.add_row("dealer", "", _cards(dealer.cards, dealer.burned), "", outcome, "", "")


def _add_spot(table: Table, spot: SpotResult) -> None:
    for hand in spot.hands:
        table.add_row(str(spot.spot), str(hand.hand), *_hand_cells(hand))
    if spot.insurance:
        stake = dollars(spot.insurance.stake)
        net = signed(spot.insurance.net)
        table.add_row(str(spot.spot), "", Text("insurance", style="dim"), stake, "", net, "")


def _hand_cells(hand: HandResult) -> tuple[RenderableType, ...]:
    style = OUTCOME_STYLE.get(hand.outcome, "bold yellow")
    clauses = ", ".join(hand.clauses)
    if hand.possible:
        ways = (f"{way.outcome} {signed(way.net)} if {way.condition}" for way in hand.possible)
        clauses = "; ".join(ways)
    return (
        _cards(hand.cards, hand.burned),
        dollars(hand.stake),
        Text(hand.outcome, style=style),
        Text(signed(hand.net), style=style),
        Text(clauses),
    )


def _cards(cards: Sequence[Card | None], burned: Sequence[Card | None]) -> Text:
    line = Text()
    for card in cards:
        line.append(card_text(card) + " ", style="bold red" if is_red(card) else "bold")
    if burned:
        line.append("burned " + " ".join(map(card_text, burned)), style="dim strike")
    return line


def _violation_line(violation: Violation, status: Status) -> Text:
    place = "dealer" if violation.spot is None else f"spot {violation.spot}"
    if violation.hand is not None:
        place += f" hand {violation.hand}"
    style = "dim red" if status == "review" else "bold red"
    line = Text("  ✗ ", style=style).append(violation.code, style=style)
    line.append(f" ({place}) {violation.detail} ")
    line.append(f"[{violation.clause}, event {violation.seq}]", style="dim")
    return line


def _review_line(review: Review) -> Text:
    line = Text("  ? ", style="bold yellow")
    line.append(review.what, style="yellow")
    if review.candidates:
        line.append(f". {candidates_text(review.candidates)}")
    events = ", ".join(map(str, review.evidence))
    line.append(f" [events {events}]", style="dim")
    return line
