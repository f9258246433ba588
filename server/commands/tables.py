"""Rounds for a pit supervisor at a terminal."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from models.cards import Card
from models.judgements import HandResult, OddCents, Review, RoundResult, SpotResult, Violation
from server.archive.settling import Settled
from server.archive.tally import Tally
from server.house.formatting import Formats, gain_of
from server.house.rules_in_force import RulesName, name_in
from server.house.wording import (
    burned_text,
    candidates_text,
    card_text,
    counted,
    dealer_text,
    events_text,
    is_red,
    place_in,
    settled_net,
    with_pips,
)
from server.process.terminal import screen
from server.table.comparison import Comparison
from settlement.balance import Balance, bottom_line, totals
from settlement.clauses import BREAKS, CLAUSES
from settlement.questions import question, question_of_code

STATUS_STYLE = {"final": "bold green", "pending": "bold yellow", "review": "bold yellow"}
OUTCOME_STYLE = {
    "win": "green",
    "blackjack": "bold green",
    "push": "cyan",
    "void": "cyan",
    "lose": "red",
    "bust": "red",
    "surrender": "magenta",
}
VERDICT_STYLE = {"exact": "bold green", "review": "bold yellow", "wrong": "bold red"}


@dataclass(frozen=True, slots=True)
class Page:
    """The output page: its width, and whether it has colour."""

    width: int
    terminal: bool
    formats: Formats = field(default_factory=Formats)
    """The house's format of amounts."""

    @classmethod
    def of_stdout(cls, formats: Formats) -> "Page":
        """Return the page of stdout."""
        console = screen()
        return cls(console.width, console.is_terminal, formats)

    def console(self, text: TextIO) -> Console:
        """Return a console with this page's layout for any stream."""
        return Console(file=text, width=self.width, force_terminal=self.terminal, highlight=False)


class RoundPages:
    """Prints the rounds of one file, with its name where there are several."""

    def __init__(self, page: Page, text: TextIO, name: str | None) -> None:
        self._console, self._name, self._formats = page.console(text), name, page.formats

    def show(self, settled: Settled) -> None:
        """Print one round."""
        if self._name is not None:
            self._console.rule(self._name)
            self._name = None
        found = settled.result
        balance = settled.balance() if found.violations else None
        self._console.print(round_view(found, self._formats, settled.table, balance))
        self._console.print()


def print_totals(totals: Tally, files: int, rules: RulesName, formats: Formats) -> None:
    """Print the totals of many rounds under ``rules``."""
    screen().print(totals_view(totals, files, rules, formats))


def print_rounds(
    console: Console, rounds: Sequence[RoundResult], balances: Sequence[Balance], formats: Formats
) -> None:
    """Print every round and the totals below; ``balances`` has one for each round."""
    for result, balance in zip(rounds, balances, strict=True):
        console.print(round_view(result, formats, balance=balance))
        console.print()
    console.print(totals_line(rounds, formats))
    statuses = [result.status for result in rounds]
    still_open = formats.still_open(totals(zip(statuses, balances, strict=True)))
    console.print(Text(f"balance: {still_open}"))


def round_view(
    result: RoundResult,
    formats: Formats,
    table: str | None = None,
    balance: Balance | None = None,
) -> RenderableType:
    """Lay out one round: heading, hands, then mistakes and open items.

    With ``balance`` a mistake about money is followed by what it came to.
    """
    reviews = result.reviews or ()
    return Group(
        _heading(result, table, formats),
        _hands_table(result, formats),
        *_odd_lines(result, formats),
        *_unknown_lines(result, formats),
        *(_review_line(review) for review in reviews),
        *(
            line
            for one in result.violations
            for line in (
                _mistake_line(one, result, formats),
                *_bottom_lines(one, balance, formats),
            )
        ),
    )


def totals_line(rounds: Sequence[RoundResult], formats: Formats) -> Text:
    """Sum up: rounds, the house's gain, mistakes, suspected mistakes, rounds still open."""
    mistakes = sum(len(result.mistakes) for result in rounds)
    suspected = sum(len(result.suspected) for result in rounds)
    unsettled = sum(result.status != "final" for result in rounds)
    net = settled_net(rounds)
    line = Text(counted(len(rounds), "round"), style="bold")
    line.append(f"   house {formats.signed(net)}", style="green" if net >= 0 else "red")
    if unsettled:
        line.append(f" over {counted(len(rounds) - unsettled, 'settled round')}")
    line.append(f"   {counted(mistakes, 'mistake')}", style="red" if mistakes else "green")
    if suspected:
        line.append(f"   {counted(suspected, 'suspected mistake')} to decide", style="yellow")
    line.append(f"   {unsettled} not final", style="yellow" if unsettled else "green")
    return line


def totals_view(totals: Tally, files: int, rules: RulesName, formats: Formats) -> RenderableType:
    """Lay out totals: wagers, winnings and hold; open results; mistakes."""
    lines = Table(show_edge=False, pad_edge=False, box=None, show_header=False)
    lines.add_column(style="dim")
    lines.add_column(overflow="fold")
    lines.add_row("rules", rules.text)
    for name, text in _totals(totals, files, formats):
        lines.add_row(name, text)
    stated = (counted_mistake(*one) for one in totals.violations.most_common())
    return Group(lines, *stated, *_suspected(totals))


def _suspected(totals: Tally) -> Iterator[Text]:
    if totals.suspected:
        many = counted(totals.suspected.total(), "suspected mistake")
        yield Text(f"{many} in rounds under review, for a person to decide", style="bold yellow")
        yield from (_counted_question(*one) for one in totals.suspected.most_common())


def _totals(totals: Tally, files: int, formats: Formats) -> Iterator[tuple[str, Text]]:
    played = [counted(totals.rounds, "round"), counted(totals.hands, "hand")]
    if files > 1:
        played.append(counted(files, "file"))
    yield "played", Text("   ".join(played), style="bold")
    yield "money", _money(totals, formats)
    if totals.not_final:
        yield "open", Text(_open(totals, formats), style="yellow")
    wrongly = totals.overpaid or totals.underpaid
    yield "balance", Text(formats.still_open(totals.still_open), style="red" if wrongly else "")
    if totals.rounded:
        yield "odd cents", Text(_odd_cents(totals, formats))
    many = totals.violations.total()
    yield "went wrong", Text(counted(many, "mistake"), style="bold red" if many else "bold green")


def _money(totals: Tally, formats: Formats) -> Text:
    wagered, paid, taken = map(formats.amount, (totals.wagered, totals.paid, totals.taken))
    line = Text(f"wagered {wagered}   paid {paid}   taken {taken}   ")
    line.append(
        f"house {formats.signed(totals.house)}", style="green" if totals.house >= 0 else "red"
    )
    if totals.hold is not None:
        line.append(f"   hold {totals.hold:.2%}")
    if totals.not_final:
        line.append("   settled hands only", style="yellow")
    return line


def _open(totals: Tally, formats: Formats) -> str:
    rounds, stakes = counted(totals.not_final, "round"), formats.amount(totals.open_stakes)
    waiting = f"{counted(totals.pending, 'hand')} waiting for a card that is due"
    unknown = f"{totals.unknown:,} depending on an unknown card"
    held = f", {counted(totals.in_review, 'round')} under review" if totals.in_review else ""
    return f"{rounds} not final: {waiting}, {unknown}{held}; {stakes} staked on them"


def _odd_cents(totals: Tally, formats: Formats) -> str:
    exact = formats.exactly(abs(totals.odd_cents))
    kept = f"{exact} {'kept back' if totals.odd_cents >= 0 else 'added'}"
    return f"{counted(totals.rounded, 'payout')} in whole chips, {kept} in all"


def counted_mistake(code: str, many: int) -> Text:
    """Write a code's count with the clause that it breaks."""
    return _counted_code(code, many, CLAUSES[BREAKS[code]].says, "red")


def _counted_question(code: str, many: int) -> Text:
    return _counted_code(code, many, question_of_code(code), "yellow")


def _counted_code(code: str, many: int, says: str, colour: str) -> Text:
    line = Text(f"  {many:>6,}  ", style=f"bold {colour}").append(f"{code:<32}", style=colour)
    return line.append(says, style="dim")


def truth_line(comparison: Comparison) -> Text:
    """Describe one round's comparison with the truth."""
    line = Text(f"round {comparison.round}: ")
    line.append(comparison.verdict, style=VERDICT_STYLE[comparison.verdict])
    for difference in comparison.differences:
        line.append(f"\n  {difference}", style="dim")
    return line


def _heading(result: RoundResult, table: str | None, formats: Formats) -> Text:
    line = Text(f"{table}  " if table else "", style="bold")
    line.append(f"Round {result.round}")
    line.append(f"   {name_in(result).text}   ", style="dim")
    line.append(result.status, style=STATUS_STYLE[result.status])
    line.append(f"   house {gain_of(result, formats)}")
    return line


def plain_table(*columns: str) -> Table:
    """Return a table without lines, amounts aligned right."""
    table = Table(show_edge=False, pad_edge=False, box=None, header_style="dim")
    for column in columns:
        words = column in ("table", "spot", "hand", "cards", "outcome", "decided by")
        table.add_column(column, justify="left" if words else "right", overflow="fold")
    return table


def _hands_table(result: RoundResult, formats: Formats) -> Table:
    table = plain_table("spot", "hand", "cards", "stake", "outcome", "net", "decided by")
    for column, width in zip(table.columns, (6, 9, 24, 10, 12, 10, 0), strict=True):
        column.min_width = width
    table.columns[-1].style = "dim"
    _add_dealer(table, result)
    for spot in result.spots:
        _add_spot(table, spot, formats)
    return table


def _add_dealer(table: Table, result: RoundResult) -> None:
    dealer = result.dealer
    outcome = Text(dealer_text(dealer), style="bold")
    table.add_row("dealer", "", _cards(dealer.cards, dealer.burned), "", outcome, "", "")


def _add_spot(table: Table, spot: SpotResult, formats: Formats) -> None:
    for hand in spot.hands:
        table.add_row(str(spot.spot), str(hand.hand + 1), *_hand_cells(hand, formats))
    if spot.insurance:
        stake = formats.amount(spot.insurance.stake)
        net = formats.signed(spot.insurance.net)
        table.add_row(str(spot.spot), "", Text("insurance", style="dim"), stake, "", net, "")
    for what, chips, gain, note in _beside(spot, formats):
        cells = formats.amount(chips), "", formats.signed(gain), note
        table.add_row(str(spot.spot), "", Text(what, style="dim"), *cells)


def _beside(spot: SpotResult, formats: Formats) -> Iterator[tuple[str, int, int | None, str]]:
    """Yield what lies beside a spot's hands, or is a part of their sums: stake, gain, a note."""
    for one in spot.bettors or ():
        stake = sum(wager.stake for wager in one.wagers if wager.kind != "coupon")
        yield f"of it {one.bettor or 'the player'}", stake, one.net, ""
    for coupon in spot.coupons or ():
        yield "coupon", coupon.stake, coupon.net, "taken" if coupon.taken else "stays"
    for side in spot.side or ():
        paid = "" if side.paid is None else f", paid {formats.signed(side.paid)}"
        note = f"{side.award or side.outcome}{paid}"
        yield f"side bet {side.bet or ''}".strip(), side.stake, side.net, note
    if spot.toke:
        yield "toke", spot.toke.stake, spot.toke.net, "in no total"


def _hand_cells(hand: HandResult, formats: Formats) -> tuple[RenderableType, ...]:
    style = _outcome_style(hand.outcome)
    clauses = ", ".join(hand.clauses)
    if hand.outcome == "pending":
        clauses = f"a card is due: {clauses}"
    elif hand.outcome == "unknown":
        clauses = "unknown card, see below"
    return (
        _cards(hand.cards, hand.burned),
        formats.amount(hand.stake),
        Text(hand.outcome, style=style),
        Text(formats.signed(hand.net), style=style),
        Text(clauses),
    )


def _outcome_style(outcome: str) -> str:
    return OUTCOME_STYLE.get(outcome, "bold yellow")


def _cards(cards: Sequence[Card | None], burned: Sequence[Card | None]) -> Text:
    line = Text()
    for card in cards:
        line.append(card_text(card) + " ", style="bold red" if is_red(card) else "bold")
    if burned:
        line.rstrip()
        line.append("; " * bool(cards) + burned_text(burned), style="dim")
    return line


def _odd_lines(result: RoundResult, formats: Formats) -> Iterator[Text]:
    """Describe each payout that chips could not make: the exact odds and the payment."""
    for spot in result.spots:
        paid = [(place_in(result, spot.spot, hand.hand), hand.odd_cents) for hand in spot.hands]
        if spot.insurance is not None:
            paid.append((f"spot {spot.spot} insurance", spot.insurance.odd_cents))
        for place, odd in paid:
            if isinstance(odd, OddCents):
                gives, paid_out = formats.exactly(Fraction(*odd.exact)), formats.amount(odd.paid)
                text = f"the odds give {gives}, {paid_out} is paid in whole chips"
                yield Text(f"  ¢ {place}: {text}", style="cyan")


def _unknown_lines(result: RoundResult, formats: Formats) -> Iterator[Text]:
    """Describe each hand with an unknown card: its possible results, and what would decide."""
    for spot in result.spots:
        for hand in spot.hands:
            for way in hand.possible or ():
                line = Text("  ? ", style="bold yellow")
                line.append(f"{place_in(result, spot.spot, hand.hand)}: ", style="yellow")
                line.append(
                    f"{way.outcome} {formats.signed(way.net)}", style=_outcome_style(way.outcome)
                )
                yield line.append(f" if {way.condition}", style="not bold default")


def _mistake_line(one: Violation, result: RoundResult, formats: Formats) -> Text:
    style = "bold yellow" if one.suspected else "bold red"
    line = Text("  ? suspected mistake: " if one.suspected else "  ✗ ", style=style)
    if one.suspected:
        asked = question(one.code, one.spot, one.hand, one.detail)
        line.append(f"{formats.question(asked)} ", style="yellow")
    line.append(one.code, style=style)
    line.append(f" ({place_in(result, one.spot, one.hand)}) {formats.sentence(one.detail)} ")
    return line.append(f"[{one.clause}, event {one.seq}]", style="dim")


def _bottom_lines(
    violation: Violation, balance: Balance | None, formats: Formats
) -> Iterator[Text]:
    said = () if balance is None else bottom_line(balance, violation)
    if said:
        yield Text(f"    {formats.sentences(said)}", style="bold")


def _review_line(review: Review) -> Text:
    line = Text("  ? ", style="bold yellow")
    line.append(with_pips(review.what), style="yellow")
    if review.candidates:
        stop = "" if review.what.endswith(("?", ".")) else "."
        line.append(f"{stop} {candidates_text(review.candidates)}")
    if review.evidence:
        line.append(f" [{events_text(review.evidence)}]", style="dim")
    return line
