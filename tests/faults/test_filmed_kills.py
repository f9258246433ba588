"""What became of the rounds of a table that was killed is counted by what was played."""

from msgspec import UNSET
from msgspec.structs import replace

from models.judgements import RoundResult, RoundSettled
from server.house.rulebooks import rules_for
from simulation.truth import settled
from tests.faults.filmed_kills import judged
from tests.server.evenings import evening


def played() -> list[RoundResult]:
    events = settled(evening(4), rules_for("kansas-shoe"))
    return [
        replace(event.result, reviews=UNSET) for event in events if isinstance(event, RoundSettled)
    ]


def test_a_round_joined_to_the_one_before_shifts_the_numbers_of_those_after_it() -> None:
    truth = played()
    found = [truth[0], replace(truth[2], round=2, status="review"), replace(truth[3], round=3)]
    outcomes, wrong = judged(truth, found)
    assert outcomes == {"exact": 2, "review": 1, "joined": 1}
    assert wrong == ()


def test_a_round_settled_as_none_was_played_is_wrong() -> None:
    truth = played()
    spot, *others = truth[1].spots
    lower = replace(truth[1], spots=(replace(spot, net=(spot.net or 0) - 500), *others))
    outcomes, wrong = judged(truth, [truth[0], lower, *truth[2:]])
    assert outcomes["wrong"] == 1
    assert len(wrong) == 1
    assert f"round 2: spot {spot.spot} net" in wrong[0]
    outcomes, _ = judged(truth, [truth[1], truth[0], *truth[2:]])
    assert outcomes["wrong"] == 1, "out of their order"
