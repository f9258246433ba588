"""A round's violations are certain, or suspected while a person must still decide an item."""

import msgspec
from msgspec.structs import replace

from models.judgements import RoundResult
from tests.server.samples import DEALER_OVERDREW


def counts(result: RoundResult) -> tuple[int, int]:
    return len(result.mistakes), len(result.suspected)


def test_a_violation_is_suspected_as_long_as_its_round_is_under_review() -> None:
    held = replace(DEALER_OVERDREW, status="review")
    assert [counts(one) for one in (DEALER_OVERDREW, held)] == [(1, 0), (0, 1)]
    assert counts(replace(held, status="final")) == (1, 0)
    assert counts(replace(DEALER_OVERDREW, status="pending")) == (1, 0)


def test_the_flag_of_an_older_journal_follows_from_the_status() -> None:
    held = msgspec.to_builtins(replace(DEALER_OVERDREW, status="review"))
    assert [one.pop("suspected") for one in held["violations"]] == [True]
    read = msgspec.convert(held, RoundResult)
    assert counts(read) == (0, 1)
    assert b'"suspected":true' in msgspec.json.encode(read)
