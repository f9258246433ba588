"""One round on the page: felt, hands, mistakes, payments, pictures, ledger, facts."""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

import msgspec

from models.cards import Card
from models.events import CardDealt, CardExposed, Fact
from models.judgements import DealerResult, HandResult, Review, RoundResult, SpotResult, Violation
from models.layout import TableLayout
from models.money import Cents
from server.house.citations import Book, Passage, deciding, passages, settled_by, wording
from server.house.formatting import Formats, gain_of
from server.house.wording import (
    burned_text,
    candidates_text,
    counted,
    dealer_text,
    events_text,
    place_in,
    wager_name,
    with_pips,
)
from server.report.felt import CircleNote, LaidCard, Tone, draw_felt
from server.report.markup import amount_cell, card_spans, picture, row, table, text_cell, tone
from server.report.story import Crop, RoundStory
from settlement.balance import Balance, BalanceLine, bottom_line, hands_of
from settlement.questions import question

STATUS_TONES = {"final": "good", "pending": "doubt", "review": "doubt"}
VERDICT_TONES = {"exact": "good", "review": "doubt", "wrong": "bad"}


def round_section(story: RoundStory, layout: TableLayout, book: Book, formats: Formats) -> str:
    """Return a round as one ``<section>``."""
    return "".join(
        (
            f'<section class="round" id="round-{story.result.round}">',
            _top(story, formats),
            '<div class="columns"><div>',
            _felt(story, layout, formats),
            "</div><div>",
            _hands(story, formats),
            "</div></div>",
            _notes(story, book, formats),
            _pictures(story.crops),
            _clauses(story.result, book),
            _ledger(story, formats),
            _facts(story.facts),
            "</section>",
        )
    )


def _top(story: RoundStory, formats: Formats) -> str:
    result = story.result
    badges = [_badge(result.status, STATUS_TONES[result.status])]
    if story.comparison:
        verdict = story.comparison.verdict
        labels = {"exact": "matches the truth", "wrong": "differs from the truth"}
        badges.append(_badge(labels.get(verdict, "for review"), VERDICT_TONES[verdict]))
    if result.mistakes:
        badges.append(_badge(counted(len(result.mistakes), "mistake"), "bad"))
    if result.suspected:
        badges.append(_badge(counted(len(result.suspected), "suspected mistake"), "quiet"))
    house = (
        f'<span class="house {tone(result.net)}">house {escape(gain_of(result, formats))}</span>'
    )
    return f'<div class="top"><h2>Round {result.round}</h2>{"".join(badges)}{house}</div>'


def _badge(text: str, kind: str) -> str:
    return f'<span class="badge {kind}">{escape(text)}</span>'


def _felt(story: RoundStory, layout: TableLayout, formats: Formats) -> str:
    """Draw every card at its last place, later ones on top."""
    turned = _known_later(story.facts)
    cards = (
        LaidCard(
            place,
            one.card or (turned.get(one.seq) if one.seq else None),
            one.face == "up",
            one.x_mm,
            one.y_mm,
            one.angle_deg,
        )
        for place, one in story.laid
    )
    notes = (_circle_note(spot, formats) for spot in story.result.spots)
    return draw_felt(layout, cards, notes, f"The felt in round {story.result.round}")


def _known_later(facts: Iterable[Fact]) -> dict[int, Card]:
    """Return the card that a fact names, by its sightings."""
    return {
        seq: fact.card
        for fact in facts
        if isinstance(fact, CardDealt | CardExposed) and fact.card
        for seq in fact.evidence
    }


def _circle_note(spot: SpotResult, formats: Formats) -> CircleNote:
    stake = sum(hand.stake for hand in spot.hands)
    tones: dict[str, Tone] = {"good": "won", "bad": "lost", "even": "even", "doubt": "open"}
    return CircleNote(
        spot.spot, formats.brief(stake), _brief(spot.net, formats), tones[tone(spot.net)]
    )


def _brief(net: Cents | None, formats: Formats) -> str:
    if net is None:
        return formats.signed(net)
    return ("+" if net > 0 else "") + formats.brief(net)


def _hands(story: RoundStory, formats: Formats) -> str:
    found = story.balance
    rows = [_dealer_row(story.result.dealer)]
    rows += [
        _wager_row(wager_name(line, spot), line, hand, formats)
        for line, spot, hand in hands_of(story.result, found)
    ]
    rows += [
        _sums_row("all spots", formats.amount(found.stake), found, 1, formats),
        _sums_row("house", "", found, -1, formats),
    ]
    says = formats.sentences(found.says)
    headings = ("Spot", "Cards", "#Stake", "Outcome", "#Due", "#Paid", "#Difference")
    return f'{table(headings, rows)}<p class="quiet">{escape(says)}.</p>'


def _dealer_row(dealer: DealerResult) -> str:
    return row(
        "dealer",
        _cards_cell(dealer.cards, dealer.burned),
        "",
        dealer_text(dealer),
        "",
        "",
        "",
        kind="dealer",
    )


def _cards_cell(cards: Sequence[Card | None], burned: Sequence[Card | None]) -> str:
    aside = f'<span class="why">{escape(burned_text(burned))}</span>' if burned else ""
    return f'<td class="cards">{card_spans(cards)}{card_spans(burned, burned=True)}{aside}</td>'


def _wager_row(name: str, line: BalanceLine, hand: HandResult | None, formats: Formats) -> str:
    cards = ""
    outcome = text_cell("no wager" if line.kind == "main" else line.kind, "quiet")
    if hand is not None:
        cards = _cards_cell(hand.cards, hand.burned)
        outcome = f"<td>{escape(hand.outcome)}{_why(hand, formats)}</td>"
    return row(
        name,
        cards,
        text_cell(formats.amount(line.stake), "num"),
        outcome,
        amount_cell(line.due, formats),
        _seen_cell(line.paid, formats),
        _difference_cell(line.difference, formats),
        kind="odd" if line.difference else "",
    )


def _sums_row(name: str, stake: str, found: Balance, sign: int, formats: Formats) -> str:
    due = None if found.due is None else sign * found.due
    paid = None if found.paid is None else sign * found.paid
    off = None if found.difference is None else sign * found.difference
    return row(
        name,
        "",
        text_cell(stake, "num"),
        "",
        amount_cell(due, formats),
        _seen_cell(paid, formats),
        _difference_cell(off, formats),
        kind="sums",
    )


def _why(hand: HandResult, formats: Formats) -> str:
    if hand.possible:
        ways = (
            f"{way.outcome} {formats.signed(way.net)} if {way.condition}" for way in hand.possible
        )
        return f'<span class="why">{escape("; ".join(ways))}</span>'
    return f'<span class="why">{escape(", ".join(hand.clauses))}</span>'


def _seen_cell(amount: Cents | None, formats: Formats) -> str:
    return text_cell("not seen", "num quiet") if amount is None else amount_cell(amount, formats)


def _difference_cell(amount: Cents | None, formats: Formats) -> str:
    return text_cell("") if amount is None else amount_cell(amount, formats)


def _notes(story: RoundStory, book: Book, formats: Formats) -> str:
    notes = (*map(_review, story.result.reviews or ()), *_mistakes(story, book, formats))
    return f'<div class="notes">{"".join(notes)}</div>' if notes else ""


def _mistakes(story: RoundStory, book: Book, formats: Formats) -> Iterator[str]:
    result = story.result
    for violation in result.violations:
        place = place_in(result, violation.spot, violation.hand)
        due = deciding(result, violation.clause, violation.spot, violation.hand, violation.detail)
        kind = "note unsure" if violation.suspected else "note"
        yield (
            f'<div class="{kind}">{_asked(violation, formats) if violation.suspected else ""}'
            f'<span class="code">{escape(violation.code)}</span> '
            f'<span class="quiet">{place} · event {violation.seq}</span>'
            f"<p>{escape(formats.sentence(violation.detail))}</p>"
            f"{_bottom_line(story, violation, formats)}"
            f"{_verdict(violation, book)}{''.join(_clause(one, book) for one in due)}</div>"
        )


def _asked(one: Violation, formats: Formats) -> str:
    asked = formats.question(question(one.code, one.spot, one.hand, one.detail))
    return f"<p><b>{escape(asked)}</b> <span class='quiet'>suspected mistake</span></p>"


def _bottom_line(story: RoundStory, violation: Violation, formats: Formats) -> str:
    said = bottom_line(story.balance, violation)
    return f'<p class="strong">{escape(formats.sentences(said))}.</p>' if said else ""


def _verdict(violation: Violation, book: Book) -> str:
    """Quote the rule that a mistake breaks, and the rule of its settlement."""
    found = passages(book, violation.clause, violation.code, violation.detail)
    after = settled_by(book, violation.code)
    cites = "".join(map(_passage, found))
    settled = "" if after is None else f"<p>How it is settled: {_with_origin(after)}</p>"
    return _quoted(violation.clause, cites + settled)


def _clause(clause: str, book: Book) -> str:
    return _quoted(clause, "".join(map(_passage, passages(book, clause))))


def _quoted(clause: str, inside: str) -> str:
    return (
        f'<blockquote><span class="mono">{escape(clause)}</span> '
        f"{escape(wording(clause))}{inside}</blockquote>"
    )


def _passage(one: Passage) -> str:
    return f"<p>{_with_origin(one)}</p>"


def _with_origin(one: Passage) -> str:
    return f"{escape(one.says)} <span class='quiet'>{escape(one.origin)}</span>"


def _clauses(result: RoundResult, book: Book) -> str:
    """List every deciding clause of a hand, with its sources."""
    named = (clause for spot in result.spots for hand in spot.hands for clause in hand.clauses)
    listed = "".join(_clause(clause, book) for clause in dict.fromkeys(named))
    heading = "<summary>The clauses that decided the hands, with their sources</summary>"
    return f'<details class="note-list">{heading}{listed}</details>' if listed else ""


def _review(review: Review) -> str:
    either = f"<p>{escape(candidates_text(review.candidates))}</p>" if review.candidates else ""
    events = events_text(review.evidence)
    return (
        '<div class="note review"><span class="code">To be decided</span> '
        f'<span class="quiet">{events}</span><p>{escape(with_pips(review.what))}</p>{either}</div>'
    )


def _pictures(crops: Iterable[Crop]) -> str:
    figures = "".join(
        f"<figure>{picture(crop.jpeg, crop.caption)}"
        f"<figcaption>{card_spans([crop.card])} {escape(crop.caption)}"
        f'<span class="quiet">{escape(crop.detail)}</span></figcaption></figure>'
        for crop in crops
    )
    return f'<h3>What the camera saw</h3><div class="crops">{figures}</div>' if figures else ""


def _ledger(story: RoundStory, formats: Formats) -> str:
    rows = [
        row(line.account, line.memo, amount_cell(line.amount, formats), kind="")
        for line in story.ledger
    ]
    if not rows:
        return ""
    heading = f"<summary>Ledger: {counted(len(rows), 'line')}, summing to zero</summary>"
    return f"<details>{heading}{table(('Account', 'For', '#Amount'), rows)}</details>"


def _facts(facts: Iterable[Fact]) -> str:
    rows = [_fact_row(fact) for fact in facts]
    heading = f"<summary>The facts: {counted(len(rows), 'event')}</summary>"
    listing = table(("#Event", "Fact", "Says", "Rests on"), rows)
    return f"<details>{heading}{listing}</details>" if rows else ""


def _fact_row(fact: Fact) -> str:
    plain = msgspec.to_builtins(fact)
    kind = plain.pop("type")
    figures = {
        name: value
        for name, value in plain.items()
        if name not in ("seq", "at", "table", "evidence")
    }
    return row(
        text_cell(str(fact.seq), "num mono"),
        text_cell(kind, "mono"),
        ", ".join(f"{name} {value}" for name, value in figures.items()),
        text_cell(", ".join(map(str, fact.evidence)), "mono quiet"),
    )
