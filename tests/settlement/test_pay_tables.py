"""Side bets from TOML: complete and possible, or refused by the bet and the field."""

import re

import pytest

from models.cards import Card
from models.errors import InputRefused
from models.money import Odds
from models.rulebook import Cited
from settlement.pay_tables import side_bets
from settlement.rulebooks import Base, differences, overridden, parse, rules_hash, shown
from stream.library import side_bet_ids, side_bet_text
from tests.settlement.table import RULEBOOKS, rules

PAIRS = """
[side_bets.pairs]
title = "Pairs"
cards = "player"
adds_up = false
main_push = "stands"
dealer_blackjack = "stands"
dealer_plays = false
max = 2500
most_of_main = "1:2"
pays = [
    { award = "queens of hearts", when = [{ cards = ["QH", "QH"] }], odds = "1000:1" },
    { award = "pair", when = [{ same = ["rank"] }], odds = "11:1" },
]
"""


def shipped(name: str) -> Cited:
    return parse((RULEBOOKS / f"{name}.toml").read_text("utf-8"), name)


def house(bets: str, base: Base = shipped) -> Cited:
    return parse(f'id = "ours"\nextends = "kansas-shoe"\n{bets}', "ours.toml", base, side_bet_text)


def test_a_bet_is_read_with_its_pay_table_and_limits() -> None:
    (bet,) = house(PAIRS).rules.side_bets.values()
    assert bet.document == "Kansas Lottery: rules of blackjack"
    assert [award.odds for award in bet.pays] == [Odds(1000, 1), Odds(11, 1)]
    assert bet.pays[0].when[0].cards == (Card.QH, Card.QH)
    assert (bet.min, bet.max, bet.most_of_main) == (None, 2500, Odds(1, 2))


def test_a_house_takes_a_shipped_bet_under_its_own_name_and_limits() -> None:
    own = '[side_bets.lucky]\nextends = "lucky-ladies-1000-125-19-9-4"\nmin = 100\n'
    cited = house(own)
    assert cited.rules.side_bets["lucky"].min == 100
    assert cited.rules.side_bets["lucky"].pays[-1].award == "any 20"
    assert "Emerald Queen" in cited.citations["side_bets"].origin


def test_a_derived_sheet_adds_to_the_bets_that_it_inherits() -> None:
    more = '[side_bets.over]\nextends = "over-13"\n'
    cited = parse(
        f'id = "site"\nextends = "ours"\n{more}', "site.toml", lambda _: house(PAIRS), side_bet_text
    )
    assert set(cited.rules.side_bets) == {"pairs", "over"}


@pytest.mark.parametrize("name", side_bet_ids())
def test_every_shipped_bet_is_complete_and_cites_its_document(name: str) -> None:
    bet = side_bets({name: {"extends": name}}, "", "test", side_bet_text)[name]
    assert bet.document
    assert bet.address.startswith("http")


def test_no_sheet_of_a_document_declares_a_bet() -> None:
    assert not any(rules(path.stem).side_bets for path in RULEBOOKS.glob("*.toml"))


def test_rules_with_bets_are_written_and_read_back() -> None:
    ours = house(PAIRS).rules
    text = shown(ours.side_bets)
    again = overridden(rules("kansas-shoe"), [f"side_bets={text}"])
    assert again.side_bets == ours.side_bets
    assert rules_hash(again) == rules_hash(ours) != rules_hash(rules("kansas-shoe"))
    assert differences(rules("kansas-shoe"), ours) == (("side_bets", "none", text),)
    assert overridden(again, ["side_bets=none"]).side_bets == {}


BAD = {
    "no such cards": ('cards = "player"', 'cards = "players"', "cards"),
    "a missing answer": ("adds_up = false\n", "", "adds_up"),
    "an unknown field": ("adds_up = false", "adds_up = false\npayz = 1", "payz"),
    "odds that are none": ('"11:1"', '"11"', "pays[1].odds"),
    "odds too steep": ('"1000:1"', '"10001:1"', "pays[0].odds"),
    "an unknown condition": ("same =", "sam =", "pays[1].when[0].sam"),
    "an unknown likeness": ('same = ["rank"]', 'same = ["face"]', "pays[1].when[0].same[0]"),
    "no condition": ('{ same = ["rank"] }', "{}", "pays[1].when[0]"),
    "no conditions": ('when = [{ same = ["rank"] }]', "when = []", "pays[1].when"),
    "three cards of two": ('["QH", "QH"]', '["QH", "QH", "QH"]', "pays[0].when[0].cards"),
    "no card": ('["QH", "QH"]', '["QH", "1H"]', "pays[0].when[0].cards[1]"),
    "a rank alone": ('["QH", "QH"]', '["QH", "Q?"]', "pays[0].when[0].cards"),
    "a bust of the player": ('same = ["rank"]', "busted = true", "pays[1].when[0].busted"),
    "a range upside down": ('same = ["rank"]', "total = [20, 3]", "pays[1].when[0].total"),
    "between without an up card": (
        'same = ["rank"]',
        "between = [1, 1]",
        "pays[1].when[0].between",
    ),
    "a minimum above the maximum": ("max = 2500", "max = 2500\nmin = 2600", "max"),
    "a share that is none": ('"1:2"', '"half"', "most_of_main"),
    "a shipped bet that is none": ("title =", "extends = 3\ntitle =", "extends"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_bet_is_refused_by_its_field(case: str) -> None:
    old, new, field = BAD[case]
    assert old in PAIRS
    with pytest.raises(InputRefused) as refused:
        house(PAIRS.replace(old, new, 1))
    assert (refused.value.source, refused.value.field) == ("ours.toml", f"side_bets.pairs.{field}")
    assert refused.value.expected
    assert refused.value.found


def test_bets_have_tables_of_their_own() -> None:
    with pytest.raises(InputRefused, match=r"knobs.side_bets.*a table \[side_bets.NAME\]"):
        house('[knobs.side_bets]\nvalue = "none"\n')


def test_a_bet_needs_a_plain_name() -> None:
    with pytest.raises(InputRefused, match=re.escape("side_bets.Pairs!")):
        house(PAIRS.replace("side_bets.pairs", 'side_bets."Pairs!"'))


def test_a_house_without_side_wagers_declares_none() -> None:
    base = 'id = "x"\nextends = "pitch-double-deck"\n'
    with pytest.raises(InputRefused) as refused:
        parse(base + PAIRS, "x.toml", shipped, side_bet_text)
    assert refused.value.field == "knobs.side_wagers"


def test_a_licence_that_leaves_no_bets_to_the_site_is_kept() -> None:
    def licensed(_: str) -> Cited:
        return house('licensed = ["table_min"]\n')

    with pytest.raises(InputRefused) as refused:
        parse(f'id = "site"\nextends = "ours"\n{PAIRS}', "site.toml", licensed, side_bet_text)
    assert refused.value.field == "side_bets"
