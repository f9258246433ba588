"""How likely an answer is, in words."""

import pytest

from settlement.reconcile import in_words


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (1.0, "almost certain"),
        (0.99, "almost certain"),
        (0.9899, "likely"),
        (0.6, "likely"),
        (0.5999, "about even"),
        (0.4, "about even"),
        (0.3999, "unlikely"),
        (0.01, "unlikely"),
        (0.0099, "very unlikely"),
        (0.0, "very unlikely"),
    ],
)
def test_a_probability_is_told_in_one_of_five_words(probability: float, words: str) -> None:
    assert in_words(probability) == words
