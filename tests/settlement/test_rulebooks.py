"""Rulebooks: seven complete sheets, every value cited; a bad one is refused by name."""

import re

import pytest

from models.errors import InputRefused
from models.money import Odds
from settlement.clauses import BREAKS, CLAUSES
from settlement.rulebooks import KNOBS, differences, overridden, parse, sheet, value
from tests.settlement.table import IDS, RULEBOOKS, rules

SEVEN: dict[str, dict[str, object]] = {
    "kansas-shoe": {"decks": 6, "dealer_soft17": "hit", "resplit_aces": True, "max_hands": 4},
    "pitch-double-deck": {"decks": 2, "split_match": "rank", "double_on": "9-11"},
    "kansas-double-deck": {"decks": 2, "mid_shoe_entry": False, "resplit_aces": False},
    "casino-shoe": {"surrender": "late", "resplit_aces": True, "player_cards": "up"},
    "casino-double-deck": {"surrender": "none", "resplit_aces": False, "player_cards": "down"},
    "casino-single-deck": {"decks": 1, "blackjack_payout": Odds(6, 5), "surrender": "late"},
    "home": {"dealer_first_card": "down", "dealer_soft17": "stand", "insurance": "exactly_half"},
}
"""What sets each sheet apart."""


def text(name: str) -> str:
    return (RULEBOOKS / f"{name}.toml").read_text("utf-8")


@pytest.mark.parametrize("name", SEVEN)
def test_a_sheet_is_what_sets_it_apart(name: str) -> None:
    book = rules(name)
    assert book.id == name
    assert {knob: value(book, knob) for knob in SEVEN[name]} == SEVEN[name]


def test_there_are_seven_sheets() -> None:
    assert set(IDS) == set(SEVEN)


@pytest.mark.parametrize("name", IDS)
def test_every_knob_is_cited(name: str) -> None:
    cited = parse(text(name), name)
    assert list(cited.citations) == list(KNOBS)
    for citation in cited.citations.values():
        stated = bool(citation.document and citation.quote)
        assert stated if citation.source == "stated" else bool(citation.reason)


@pytest.mark.parametrize("knob", KNOBS)
def test_a_missing_knob_is_refused_by_name(knob: str) -> None:
    without = re.sub(rf"\[knobs\.{re.escape(knob)}\]\n(?:(?!\[).+\n)*", "", text("home"))
    assert without != text("home")
    with pytest.raises(InputRefused) as refused:
        parse(without, "site.toml")
    assert (refused.value.source, refused.value.field) == ("site.toml", f"knobs.{knob}")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        pytest.param(("value = 1\n", "value = 9\n"), "knobs.decks", id="out-of-range"),
        pytest.param(('value = "3:2"', 'value = "3-2"'), "knobs.blackjack_payout", id="odds"),
        pytest.param(('value = "stand"', 'value = "sit"'), "knobs.dealer_soft17", id="no-choice"),
        pytest.param(("[knobs.decks]", "[knobs.packs]"), "packs", id="unknown-knob"),
        pytest.param(("[knobs.policy.", "[knobs.policies."), "policies", id="unknown-group"),
        pytest.param(('id = "home"', 'name = "home"'), "name", id="unknown-field"),
        pytest.param(('id = "home"\n', ""), "id", id="no-id"),
        pytest.param(("quote = ", "words = "), "knobs.dealer_first_card", id="bad-citation"),
        pytest.param(
            ('source = "inferred"', 'source = "stated"'), "knobs.decks.document", id="unquoted"
        ),
        pytest.param(("[knobs.decks]", "[knobs.decks"), "(file)", id="no-toml"),
        pytest.param(('id = "home"', 'id = "home"\nextends = "none"'), "extends", id="no-base"),
    ],
)
def test_a_bad_field_is_refused_by_name(change: tuple[str, str], field: str) -> None:
    with pytest.raises(InputRefused) as refused:
        parse(text("home").replace(*change), "site.toml")
    assert refused.value.field == field


@pytest.mark.parametrize(
    ("knob", "was", "becomes"),
    [
        ("resplit_aces", "false", "true"),
        ("signals.surrender", '["hand", "verbal"]', "[]"),
        ("double_on", '"any_two"', '"none"'),
        ("table_max", '"none"', "100"),
        ("multi_spot_min_multiple", "{}", "{ 1 = 2 }"),
    ],
)
def test_a_contradiction_is_refused_by_name(knob: str, was: str, becomes: str) -> None:
    place = f"[knobs.{knob}]\nvalue = "
    assert place + was in text("home")
    with pytest.raises(InputRefused) as refused:
        parse(text("home").replace(place + was, place + becomes), "site.toml")
    named = {"double_on": "double_after_split"}.get(knob, knob)
    assert refused.value.field == f"knobs.{named}"


DERIVED = """
id = "riverside"
extends = "kansas-shoe"

[knobs.table_min]
value = 1500
source = "default"
reason = "The site's own minimum."

[knobs.policy.dealer_overdraw]
value = "keep"
source = "inferred"
reason = "The site's regulator keeps the card."
"""


def test_a_site_derives_its_own_sheet() -> None:
    cited = parse(DERIVED, "riverside.toml", lambda name: parse(text(name), name))
    assert cited.rules.id == "riverside"
    assert differences(rules("kansas-shoe"), cited.rules) == (
        ("table_min", "500", "1500"),
        ("policy.dealer_overdraw", "burn", "keep"),
    )
    assert cited.citations["table_min"].reason == "The site's own minimum."
    assert cited.citations["decks"] == parse(text("kansas-shoe"), "k").citations["decks"]


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("decks=8", 8),
        ("even_money=true", True),
        ("blackjack_payout=6:5", Odds(6, 5)),
        ("max_spots_per_player=none", None),
        ("multi_spot_min_multiple=2:3", {2: 3}),
        ("multi_spot_min_multiple=none", {}),
        ("signals.hit=hand,verbal", ("hand", "verbal")),
        ("signals.hit=none", ()),
        ("split_aces_cards=any", "any"),
        ("split_aces_cards=1", 1),
        ("policy.illegal_option=void", "void"),
    ],
)
def test_a_knob_is_set_from_text(setting: str, expected: object) -> None:
    changed = overridden(rules(), [setting])
    assert value(changed, setting.partition("=")[0]) == expected


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        ("deck=6", "deck"),
        ("decks", "decks"),
        ("decks=zero", "knobs.decks"),
        ("decks=99999999999999999999", "knobs.decks"),
        ("even_money=yes", "knobs.even_money"),
        ("blackjack_payout=0:5", "knobs.blackjack_payout"),
        ("multi_spot_min_multiple=2", "knobs.multi_spot_min_multiple"),
        ("multi_spot_min_multiple=4:2", "knobs.multi_spot_min_multiple"),
        ("table_max=100", "knobs.table_max"),
        ("table_min=-5", "knobs.table_min"),
    ],
)
def test_a_setting_is_refused_by_name(setting: str, field: str) -> None:
    with pytest.raises(InputRefused) as refused:
        overridden(rules(), [setting])
    assert refused.value.field == field


def test_settings_are_checked_together() -> None:
    assert overridden(rules(), ["table_max=600", "table_min=600"]).table_max == 600
    assert overridden(rules(), ["table_min=900", "table_max=900"]).table_min == 900


def test_a_sheet_reads_with_its_citations() -> None:
    lines = "\n".join(sheet(parse(text("home"), "home")))
    assert "dealer_soft17 = stand" in lines
    assert "“He must hit on every total less than 17 or otherwise stand.”" in lines
    assert all(f"{knob} = " in lines for knob in KNOBS)


def test_every_clause_that_a_mistake_breaks_is_in_words_and_names_real_knobs() -> None:
    assert set(BREAKS.values()) <= set(CLAUSES)
    for clause in CLAUSES.values():
        assert clause.says
        assert set(clause.knobs) <= set(KNOBS)
