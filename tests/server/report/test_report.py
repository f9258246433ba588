import dataclasses
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from models.cards import Card
from models.decode import from_toml
from models.errors import OperatorError
from models.events import CardDealt, CardSighted, PaymentMade, RoundOpened, ShoeCardRead
from models.house import House
from models.judgements import AnyEvent, LedgerPosted, RoundSettled
from models.layout import TableLayout
from models.session import Session
from server.house.citations import Book
from server.house.formatting import Formats
from server.house.rulebooks import cited
from server.report.page import page, write_report
from server.report.story import SessionStory, round_stories
from server.table.comparison import Comparison
from stream import library
from tests.server.samples import CARD_IN_DOUBT, DEALER_OVERDREW

JPEG = b"\xff\xd8\xff\xe0 a piece of a picture"

SESSION = Session(
    table="BJ-07",
    rulebook="kansas-shoe",
    currency="USD",
    table_min=500,
    chips=(500,),
    layout="layout.toml",
    at=1_763_712_000_000_000_000,
    dealing="shoe",
    cameras=(),
)


def sighting(seq: int, track: int, x_mm: float, card: str | None) -> CardSighted:
    return CardSighted(
        seq=seq,
        source="camera:overhead",
        confidence=0.9993,
        track=track,
        change="new",
        face="up",
        card=None if card is None else Card(card),
        x_mm=x_mm,
        y_mm=285.0,
        angle_deg=0.0,
        frame=41,
        crop=(1, 2, 3, 4),
    )


EVENTS: tuple[AnyEvent, ...] = (
    RoundOpened(seq=1, round=4),
    ShoeCardRead(seq=2, source="shoe", card=Card.TS, draw=17, raw="05"),
    sighting(3, 1, -150.0, "TS"),
    CardDealt(seq=4, to="dealer", card=Card.TS, evidence=(2, 3)),
    sighting(5, 1, -90.0, "TS"),
    PaymentMade(seq=6, spot=2, amount=700),
    PaymentMade(seq=7, spot=2, amount=200),
    RoundSettled(seq=8, because=(1, 4, 6, 7), result=DEALER_OVERDREW),
    LedgerPosted(seq=9, round=4, account="tray", amount=-1000, memo="win at spot 2"),
    LedgerPosted(seq=10, round=4, account="spot:2", amount=1000, memo="win at spot 2"),
    RoundSettled(seq=11, because=(), result=CARD_IN_DOUBT),
)


@pytest.fixture
def story() -> SessionStory:
    rounds = round_stories(
        EVENTS, (DEALER_OVERDREW, CARD_IN_DOUBT), {3: JPEG}, (Comparison(4, "exact", ()),)
    )
    layout = from_toml(library.layout_text("five-spots"), TableLayout, "five-spots")
    house = cited("kansas-shoe")
    return SessionStory(
        SESSION, Book(house, house.rules), Formats(), layout, rounds, len(EVENTS), "ab" * 32
    )


def test_a_round_shows_what_was_paid_in_all(story: SessionStory) -> None:
    (line,) = story.rounds[0].balance.lines
    assert (line.due, line.paid, line.difference) == (1000, 900, -100)
    written = page(story)
    assert "Spot 2" not in written
    assert "The house paid 9.00 where 10.00 were due." in written
    assert "The house still owes 1.00 (not counted: 1 round to decide)." in written
    assert "5♣ burned, not counted" in written
    assert "17 stand" in written


def test_a_page_is_written_as_its_house_writes(story: SessionStory) -> None:
    kyiv = Formats(House(zone="Europe/Kyiv", locale="uk-UA", currency="UAH"))
    written = page(dataclasses.replace(story, formats=kyiv))
    assert "21 лист. 2025" in written
    assert "UTC+02:00" in written
    assert "Europe/Kyiv" in written
    assert "+10,00" in written
    assert "+10.00" not in written


def test_a_card_is_drawn_where_it_last_lay(story: SessionStory) -> None:
    ((place, last),) = story.rounds[0].laid
    assert place == "dealer"
    assert last.x_mm == -90.0


def test_the_picture_names_its_sighting_and_its_draw(story: SessionStory) -> None:
    (crop,) = story.rounds[0].crops
    assert crop.jpeg == JPEG
    assert crop.detail == "frame 41 · p 0.9993 · shoe draw 17"


def test_the_page_needs_no_other_file(story: SessionStory) -> None:
    written = page(story)
    sources = re.findall(r"""(?:src|href)=["']([^"']*)""", written)
    assert sources
    assert all(source.startswith(("data:", "#")) for source in sources)
    assert "@import" not in written
    assert "url(" not in written


def test_a_mistake_stands_with_its_clause_and_the_houses_own_words(story: SessionStory) -> None:
    written = page(story)
    assert "dealer_hit_hard_17" in written
    assert "The dealer drew 5♣ on hard 17; he had to stand." in written
    assert "Draw to 16 and stand on 17" in written
    assert "will stand on any total of 17 through 21" in written
    assert "Kansas Lottery: rules of blackjack" in written
    for unrelated in ("This is called a “soft 17”", "A due card was not drawn", ".txt"):
        assert unrelated not in written
    assert "must be burned; the hand before it stands" in written  # how it is settled


def test_what_a_person_must_decide_is_shown_with_its_candidates(story: SessionStory) -> None:
    written = page(story)
    assert "the shoe said 7♥, the camera K♦" in written
    assert "Either 7♥ or K♦." in written


def test_a_mistake_in_a_round_under_review_is_not_denied_by_the_summary(
    story: SessionStory,
) -> None:
    in_review = replace(DEALER_OVERDREW, status="review", reviews=CARD_IN_DOUBT.reviews)
    rounds = round_stories(EVENTS, (in_review,), {}, ())
    written = page(dataclasses.replace(story, rounds=rounds, events=1))
    assert "No mistake found" not in written
    assert "1 suspected mistake to decide." in written
    assert "<b>0</b><span>mistakes</span>" in written
    assert "<b>1</b><span>suspected mistakes</span>" in written
    assert "<b>Did the dealer draw on hard 17?</b>" in written
    assert "1 mistake</span>" not in written


def test_every_text_is_escaped(story: SessionStory) -> None:
    (violation,) = DEALER_OVERDREW.violations
    nasty = replace(violation, detail="<script>alert(1)</script>")
    first = story.rounds[0]
    result = replace(first.result, violations=(nasty,))
    rounds = round_stories(EVENTS, (result,), {}, ())
    written = page(
        SessionStory(
            SESSION, story.book, story.formats, story.layout, rounds, len(EVENTS), story.head
        )
    )
    assert "<script>" not in written
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in written


def test_a_report_that_cannot_be_written_leaves_nothing(
    story: SessionStory, tmp_path: Path
) -> None:
    with pytest.raises(OperatorError, match="cannot be written"):
        write_report(tmp_path / "none" / "report.html", story)
    assert list(tmp_path.iterdir()) == []


def test_a_report_replaces_the_one_before_it_whole(story: SessionStory, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    write_report(path, story)
    assert path.read_text("utf-8") == page(story)
    assert list(tmp_path.iterdir()) == [path]
