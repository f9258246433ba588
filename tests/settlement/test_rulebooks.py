"""Rulebooks: complete sheets, every value cited; a bad one is refused by name."""

import json
import os
import re
from itertools import permutations
from pathlib import Path

import pytest

from models.errors import InputRefused
from models.money import Odds
from settlement.clauses import BREAKS, CLAUSES, PASSAGES, RESTS_ON, SETTLED_BY
from settlement.rulebooks import (
    _ADDED_LATER,
    KNOBS,
    Base,
    differences,
    overridden,
    parse,
    sheet,
    shown,
    value,
)
from tests.settlement.table import IDS, RULEBOOKS, rules

HOUSES = (
    "kansas-shoe",
    "pitch-double-deck",
    "kansas-double-deck",
    "casino-shoe",
    "casino-double-deck",
    "casino-single-deck",
    "home",
)
KNOBS_OF_THE_SEVEN = """
decks 6 2 2 6 2 1 1
shoe dealt_out
dealer_first_card up up up up up up down
dealer_second_card with_deal
player_cards up down up up down down down
dealer_soft17 hit hit hit hit hit hit stand
win_payout 1:1
blackjack_payout 3:2 3:2 3:2 3:2 3:2 6:5 3:2
split_match value rank value value value value rank
max_hands 4 4 4 4 4 4 2
resplit_aces true false false true false true false
split_aces_cards 1
split_ace_21_is_blackjack false
split_ten_21_is_blackjack false
hit_on_21 true
double_on any_two 9-11 any_two any_two any_two any_two any_two
double_soft_as_low_total false
double_for_less true false true true true true false
double_after_split true
double_split_aces false
insurance up_to_half up_to_half up_to_half up_to_half up_to_half up_to_half exactly_half
insurance_payout 2:1
insured_blackjack_vs_dealer_blackjack push
even_money false
coupon even_money
coupon_taken decided
surrender none none none late none late late
surrender_after_split false
dealer_blackjack_collects original_only
max_spots_per_player 3 none none none none none none
multi_spot_min_multiple 2:2,3:5 none none none none none none
mid_shoe_entry true false false true true true true
side_wagers true false true true true true true
side_bets none
player_touch never one_hand never never one_hand one_hand free
signals.hit hand hand hand hand hand hand hand,verbal
signals.stand hand tuck hand hand tuck tuck hand,verbal
signals.split hand hand,verbal hand,verbal hand hand,verbal hand,verbal hand,verbal
signals.double hand hand,verbal hand,verbal hand hand,verbal hand,verbal hand,verbal
signals.surrender none none none verbal none verbal hand,verbal
settle_order right_to_left any right_to_left right_to_left any any any
table_min 500
table_max none
burn_after_shuffle 0
payout_unit 1
payout_rounding down
policy.dealer_overdraw burn
policy.dealer_underdraw pending
policy.extra_player_card burn
policy.insurance_over_half cap
policy.illegal_option as_played
"""
"""Every knob of every sheet, in the order of ``HOUSES``; one value is that of all."""

_ROWS = [row.split() for row in KNOBS_OF_THE_SEVEN.strip().splitlines()]
SEVEN = {
    name: {knob: (values * 7 if len(values) == 1 else values)[at] for knob, *values in _ROWS}
    for at, name in enumerate(HOUSES)
}


def text(name: str) -> str:
    return (RULEBOOKS / f"{name}.toml").read_text("utf-8")


@pytest.mark.parametrize("name", HOUSES)
def test_every_knob_of_a_sheet_has_its_value(name: str) -> None:
    book = rules(name)
    assert book.id == name
    stated = {knob: shown(value(book, knob)) for knob in KNOBS}
    silent = parse(text(name), name).citations
    assert {knob: stated[knob] for knob in SEVEN[name]} == SEVEN[name]
    assert all(silent[knob].source == "default" for knob in KNOBS if knob not in SEVEN[name])


@pytest.mark.parametrize(("one", "other"), list(permutations(HOUSES, 2)))
def test_the_difference_of_two_sheets_is_every_knob_that_differs(one: str, other: str) -> None:
    assert differences(rules(one), rules(other)) == tuple(
        (knob, SEVEN[one][knob], SEVEN[other][knob])
        for knob in KNOBS
        if SEVEN[one].get(knob) != SEVEN[other].get(knob)
    )


def test_there_are_these_sheets() -> None:
    assert set(IDS) == {*HOUSES, "spanish-21"}


@pytest.mark.parametrize("name", IDS)
def test_every_knob_is_cited(name: str) -> None:
    cited = parse(text(name), name)
    assert list(cited.citations) == list(KNOBS)
    assert set(cited.passages) == (set(PASSAGES) if name in HOUSES else set())
    for citation in (*cited.citations.values(), *cited.passages.values()):
        stated = bool(citation.document and citation.quote)
        assert stated if citation.source == "stated" else bool(citation.reason)


@pytest.mark.parametrize("name", HOUSES)
def test_a_document_is_cited_by_its_title_and_never_by_its_files_name(name: str) -> None:
    cited = parse(text(name), name)
    assert cited.file is not None
    assert cited.file.endswith(".txt")
    for citation in (*cited.citations.values(), *cited.passages.values()):
        assert ".txt" not in f"{citation.origin} {citation.says}"
        if citation.source == "stated":
            assert citation.origin.startswith(cited.document)


@pytest.mark.parametrize("name", HOUSES)
def test_every_quote_stands_in_its_document(name: str) -> None:
    folder = os.environ.get("PITWATCH_HOUSE_RULES")
    if folder is None:
        pytest.skip("PITWATCH_HOUSE_RULES names no folder of house-rule documents")
    cited = parse(text(name), name)
    assert cited.file is not None
    document = joined((Path(folder) / cited.file).read_text("utf-8"))
    for citation in (*cited.citations.values(), *cited.passages.values()):
        if citation.source == "stated":
            assert joined(citation.quote or "") in document


def joined(words: str) -> str:
    """Undo the line breaks of a document, and the words that they part."""
    whole = re.sub(r"(\w)-\n(\w)", r"\1\2", words).replace("/\n", "/")
    return " ".join(whole.split())


def test_a_document_with_sections_is_cited_by_them() -> None:
    cited = parse(text("home"), "home")
    stated = [one for one in cited.citations.values() if one.source == "stated"]
    assert all(one.section for one in stated)
    assert cited.citations["surrender"].origin.endswith("Playing the Game, Surrender")


def test_an_unknown_passage_is_refused_by_name() -> None:
    more = '[passages."dealer.sings"]\nsource = "default"\nreason = "None."\n'
    with pytest.raises(InputRefused) as refused:
        parse(f"{text('home')}\n{more}", "site.toml")
    assert refused.value.field == "passages.dealer.sings"


def test_a_derived_sheet_keeps_what_it_inherits_under_its_documents_title() -> None:
    own = """
id = "ours"
extends = "home"
document = "Our sheet"

[knobs.dealer_soft17]
value = "hit"
source = "stated"
quote = "Our dealers hit soft 17."
"""
    cited = parse(own, "ours.toml", lambda name: parse(text(name), name))
    assert cited.citations["dealer_soft17"].origin == "Our sheet"
    assert cited.citations["surrender"].origin.startswith("Blackjack Rule Book")
    assert cited.passages["dealer.stands"].origin.startswith("Blackjack Rule Book")
    assert cited.file is None


def home() -> str:
    """Return a sheet that states every knob."""
    unstated = {
        knob: json.dumps(_ADDED_LATER[knob][0])
        for knob in ADDED_LATER
        if f"[knobs.{knob}]" not in text("home")
    }
    cites = 'source = "default"\nreason = "The sheet says nothing of it."\n'
    more = (f"[knobs.{knob}]\nvalue = {value}\n{cites}" for knob, value in unstated.items())
    return "\n".join((text("home"), *more))


def home_without(knob: str) -> str:
    without = re.sub(rf"\[knobs\.{re.escape(knob)}\]\n(?:(?!\[).+\n)*", "", home())
    assert without != home()
    return without


UNDER_KNOBS = [knob for knob in KNOBS if knob not in ("side_bets", "pays")]
"""Those that a sheet sets under ``[knobs]``."""
ADDED_LATER = [knob for knob in UNDER_KNOBS if knob in _ADDED_LATER]


@pytest.mark.parametrize("knob", ADDED_LATER)
def test_a_sheet_from_before_a_knob_is_read(knob: str) -> None:
    cited = parse(home_without(knob), "site.toml")
    assert cited.rules == parse(text("home"), "home.toml").rules
    assert cited.citations[knob].source == "default"


@pytest.mark.parametrize("knob", [knob for knob in UNDER_KNOBS if knob not in ADDED_LATER])
def test_a_missing_knob_is_refused_by_name(knob: str) -> None:
    without = home_without(knob)
    with pytest.raises(InputRefused) as refused:
        parse(without, "site.toml")
    assert (refused.value.source, refused.value.field) == ("site.toml", f"knobs.{knob}")


@pytest.mark.parametrize("knob", KNOBS)
def test_an_unknown_knob_beside_a_known_one_is_refused_by_name(knob: str) -> None:
    group, _, name = knob.rpartition(".")
    misspelt = f"{group}.{name}s" if group else f"{name}s"
    more = f'[knobs.{misspelt}]\nvalue = 1\nsource = "default"\nreason = "None."\n'
    with pytest.raises(InputRefused) as refused:
        parse(f"{text('home')}\n{more}", "site.toml")
    assert refused.value.field == misspelt


@pytest.mark.parametrize("wrong", ["1.5", '"perhaps"', "-1", "[1]", '["perhaps"]', "{ x = 1 }"])
@pytest.mark.parametrize("knob", UNDER_KNOBS)
def test_a_value_that_a_knob_cannot_have_is_refused_by_name(knob: str, wrong: str) -> None:
    changed = re.sub(rf"(\[knobs\.{re.escape(knob)}\]\nvalue = ).+", rf"\g<1>{wrong}", home())
    with pytest.raises(InputRefused) as refused:
        parse(changed, "site.toml")
    assert refused.value.field == f"knobs.{knob}"


@pytest.mark.parametrize("knob", UNDER_KNOBS)
def test_an_uncited_value_is_refused_by_name(knob: str) -> None:
    cited = rf"(\[knobs\.{re.escape(knob)}\]\nvalue = .+\n)(?:(?!\[).+\n)*"
    with pytest.raises(InputRefused) as refused:
        parse(re.sub(cited, r"\1", home()), "site.toml")
    assert refused.value.field == f"knobs.{knob}"


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
            ('source = "inferred"', 'source = "stated"'), "knobs.decks.quote", id="unquoted"
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


def licence(line: str) -> Base:
    """Return the Kansas sheet, leaving to a site what ``line`` says."""
    return lambda name: parse(text(name).replace("[knobs.decks]", f"{line}\n[knobs.decks]"), name)


def test_a_site_changes_what_its_licence_allows() -> None:
    allowed = licence('licensed = ["table_min", "policy.dealer_overdraw", "table_max"]')
    cited = parse(DERIVED, "riverside.toml", allowed)
    assert cited.rules.table_min == 1500
    assert cited.licensed == ("table_min", "policy.dealer_overdraw", "table_max")


@pytest.mark.parametrize(
    ("licensed", "left"), [('["table_min"]', "table_min"), ("[]", "none")], ids=["one", "nothing"]
)
def test_a_site_changes_nothing_else(licensed: str, left: str) -> None:
    with pytest.raises(InputRefused) as refused:
        parse(DERIVED, "riverside.toml", licence(f"licensed = {licensed}"))
    assert refused.value.field in {"knobs.policy.dealer_overdraw", "knobs.table_min"}
    assert refused.value.expected == f"a knob that the licence leaves to the site: {left}"


def test_a_site_leaves_to_its_own_sites_no_more_than_it_was_left() -> None:
    more = DERIVED.replace("extends", 'licensed = ["decks"]\nextends')
    with pytest.raises(InputRefused) as refused:
        parse(more, "riverside.toml", licence('licensed = ["table_min", "policy.dealer_overdraw"]'))
    assert (refused.value.field, refused.value.found) == ("licensed", "decks")


@pytest.mark.parametrize("licensed", ['"table_min"', "[1]", '["packs"]'])
def test_a_licence_lists_knobs(licensed: str) -> None:
    with pytest.raises(InputRefused) as refused:
        licence(f"licensed = {licensed}")("kansas-shoe")
    assert refused.value.field in {"licensed", "packs"}


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


def test_a_knob_named_in_the_wrong_group_is_pointed_out_where_it_is() -> None:
    with pytest.raises(InputRefused, match=r"did you mean .*signals\.surrender"):
        overridden(rules(), ["wrong.surrender=late"])


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
        assert set(clause.passages) <= set(PASSAGES)
    assert set(RESTS_ON) | set(SETTLED_BY) <= set(BREAKS)
    for names in RESTS_ON.values():
        assert set(names) <= set(KNOBS) | set(PASSAGES)
    assert set(SETTLED_BY.values()) <= set(KNOBS)


# --- odds and units that no house has -----------------------------------------------------

ABSURD = (
    ("blackjack_payout", "0:1", 'odds such as "3:2", from 1:10 to 10:1 in numbers up to 100'),
    ("blackjack_payout", "1000000:1", 'odds such as "3:2", from 1:10 to 10:1 in numbers up to 100'),
    ("insurance_payout", "11:1", 'odds such as "3:2", from 1:10 to 10:1 in numbers up to 100'),
    ("win_payout", "1:11", 'odds such as "3:2", from 1:10 to 10:1 in numbers up to 100'),
    ("win_payout", "101:100", 'odds such as "3:2", from 1:10 to 10:1 in numbers up to 100'),
    ("payout_unit", "0", "a whole number from 1 to 1000000"),
    ("payout_unit", "1000001", "a whole number from 1 to 1000000"),
    ("payout_unit", "1" + "0" * 30, "a whole number from 1 to 1000000"),
)


@pytest.mark.parametrize(("knob", "absurd", "expected"), ABSURD)
def test_absurd_odds_and_units_are_refused(knob: str, absurd: str, expected: str) -> None:
    value_text = absurd if knob == "payout_unit" else f'"{absurd}"'
    changed = re.sub(rf"(\[knobs\.{knob}\]\nvalue = ).+", rf"\g<1>{value_text}", text("home"))
    with pytest.raises(InputRefused) as refused:
        parse(changed, "site.toml")
    shown_value = absurd if knob == "payout_unit" else repr(absurd)
    assert (refused.value.source, refused.value.field) == ("site.toml", f"knobs.{knob}")
    assert (refused.value.expected, refused.value.found) == (expected, shown_value)
    with pytest.raises(InputRefused) as set_by_hand:
        overridden(rules("home"), (f"{knob}={absurd}",))
    assert (set_by_hand.value.source, set_by_hand.value.expected) == ("--set", expected)


@pytest.mark.parametrize("odds", ["3:2", "6:5", "7:5", "1:1", "10:1", "1:10", "100:99"])
def test_the_odds_of_any_house_are_read(odds: str) -> None:
    assert (
        shown(value(overridden(rules("home"), (f"blackjack_payout={odds}",)), "blackjack_payout"))
        == odds
    )


def test_an_unknown_knob_says_where_the_knobs_are_listed() -> None:
    with pytest.raises(InputRefused, match="`pitwatch rulebooks show ID` lists them"):
        overridden(rules(), ["no_such_knob=1"])
