"""What a mistake says of amounts is written plain and read back exactly, by every sentence."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from settlement.sentences import Sentence, words_and_amounts
from tests.settlement.recorded import rounds

PLACES: dict[str, st.SearchStrategy[Any]] = {
    "number": st.integers(0, 99),
    "who": st.from_regex(r"(insurance of )?[A-Z]{3}|toke|side bet pairs", fullmatch=True),
    "wager": st.from_regex(r"(the insurance of )?spot \d(, hand \d)?", fullmatch=True),
}
AMOUNTS = st.integers(min_value=-(10**14), max_value=10**14)


def places(sentence: Sentence) -> list[str]:
    return re.findall(r"\{(amount|number|wager|who)\}", sentence.value)


@given(st.data(), st.sampled_from(Sentence))
def test_every_sentence_is_read_back_as_it_was_said(
    data: st.DataObject, sentence: Sentence
) -> None:
    values: list[Any] = [
        data.draw(AMOUNTS if place == "amount" else PLACES[place]) for place in places(sentence)
    ]
    found = words_and_amounts(sentence.write(*values))
    amounts = [
        value for value, place in zip(values, places(sentence), strict=True) if place == "amount"
    ]
    assert [one for one in found if isinstance(one, int)] == amounts
    wagers = [
        value for value, place in zip(values, places(sentence), strict=True) if place == "wager"
    ]
    assert all(wager in found for wager in wagers)


def test_a_sentence_takes_as_many_values_as_it_has_places() -> None:
    with pytest.raises(ValueError, match="missing"):
        Sentence.BELOW_MINIMUM.write(500)
    with pytest.raises(ValueError, match="fewer places"):
        Sentence.BELOW_MINIMUM.write(500, 1500, 0)


def test_what_no_sentence_wrote_stays_as_it_is() -> None:
    for detail in ("", "it drew to 17", "due 15.00, paid 1500, difference 10.00"):
        assert words_and_amounts(detail) == (detail,)


def test_the_engine_names_no_amount_outside_of_its_sentences() -> None:
    details = {
        violation.detail
        for one in rounds()
        for result in one.results
        for violation in result.violations
    }
    named = [detail for detail in details if re.search(r"\d\.\d", detail)]
    assert len(named) > 20
    for detail in named:
        parts = words_and_amounts(detail)
        assert any(isinstance(one, int) for one in parts), detail
        assert not any(re.search(r"\d\.\d", one) for one in parts if isinstance(one, str)), detail
