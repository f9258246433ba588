"""A deck's letters are of one language; until that is known, what hangs on it stays in doubt."""

from collections.abc import Sequence
from typing import get_args

import numpy as np
import pytest
from numpy.typing import NDArray

from models.cards import DECK, RANKS, Card
from models.session import Lettering
from vision.change import Rect
from vision.languages import DE, LANGUAGES, NO_SIGN, SIGNS, TE
from vision.letters import KINDS, NAMED, NO_EVIDENCE, DeckEvidence, SessionReader, by_language
from vision.sightings import Sightings

SURE = 0.998
SHARP = 0.9999
"""Probability of its sign of a letter that is seen well."""


def signs_of(*shown: str, p: float = SHARP, beside: str = "not an index") -> NDArray[np.float64]:
    """What the network of letters makes of signs; what is left of each goes to ``beside``."""
    rows = np.full((len(shown), len(SIGNS)), 1e-9)
    for row, sign in zip(rows, shown, strict=True):
        row[SIGNS.index(sign)] += p
        row[SIGNS.index(beside)] += 1 - p
    return np.asarray(rows / rows.sum(1, keepdims=True))


def votes_for(*cards: str, p: float = 0.9995) -> NDArray[np.float64]:
    """What indices and faces make of cards, as those of an English deck."""
    rows = np.full((len(cards), 53), (1 - p) / 52)
    for row, card in zip(rows, cards, strict=True):
        row[DECK.index(Card(card))] = p
    return rows


def faces_of(*ranks: str, p: float = 0.999) -> NDArray[np.float64]:
    """What the whole faces of cards say of each rank, in logarithms."""
    rows = np.full((len(ranks), len(RANKS)), (1 - p) / len(RANKS))
    for row, rank in zip(rows, ranks, strict=True):
        row[RANKS.index(rank)] = p
    return np.asarray(np.log(rows), np.float64)


def called_after(
    evidence: DeckEvidence,
    signs: NDArray[np.float64],
    votes: NDArray[np.float64],
    faces: NDArray[np.float64] | None = None,
) -> tuple[list[str | None], DeckEvidence]:
    """The cards called, ``None`` for one in doubt, and the evidence after them."""
    evidence = evidence.with_cards(signs, votes, np.ones(len(votes)))
    faces = np.zeros((len(votes), len(RANKS))) if faces is None else faces
    rows = by_language(votes, signs, faces, evidence.kinds)
    assert np.allclose(rows.sum(1), 1)
    called = [str(DECK[int(row.argmax())]) if row.max() >= SURE else None for row in rows[:, :52]]
    return called, evidence


def test_an_english_deck_is_read_as_before() -> None:
    votes = votes_for("KS", "QH", "JC", "8D", "AS", "TD")
    called, evidence = called_after(NO_EVIDENCE, signs_of("K", "Q", "J", "8", "A", "T"), votes)
    assert called == ["KS", "QH", "JC", "8D", "AS", "TD"]
    assert evidence.kinds[0] > SURE


def test_a_letter_that_the_index_takes_for_none_is_still_a_cards() -> None:
    """The reading of indices knows no foreign letters; the network of signs does."""
    votes = votes_for("KC", "QD", "8H", p=0.9)
    votes[:, :52] *= 0.999 / votes[:, :52].sum(1, keepdims=True)
    votes[:, 52] = 0.001
    votes[0] *= 0.94 / votes[0].sum()
    votes[0, 52] = 0.06
    signs = signs_of("B", "D", "8", p=0.99999)
    known = DeckEvidence(frozenset({"german"}))
    rows = by_language(votes, signs, np.zeros((3, len(RANKS))), known.kinds)
    assert rows[0, 52] < 0.002
    after = NO_EVIDENCE.with_cards(signs, votes, np.full(3, 0.7))
    assert after.kinds[0] < 0.005


def test_what_no_network_takes_for_a_letter_stays_none() -> None:
    votes = votes_for("KC")
    votes[0, :52], votes[0, 52] = votes[0, :52] * 0.1, 0.9
    signs = signs_of("B", p=0.05)
    known = DeckEvidence(frozenset({"german"}))
    rows = by_language(votes / votes.sum(), signs, np.zeros((1, len(RANKS))), known.kinds)
    assert rows[0, 52] > 0.85


def test_numbers_alone_are_called_whatever_the_language() -> None:
    votes = votes_for("8D", "3S")
    assert called_after(NO_EVIDENCE, signs_of("8", "3"), votes)[0] == ["8D", "3S"]


# The letters of a deck, what an English reader takes them for, and what they are.
FOREIGN = {
    "german": [("B", "8S", "JS"), ("D", "QH", "QH"), ("K", "KC", "KC"), ("A", "AD", "AD")],
    "french": [("V", "JS", "JS"), ("D", "JH", "QH"), ("R", "KC", "KC"), ("1", "7D", "AD")],
    "dutch": [("B", "8S", "JS"), ("V", "7H", "QH"), ("H", "KC", "KC")],
    "scandinavian": [("Kn", "KS", "JS"), ("D", "QH", "QH"), ("K", "KC", "KC"), ("E", "6S", "AS")],
    "russian": [("B", "8S", "JS"), (DE, "AH", "QH"), ("K", "KC", "KC"), (TE, "7D", "AD")],
    "italian": [("F", "7S", "JS"), ("D", "QH", "QH"), ("R", "KC", "KC")],
}


@pytest.mark.parametrize("language", FOREIGN)
def test_cards_of_each_language_are_called_once_its_letters_were_seen(language: str) -> None:
    letters, english, true = zip(*FOREIGN[language], strict=True)
    again = signs_of(*letters, *letters), votes_for(*english, *(_other(card) for card in english))
    called, evidence = called_after(NO_EVIDENCE, *again)
    assert called[: len(true)] == list(true)
    possible = {KINDS[int(at)][0] for at in np.flatnonzero(evidence.kinds > 0.01)}
    assert language in possible


def _other(card: str) -> str:
    return card[0] + {"S": "H", "H": "S", "C": "D", "D": "C"}[card[1]]


@pytest.mark.parametrize("language", FOREIGN)
def test_a_letter_seen_once_is_never_called_as_another_rank(language: str) -> None:
    for letter, english, true in FOREIGN[language]:
        (called,), _ = called_after(NO_EVIDENCE, signs_of(letter), votes_for(english))
        assert called in {None, true}, (letter, called)


def test_a_v_is_a_jack_beside_an_r_and_a_queen_beside_an_h() -> None:
    votes = votes_for("JS", "JH", "KS", "KH")
    alone, _ = called_after(NO_EVIDENCE, signs_of("V", "V"), votes_for("JS", "JH"))
    assert alone == [None, None]
    assert called_after(NO_EVIDENCE, signs_of("V", "V", "R", "R"), votes)[0][:2] == ["JS", "JH"]
    assert called_after(NO_EVIDENCE, signs_of("V", "V", "H", "H"), votes)[0][:2] == ["QS", "QH"]


def test_a_known_language_needs_no_letter_seen_before() -> None:
    french = DeckEvidence(frozenset({"french"}))
    assert called_after(french, signs_of("V"), votes_for("7S"))[0] == ["JS"]
    english = DeckEvidence(frozenset({"english"}))
    assert called_after(english, signs_of("B", p=0.9), votes_for("8S"))[0] == ["8S"]


def test_a_faint_letter_is_called_where_the_whole_face_shows_a_court() -> None:
    german = DeckEvidence(frozenset({"german"}))
    faint, votes = signs_of("B", p=0.99, beside="8"), votes_for("8S")
    assert called_after(german, faint, votes)[0] == [None]
    assert called_after(german, faint, votes, faces_of("J"))[0] == ["JS"]


def test_which_court_a_whole_face_shows_says_nothing_beside_a_letter() -> None:
    nordic = DeckEvidence(frozenset({"scandinavian"}))
    called, _ = called_after(nordic, signs_of("Kn"), votes_for("KS"), faces_of("K"))
    assert called == ["JS"]


def test_an_ace_is_called_whichever_sign_its_language_may_give_it() -> None:
    german = DeckEvidence(frozenset({"german"}))
    signs, votes = signs_of("A", p=0.997), votes_for("AS")
    assert called_after(german, signs, votes, faces_of("A"))[0] == ["AS"]


def test_what_may_be_no_card_says_little_of_the_language() -> None:
    writing = NO_EVIDENCE.with_cards(signs_of("D"), votes_for("QS", p=0.9), np.array([0.05]))
    card = NO_EVIDENCE.with_cards(signs_of("D"), votes_for("QS"), np.array([1.0]))
    before, less, much = (_odds(one.kinds[0]) for one in (NO_EVIDENCE, writing, card))
    assert less > before / 5
    assert much < before / 100


def _odds(p: float) -> float:
    return p / (1 - p)


def test_looks_at_one_sign_share_their_errors() -> None:
    signs, votes, once = signs_of("D"), votes_for("QS"), NO_EVIDENCE
    for _ in range(20):
        once = once.with_cards(signs, votes, np.ones(1))
    first = NO_EVIDENCE.with_cards(signs, votes, np.ones(1))
    assert np.allclose(once.kinds, first.kinds)


def test_every_language_names_thirteen_ranks() -> None:
    assert NAMED.shape == (len(KINDS), len(SIGNS))
    assert {language for language, _ in KINDS} == set(LANGUAGES)
    for ranks in NAMED:
        assert sorted(ranks[ranks >= 0]) == list(range(13))
        assert ranks[NO_SIGN] == -1


class Spoken:
    """A reader whose signs are given."""

    confident_p = SURE
    evidence = NO_EVIDENCE

    def __init__(self, letters: Sequence[str]) -> None:
        self._letters = list(letters)
        self.before: list[DeckEvidence] = []

    def read_after(
        self,
        evidence: DeckEvidence,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> tuple[Sightings, DeckEvidence]:
        self.before.append(evidence)
        after = evidence.with_cards(signs_of(self._letters.pop(0)), votes_for("QS"), np.ones(1))
        seen = Sightings(
            np.zeros((0, 4, 2), np.float32),
            np.zeros(0, bool),
            np.zeros(0, np.float32),
            np.zeros((0, 52), np.float32),
        )
        return seen, after

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        return self.read_after(self.evidence, image, card_width_px=card_width_px)[0]


def test_a_session_remembers_the_letters_of_earlier_pictures() -> None:
    reader = Spoken("DVR")
    session = SessionReader(reader)
    for _ in range(3):
        session.read(np.zeros((4, 4, 3), np.uint8), card_width_px=None)
    assert [len(evidence.signs) for evidence in reader.before] == [0, 1, 2]
    assert reader.evidence is NO_EVIDENCE


def test_a_session_may_name_every_language_that_can_be_read() -> None:
    assert set(get_args(Lettering)) == set(LANGUAGES)
