"""The table of a round's hands in a report: due and paid."""

from models.judgements import RoundResult
from server.house.wording import dealer_text, hand_text, wager_name
from server.readmodel.views import RoundRow
from server.report.document import Block, Table, Text
from server.service.evidence.report_words import Words
from settlement.balance import Balance, BalanceLine, hands_of

_HEADINGS = ("Spot", "Cards", "#Stake", "Outcome", "#Due", "#Paid", "#Difference")


def hands_table(row: RoundRow, words: Words) -> tuple[Block, ...]:
    """Return a round's hands and insurances as rows, with their sums and the house's."""
    result, found = row.result, row.balance
    if result is None or found is None:
        return (Text("The round is not settled yet.", "doubt"),)
    dealer = result.dealer
    rows: list[tuple[str, ...]] = [
        ("dealer", hand_text(dealer.cards, dealer.burned), "", dealer_text(dealer), "", "", "")
    ]
    rows += _wagers(result, found, words)
    rows.append(("all spots", "", words.amount(found.stake), "", *_amounts(found, 1, words)))
    rows.append(("house", "", "", "", *_amounts(found, -1, words)))
    says = Text(f"{words.sentences(found.says)}. A spot's amounts are the player's gain.", "quiet")
    return (Table(_HEADINGS, tuple(rows)), says)


def _wagers(result: RoundResult, found: Balance, words: Words) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for line, spot, hand in hands_of(result, found):
        cards, outcome = "", "no wager" if line.kind == "main" else line.kind
        if hand is not None:
            cards = hand_text(hand.cards, hand.burned)
            outcome = hand.outcome + (f" ({', '.join(hand.clauses)})" if hand.clauses else "")
        stake, amounts = words.amount(line.stake), _amounts(line, 1, words)
        rows.append((wager_name(line, spot), cards, stake, outcome, *amounts))
    return rows


def _amounts(of: BalanceLine | Balance, sign: int, words: Words) -> tuple[str, str, str]:
    due, paid, difference = (
        None if one is None else sign * one for one in (of.due, of.paid, of.difference)
    )
    return (
        words.signed(due),
        "not seen" if paid is None else words.signed(paid),
        "" if difference is None else words.signed(difference),
    )
