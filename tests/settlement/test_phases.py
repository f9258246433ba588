"""Each fact of a round leads into the phase that follows, and no other fact does."""

import pytest

from models import events as ev
from models.events import AnyFact
from settlement.phases import WITHOUT_HOLE_CARD, Phase, RoundPhases
from tests.settlement.table import facts

SHORT: dict[Phase, str] = {
    "waiting": "-",
    "wagers": "w",
    "deal": "d",
    "players": "p",
    "dealer": "D",
    "settling": "s",
    "taken_up": "t",
}
OPENED = ev.RoundOpened(round=7)


def _after(told: list[AnyFact], phases: RoundPhases) -> str:
    """Return the phase after each fact."""
    found = ""
    for fact in told:
        phases.follow_event(fact)
        found += SHORT[phases.phase]
    return found


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        # Two spots, a hole card, a hit, the dealer draws, both are paid.
        (
            "bet 1 500; bet 2 500; 1 8S; 2 9S; D 6H; 1 7C; 2 TD; D TC down; 1 2D; show D TC; "
            "D 5S; pay 2 -500; pay 1 -500; close",
            "wwdddddppDDsst",
        ),
        ("bet 1 500; 1 8S; D 6H; 1 7C; stand 1; D TC down; pay 1 5; close", "wdddpppt"),
        # A card beyond the deal, and a hand that was split: the players play.
        ("bet 1 500; 1 8S; 1 8D; 1 7C; D 6H", "wddpp"),
        ("bet 1 500; 1 8S; D 6H; 1 8D; D TC; 1.1 7C", "wdddpp"),
        # Without a wager on record, and without an opening.
        ("1 8S; show D 9C; pay 1 5", "dDs"),
        # Paid before the dealer played: not the settling yet.
        ("bet 1 500; 1 AS; D 6H; 1 KD; D TC down; pay 1 750; show D TC", "wdddppD"),
    ],
)
def test_a_round_goes_through_its_phases(told: str, expected: str) -> None:
    assert _after(facts(told), RoundPhases()) == expected


def test_without_a_hole_card_the_deal_ends_with_the_last_players_second_card() -> None:
    told = facts("bet 1 5; bet 2 5; 1 8S; 2 9S; D 6H; 1 7C; 2 TD; 2 2D; D TC; pay 1 5; pay 2 5")
    assert _after(told, RoundPhases(WITHOUT_HOLE_CARD)) == "wwddddppDss"
    assert _after(told, RoundPhases())[-3:] == "ppp"


def test_the_rules_in_a_journal_say_whether_there_is_a_hole_card() -> None:
    phases = RoundPhases()
    for second, dealt in (("after_players", 1), ("with_deal", 2)):
        rules = {"dealer_second_card": second}
        phases.follow_event(ev.RulesStated(source="config", rulebook="home", rules=rules))
        assert phases.dealer_dealt == dealt


def test_a_round_is_in_play_from_its_opening_until_its_cards_are_taken_up() -> None:
    phases = RoundPhases()
    told = [ev.ShoeStarted(decks=6), OPENED, *facts("bet 1 500; 1 8S; close"), OPENED]
    in_play = []
    for fact in told:
        phases.follow_event(fact)
        in_play.append(phases.in_play)
    assert in_play == [False, True, True, True, False, True]
    assert phases.phase == "wagers"


def test_wagers_before_the_opening_belong_to_the_round() -> None:
    phases = RoundPhases()
    assert _after([*facts("bet 1 500"), OPENED, *facts("1 8S")], phases) == "wwd"
    assert _after([OPENED], phases) == "w"


def test_what_is_no_fact_changes_nothing() -> None:
    phases = RoundPhases()
    assert _after(facts("bet 1 500; 1 8S"), phases) == "wd"
    phases.follow_event(ev.CardGone(source="camera:overhead", track=1, frame=1))
    assert phases.phase == "deal"


def test_a_round_goes_on_from_what_was_kept_of_it() -> None:
    told = facts("bet 1 5; bet 2 5; 1 8S; 2 9S; D 6H; 1 7C; 2 TD; D TC; pay 1 5; close")
    for dealer_dealt in (1, 2):
        whole = _after(told, RoundPhases(dealer_dealt))
        for at in range(len(told) + 1):
            before, later = RoundPhases(dealer_dealt), RoundPhases()
            first = _after(told[:at], before)
            later.go_on(before.kept())
            assert first + _after(told[at:], later) == whole
