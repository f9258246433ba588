"""Calibration finds how far the indices' readings can be believed, alone and together."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="the training extra is not installed")
pytest.importorskip("ultralytics", reason="the training extra is not installed")

from numpy.typing import NDArray

from vision.faces import Faces, unread
from vision.patches import RANK_OF, SUIT_OF, log_softmax
from vision.training.manifests import MOST_WRONG, calibrated, threshold
from vision.training.scores import Read, Votes, calibration_error, calibration_noise

pytestmark = pytest.mark.slow

CARDS = 1500


def draw(rng: np.random.Generator, logs: NDArray[np.float64]) -> NDArray[np.int64]:
    """One choice a row, by its chances."""
    heights = np.exp(log_softmax(logs)).cumsum(axis=1)
    drawn = (heights < rng.random((len(logs), 1))).sum(axis=1)
    return np.asarray(np.minimum(drawn, logs.shape[1] - 1), np.int64)


def alone(temperature: float, rng: np.random.Generator) -> Votes:
    """Cards of one index each, whose logits are so many times too bold."""
    ranks, suits = rng.normal(0, 3, (CARDS, 14)), rng.normal(0, 3, (CARDS, 4))
    ranks[:, 13] = -30
    ranks_drawn, of = draw(rng, ranks), draw(rng, suits)
    faces = ((ranks_drawn[:, None] == RANK_OF) & (of[:, None] == SUIT_OF)).argmax(axis=1)
    bold = ranks[:, None] * temperature, suits[:, None] * temperature
    return Votes(*bold, unread(CARDS), faces)


def doubled(votes: Votes) -> Votes:
    """The same cards, each index of which repeats the reading of the other."""
    twice = votes.ranks.repeat(2, axis=1), votes.suits.repeat(2, axis=1)
    return Votes(*twice, votes.shown, votes.cards)


def with_faces(votes: Votes, ranks: NDArray[np.float64], suits: NDArray[np.float64]) -> Votes:
    """The same cards, whose faces read as that."""
    return Votes(
        votes.ranks, votes.suits, Faces(log_softmax(ranks), log_softmax(suits)), votes.cards
    )


@pytest.mark.parametrize("temperature", [0.6, 1.0, 1.8])
def test_the_temperature_that_made_the_logits_too_bold_is_found(temperature: float) -> None:
    found = calibrated([alone(temperature, np.random.default_rng(4))])
    assert found["rank_temperature"] == pytest.approx(temperature, rel=0.1)
    assert found["suit_temperature"] == pytest.approx(temperature, rel=0.1)


def test_two_sightings_paired_with_the_wrong_card_do_not_outweigh_the_others() -> None:
    votes = alone(1.0, np.random.default_rng(4))
    bold = votes.ranks.copy()
    rows = np.arange(2)
    bold[rows, 0, (RANK_OF[votes.cards[rows]] + 1) % 13] = 300
    found = calibrated([Votes(bold, votes.suits, votes.shown, votes.cards)])
    assert found["rank_temperature"] == pytest.approx(1.0, rel=0.1)


def test_an_index_that_repeats_a_reading_adds_nothing() -> None:
    votes = alone(1.0, np.random.default_rng(5))
    assert calibrated([votes, doubled(votes)])["corner_overlap"] == pytest.approx(1.0, abs=0.05)


def test_indices_that_err_apart_count_in_full() -> None:
    rng = np.random.default_rng(6)
    faces = rng.integers(0, 52, CARDS)
    rank, suit = np.eye(14)[RANK_OF[faces]], np.eye(4)[SUIT_OF[faces]]

    def seen(truth: NDArray[np.float64], often: int) -> NDArray[np.float64]:
        """What noise of strength 1 leaves of the truth: its logits are the true ones."""
        logits = 2.0 * (2.0 * truth[:, None] + rng.normal(0, 1, (CARDS, often, truth.shape[1])))
        logits[:, :, 13:] = -30
        return logits

    nothing = unread(CARDS)
    votes = [Votes(seen(rank, often), seen(suit, often), nothing, faces) for often in (1, 2)]
    assert calibrated(votes)["corner_overlap"] == pytest.approx(0.0, abs=0.1)


def test_a_face_that_repeats_the_index_weighs_no_more_than_one_of_them() -> None:
    votes = alone(1.0, np.random.default_rng(9))
    found = calibrated([with_faces(votes, votes.ranks[:, 0], votes.suits[:, 0])])
    assert found["beside_face"] + found["face_rank_weight"] == pytest.approx(1.0, abs=0.1)


def test_a_face_without_information_on_the_card_weighs_nothing() -> None:
    rng = np.random.default_rng(10)
    votes = alone(1.0, rng)
    found = calibrated(
        [with_faces(votes, rng.normal(0, 3, (CARDS, 14)), rng.normal(0, 3, (CARDS, 4)))]
    )
    assert found["face_rank_weight"] <= 0.04
    assert found["face_suit_weight"] <= 0.04


def test_chance_alone_explains_the_calibration_error_of_true_probabilities() -> None:
    rng = np.random.default_rng(7)
    chances = rng.beta(6, 1, 500)
    reads = [Read(float(p), bool(rng.random() < p)) for p in chances]
    bold = [Read(float(p), bool(rng.random() < p**2)) for p in chances]
    assert calibration_error(reads) < 1.5 * calibration_noise(reads)
    assert calibration_error(bold) > 2 * calibration_noise(bold)


def test_what_is_called_from_the_threshold_on_errs_no_more_often_than_allowed() -> None:
    chances = 1 - 10 ** np.random.default_rng(8).uniform(-6, 0, 3000)
    least = threshold([Read(float(p), right=True) for p in chances])
    share = float((1 - chances[chances >= least]).sum()) / len(chances)
    assert share == pytest.approx(MOST_WRONG, rel=0.05)
    assert 0.985 < least < 0.9995
