"""A hit on 21 that a person enters is followed like any other card that was asked for."""

import msgspec
import pytest

from models.layout import TableLayout
from simulation.dealing import is_shoe_game, shuffle_if_due
from simulation.ideal import ideal_observations
from simulation.mistakes.catalogue import scene
from simulation.staging import stage
from simulation.table import Table
from stream.library import layout_text
from tests.settlement.felt_scene import START_NS, rulebook
from tests.settlement.sessions import Session, compare, reconciled, settled


def _session(name: str, cards: str, seed: int) -> Session:
    """Deal a round in which the second player asks for the last of ``cards`` on 21."""
    book = rulebook(name)
    layout = msgspec.toml.decode(layout_text("five-spots"), type=TableLayout)
    table = Table(book, (1, 2, 3, 4), seed)
    table.sit_down()
    shuffle_if_due(table)
    round_ = scene(table, cards={(2, 0): cards})
    round_.until_players()
    round_.pay_blackjacks()
    round_.play_spot(1)
    hand = round_.hands[2][0]
    while len(hand.cards) < len(cards.split()) - 1:
        round_.hit(hand)
    round_.act(hand, "hit", console=True)
    round_.deal(2)
    round_.after_card(hand)
    round_.end()
    staged = stage(tuple(table.steps), layout, seed, shoe=is_shoe_game(book))
    heard = ideal_observations(staged, layout, start_ns=START_NS, table="T", seed=seed)
    return Session(book, layout, staged.facts, heard)


@pytest.mark.parametrize("cards", ["X 5 6 5", "A 6 4 9"], ids=["breaks", "soft"])
@pytest.mark.parametrize("name", ["kansas-shoe", "pitch-double-deck"])
def test_a_hit_on_21_is_followed(name: str, cards: str) -> None:
    for seed in range(2):
        played = _session(name, cards, seed)
        (truth,) = settled(played.rules, played.truth).values()
        assert truth["violations"] == []
        assert len(truth["spots"][1]["hands"][0]["cards"]) == 4
        found = compare(played, reconciled(played, played.heard))
        assert (found.exact, found.asked, found.wrong) == (1, (), ())
