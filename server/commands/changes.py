"""Changes under other rules, for a pit manager at a terminal."""

from collections import Counter
from collections.abc import Iterator
from typing import TextIO

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from models.judgements import Violation
from models.money import Cents
from models.rulebook import Rulebook
from server.archive.resettling import Changes, Fate, Resettled, SpotChange
from server.commands.tables import OUTCOME_STYLE, Page, counted_mistake, plain_table
from server.house.formatting import Formats, gain_of
from server.house.rules_in_force import name_of
from server.house.wording import cards_text, counted
from server.process.terminal import screen
from settlement.rulebooks import differences


class ChangePages:
    """Prints the changed rounds of one file, with its name where there are several."""

    def __init__(self, page: Page, text: TextIO, name: str | None) -> None:
        self._console, self._name, self._formats = page.console(text), name, page.formats

    def show(self, one: Resettled) -> None:
        """Print one round."""
        if self._name is not None:
            self._console.rule(self._name)
            self._name = None
        self._console.print(change_view(one, self._formats))
        self._console.print()


def change_view(one: Resettled, formats: Formats) -> RenderableType:
    """Lay out one changed round: each hand then and now, and its payment."""
    return Group(
        _heading(one, formats),
        *([_fates(one, formats)] if one.fates_changed() else ()),
        *(_mistake("+", found, formats, "bold red") for found in one.appeared()),
        *(_mistake("-", found, formats, "green") for found in one.gone()),
    )


def _heading(one: Resettled, formats: Formats) -> Text:
    line = Text(f"{one.table}  " if one.table else "", style="bold")
    line.append(f"Round {one.round}")
    now = None if one.now is None else one.now.result
    if one.then is None or now is None:
        missing = (
            "was not settled before" if one.then is None else "its facts are not in the record"
        )
        return line.append(f"   {missing}", style="yellow")
    line.append(f"   dealer {cards_text(now.dealer.cards)}", style="dim")
    house = _arrow(gain_of(one.then, formats), gain_of(now, formats))
    return line.append(f"   house {house}")


def _arrow(then: str, now: str) -> str:
    return now if then == now else f"{then} → {now}"


def _fates(one: Resettled, formats: Formats) -> Table:
    table = plain_table("spot", "hand", "before", "now", "paid", "should be", "decided by")
    paid = {} if one.now is None else one.now.paid()
    misplaced, clauses = one.misplaced(), one.clauses_of_change()
    for account, (then, now) in one.fates_changed().items():
        spot, hand, kind = account
        table.add_row(
            str(spot),
            str(hand + 1) if kind == "main" else kind,
            _fate(then, formats),
            _fate(now, formats),
            Text(formats.signed(paid[account]) if account in paid else ""),
            _misplaced(now, misplaced.get(account, 0), formats),
            Text(", ".join(clauses[account]), style="dim"),
        )
    return table


def _fate(fate: Fate | None, formats: Formats) -> Text:
    if fate is None:
        return Text("none", style="dim")
    outcome, net = fate
    return Text(f"{outcome} {formats.signed(net)}", style=OUTCOME_STYLE.get(outcome, "bold yellow"))


def _misplaced(now: Fate | None, difference: Cents, formats: Formats) -> Text:
    if now is not None and now[1] is None:
        return Text("a person decides", style="yellow")
    if not difference:
        return Text("")
    too = "too much" if difference > 0 else "too little"
    return Text(f"paid {formats.amount(abs(difference))} {too}", style="red")


def _mistake(sign: str, found: Violation, formats: Formats, style: str) -> Text:
    place = "dealer" if found.spot is None else f"spot {found.spot}"
    line = Text(f"  {sign} ", style="bold yellow" if found.suspected else style)
    line.append(f"suspected mistake: {found.code}" if found.suspected else found.code)
    line.append(f" ({place}) {formats.sentence(found.detail)} ", style="not bold default")
    return line.append(f"[{found.clause}, event {found.seq}]", style="dim not bold default")


# --- totals -------------------------------------------------------------------------------


def print_totals(totals: Changes, rules: Rulebook, was: Rulebook | None, formats: Formats) -> None:
    """Print the total changes."""
    screen().print(totals_view(totals, rules, was, formats))


def totals_view(
    totals: Changes, rules: Rulebook, was: Rulebook | None, formats: Formats
) -> RenderableType:
    """Lay out the totals: rounds, the house, what is open, each spot, mistakes."""
    lines = Table(show_edge=False, pad_edge=False, box=None, show_header=False)
    lines.add_column(style="dim")
    lines.add_column(overflow="fold")
    for name, text in _lines(totals, rules, was, formats):
        lines.add_row(name, text)
    return Group(
        lines,
        *(
            [_spots(totals, formats)]
            if any(spot != SpotChange() for spot in totals.spots.values())
            else ()
        ),
        *_codes("appear", totals.appeared),
        *_codes("go", totals.gone),
    )


def _lines(
    totals: Changes, rules: Rulebook, was: Rulebook | None, formats: Formats
) -> Iterator[tuple[str, Text]]:
    share = f" ({totals.changed / totals.rounds:.1%})" if totals.rounds else ""
    then = ", ".join(totals.rules_then) or "not settled before"
    yield "rules", Text(f"{then} → {name_of(rules).text}")
    for knob, before, after in () if was is None else differences(was, rules):
        yield "", Text(f"{knob}: {before} → {after}")
    changed = f"{counted(totals.rounds, 'round')}, {totals.changed:,} change{share}"
    yield "settled again", Text(changed, style="bold yellow" if totals.changed else "bold green")
    difference = formats.signed(totals.house_now - totals.house_then)
    then, now = formats.signed(totals.house_then), formats.signed(totals.house_now)
    house = f"before {then}   now {now}"
    yield (
        "house",
        Text(f"{house}   difference {difference}   of rounds settled both times"),
    )
    if totals.opened:
        stakes = formats.amount(sum(spot.open_stakes for spot in totals.spots.values()))
        gained = formats.signed(-sum(spot.open_then for spot in totals.spots.values()))
        text = f"{counted(totals.opened, 'round')} for a person to decide: "
        text += f"{stakes} staked, settled before for house {gained}"
        yield "open now", Text(text, style="yellow")
    if totals.closed:
        yield "settled now", Text(f"{counted(totals.closed, 'round')} that were open before")
    if totals.in_review:
        text = f"{counted(totals.in_review, 'round')}: in no total, until a person decides"
        yield "under review", Text(text, style="yellow")
    if totals.unsettled_then:
        yield "not settled before", Text(counted(totals.unsettled_then, "round"), style="yellow")
    if totals.without_facts:
        yield "facts missing", Text(counted(totals.without_facts, "round"), style="yellow")


def _spots(totals: Changes, formats: Formats) -> Table:
    table = plain_table(
        "table",
        "spot",
        "before",
        "now",
        "paid too much",
        "too little",
        "open stakes",
        "open before",
    )
    for (name, number), spot in sorted(totals.spots.items(), key=by_place):
        if spot != SpotChange():
            table.add_row(name or "", str(number), *_amounts(spot, formats))
    return table


def _amounts(spot: SpotChange, formats: Formats) -> Iterator[str]:
    settled = spot.then or spot.now
    yield formats.signed(spot.then) if settled else ""
    yield formats.signed(spot.now) if settled else ""
    for amount in (spot.overpaid, spot.underpaid, spot.open_stakes):
        yield formats.amount(amount) if amount else ""
    yield formats.signed(spot.open_then) if spot.open_stakes else ""


def _codes(verb: str, codes: Counter[str]) -> Iterator[Text]:
    if codes:
        yield Text(f"{counted(codes.total(), 'mistake')} {verb}", style="bold")
        yield from (counted_mistake(*one) for one in codes.most_common())


def by_place(item: tuple[tuple[str | None, int], SpotChange]) -> tuple[str, int]:
    """Sort spots by table and number."""
    (table, spot), _ = item
    return table or "", spot
