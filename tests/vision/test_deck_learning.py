"""A deck is learnt from unlabelled pictures, and never wrongly."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from models.cards import DECK, Card
from models.errors import InputRefused, OperatorError, TechnicianError
from tests.vision.snapshots import fan, fanned, outline, snapshot
from tests.vision.truth_reader import Told
from vision.change import Rect
from vision.corners import CARD_HEIGHT_MM, CARD_WIDTH_MM
from vision.decks.learning import Learnt, Lesson
from vision.decks.library import Library
from vision.decks.profile import DeckProfile, manifest_bytes, picture_bytes, read_profile
from vision.decks.reading import (
    FOREIGN_BACK_FIT,
    FOREIGN_COVERED_FIT,
    FOREIGN_FIT,
    DeckReader,
)
from vision.scenes.decks import load_deck
from vision.sightings import Sightings

ONE = "casino-standard"
OTHER = "anglo_poker"
Candidates = dict[Card, float]
Image = NDArray[np.uint8]


@dataclass
class ToldReader:
    """Finds the one card of a snapshot where it lies, and reads it as told.

    ``off_mm``: how far from there an index puts it that this deck has elsewhere, right and down.
    """

    confident_p: float = 0.98
    off_mm: float = 0.0
    seed: int = 0
    face_up: bool = True
    row: NDArray[np.float32] = field(default_factory=lambda: np.zeros(52, np.float32))

    def tell(self, seed: int, candidates: Candidates | None) -> None:
        self.seed, self.face_up = seed, candidates is not None
        self.row = np.zeros(52, np.float32)
        for card, p in (candidates or {}).items():
            self.row[DECK.index(card)] = p

    def read(
        self,
        image: NDArray[np.uint8],
        *,
        card_width_px: float | None,
        region: Rect | None = None,
    ) -> Sightings:
        corners = outline(load_deck(ONE), self.seed)[None]
        across, down = corners[0, 1] - corners[0, 0], corners[0, 3] - corners[0, 0]
        corners = corners + self.off_mm * (across / CARD_WIDTH_MM + down / CARD_HEIGHT_MM)
        return Sightings(corners, np.array([self.face_up]), np.ones(1, np.float32), self.row[None])


def seed_of(card: Card | None) -> int:
    return 52 if card is None else DECK.index(card)


@cache
def pictured(deck: str, card: Card | None, seed: int) -> NDArray[np.uint8]:
    return snapshot(load_deck(deck), card, seed)


@dataclass
class Class:
    """Shows a lesson snapshots, each read as the test wants."""

    reader: ToldReader = field(default_factory=ToldReader)

    def __post_init__(self) -> None:
        self.lesson = Lesson.new(self.reader, "ours")

    def show(
        self,
        card: Card | None,
        read_as: Candidates | None = None,
        *,
        seed: int | None = None,
        deck: str = ONE,
    ) -> None:
        at = seed_of(card) if seed is None else seed
        known = None if card is None else read_as or {card: 0.995}
        self.reader.tell(at, known)
        self.lesson.show(f"{card}-{at}.jpg", pictured(deck, card, at))

    def show_all_but(self, *absent: Card) -> None:
        self.lesson._looks += _shown().lesson._looks
        self.lesson._backs += _shown().lesson._backs
        for card in LEFT_OUT.difference(absent):
            self.show(card)


LEFT_OUT = frozenset({Card.SEVEN_H, Card.QC, Card.NINE_S, Card.KD, Card.TD})
"""Cards that one test or another does not show."""


@cache
def _shown() -> Class:
    """A lesson that was shown every card but these, once for all tests."""
    lesson = Class()
    for card in [*(c for c in reversed(DECK) if c not in LEFT_OUT), None]:
        lesson.show(card)
    return lesson


@cache
def learnt_whole() -> Learnt:
    lesson = Class()
    lesson.show_all_but()
    return lesson.lesson.learnt()


def test_fifty_two_photographs_in_any_order_make_a_deck() -> None:
    learnt = learnt_whole()
    assert learnt.finished
    assert learnt.profile.pictures == tuple(f"{c}-{seed_of(c)}.jpg" for c in DECK)
    assert len(learnt.profile.backs) == 1
    assert not learnt.profile.four_indices


def test_a_card_not_shown_is_named_as_lacking() -> None:
    lesson = Class()
    lesson.show_all_but(Card.SEVEN_H, Card.QC)
    learnt = lesson.lesson.learnt()
    assert learnt.profile.lacking == (Card.SEVEN_H, Card.QC)
    assert not learnt.finished


def test_the_last_card_is_told_by_what_remains_though_its_reading_is_in_doubt() -> None:
    lesson = Class()
    lesson.show_all_but(Card.NINE_S)
    lesson.show(Card.NINE_S, {Card.EIGHT_S: 0.6, Card.NINE_S: 0.4})
    learnt = lesson.lesson.learnt()
    assert learnt.remained == (Card.NINE_S,)
    assert learnt.finished


def test_a_known_card_seen_in_doubt_again_is_not_taken_for_the_lacking_one() -> None:
    lesson = Class()
    lesson.show_all_but(Card.NINE_S)
    lesson.show(Card.EIGHT_S, {Card.EIGHT_S: 0.6, Card.NINE_S: 0.4}, seed=80)
    assert lesson.lesson.learnt().profile.lacking == (Card.NINE_S,)


def test_two_cards_read_as_one_are_a_contradiction() -> None:
    lesson = Class()
    lesson.show_all_but(Card.KD)
    lesson.show(Card.KD, {Card.FOUR_C: 0.995})
    learnt = lesson.lesson.learnt()
    assert not learnt.finished
    (told,) = learnt.contradictions
    assert told.startswith("4C was read in ")
    assert "KD" in told
    assert learnt.profile.lacking == (Card.KD, Card.FOUR_C)


def test_one_card_read_as_two_is_a_contradiction() -> None:
    lesson = Class()
    lesson.show_all_but(Card.KD)
    lesson.show(Card.FOUR_C, {Card.KD: 0.995}, seed=seed_of(Card.FOUR_C))
    (told,) = lesson.lesson.learnt().contradictions
    assert "KD" in told
    assert "4C" in told
    assert "look the same" in told


def test_one_bad_look_among_many_is_outvoted() -> None:
    lesson = Class()
    lesson.show_all_but()
    for seed in (60, 61, 62):
        lesson.show(Card.FOUR_C, seed=seed)
    lesson.show(Card.KD, {Card.FOUR_C: 0.995}, seed=70)
    learnt = lesson.lesson.learnt()
    assert learnt.finished
    assert learnt.profile.pictures[DECK.index(Card.FOUR_C)].startswith("4C")


def test_two_like_looks_outvote_three_that_are_unlike_one_another() -> None:
    lesson = Class()
    lesson.show_all_but()
    lesson.show(Card.FOUR_C, seed=60)
    for number, card in enumerate((Card.KD, Card.SEVEN_H, Card.AS)):
        lesson.show(card, {Card.FOUR_C: 0.995}, seed=70 + number)
    learnt = lesson.lesson.learnt()
    assert learnt.finished
    assert learnt.profile.pictures[DECK.index(Card.FOUR_C)].startswith("4C")


def fan_read(cards: Sequence[Card], seed: int) -> Sightings:
    rows = np.zeros((len(cards), 52), np.float32)
    for at, card in enumerate(cards):
        rows[at, DECK.index(card)] = 0.995
    corners = fanned(load_deck(ONE), len(cards), seed)
    return Sightings(corners, np.ones(len(cards), bool), np.ones(len(cards), np.float32), rows)


@cache
def fans_learnt(times: int) -> Learnt:
    """Learn a deck that is shown in fans of nine cards alone."""
    lesson = Lesson.new(ToldReader(), "ours")
    for seed in range(times):
        for first in range(0, 52, 9):
            cards = DECK[first : first + 9]
            lesson._reader = Told(fan_read(cards, seed), 0.98)
            lesson.show(f"fan-{seed}-{first}.jpg", fan(load_deck(ONE), cards, seed))
    return lesson.learnt()


@pytest.mark.slow
def test_the_indices_of_a_deck_are_learnt_from_fans() -> None:
    learnt = fans_learnt(2)
    assert learnt.finished
    assert learnt.profile.faceless.all()


def test_an_index_that_one_fan_shows_is_not_enough() -> None:
    learnt = fans_learnt(1)
    assert not learnt.contradictions
    assert len(learnt.profile.lacking) == 52


@pytest.mark.slow
def test_indices_alone_resolve_doubts_and_contradict_no_card_of_their_deck() -> None:
    told = ToldReader()
    reader = DeckReader(told, [fans_learnt(2).profile])
    for card in (Card.NINE_S, Card.SIX_H, Card.JD):
        other = DECK[(DECK.index(card) + 1) % 52]
        told.tell(200 + seed_of(card), {card: 0.8, other: 0.2})
        seen = reader.read(pictured(ONE, card, 200 + seed_of(card)), card_width_px=None)
        assert DECK[int(seen.card_p[0].argmax())] is card
        assert seen.card_p[0].max() > 0.9
        assert seen.deck_fit is not None
        # The jack fits 0.78 or 0.82, by the processor's instructions: 0.78 says nothing.
        assert np.isnan(seen.deck_fit[0]) or seen.deck_fit[0] >= FOREIGN_FIT


@pytest.mark.slow
def test_a_card_shown_whole_takes_the_place_of_its_index_from_fans(tmp_path: Path) -> None:
    keep(fans_learnt(2).profile, Library(tmp_path))
    reader = ToldReader()
    lesson = Lesson(reader, Library(tmp_path).open("ours"))
    reader.tell(seed_of(Card.TD), {Card.TD: 0.995})
    lesson.show("whole.jpg", pictured(ONE, Card.TD, seed_of(Card.TD)))
    learnt = lesson.learnt()
    assert learnt.finished
    assert [DECK[at] for at in np.flatnonzero(~learnt.profile.faceless)] == [Card.TD]


@pytest.mark.parametrize("off_mm", [-2.5, 2.5])
def test_a_deck_with_indices_elsewhere_is_compared_where_they_are(off_mm: float) -> None:
    """Its cards are placed askew by their indices; of a whole card the edges would tell."""
    reader = ToldReader(off_mm=off_mm)
    lesson = Class(reader)
    for card in DECK:
        lesson.show(card)
    told = DeckReader(reader, [lesson.lesson.learnt().profile])
    for card in (Card.NINE_S, Card.SIX_H, Card.JD):
        reader.tell(200 + seed_of(card), {card: 0.995})
        seen = told.read(pictured(ONE, card, 200 + seed_of(card)), card_width_px=150.0)
        assert seen.deck_fit is not None
        assert seen.deck_fit[0] > 0.9


def test_what_was_learnt_is_kept_and_added_to(tmp_path: Path) -> None:
    lesson = Class()
    lesson.show_all_but(Card.TD)
    shelf = Library(tmp_path)
    keep(lesson.lesson.learnt().profile, shelf)
    with pytest.raises(OperatorError, match="still lacks TD"):
        shelf.complete("ours")
    reader = ToldReader()
    again = Lesson(reader, shelf.open("ours"))
    reader.tell(seed_of(Card.TD), {Card.TD: 0.995})
    again.show("late.jpg", pictured(ONE, Card.TD, seed_of(Card.TD)))
    assert again.learnt().finished


def keep(profile: DeckProfile, shelf: Library) -> None:
    weights = picture_bytes(profile)
    shelf.manifest(profile.name).with_suffix(".npz").write_bytes(weights)
    shelf.manifest(profile.name).write_bytes(manifest_bytes(profile, weights))


def test_a_profile_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    profile, shelf = learnt_whole().profile, Library(tmp_path)
    keep(profile, shelf)
    back = shelf.complete("ours")
    assert back.pictures == profile.pictures
    assert np.array_equal(back.cards.indices, profile.cards.indices)
    assert np.array_equal(back.backs, profile.backs)
    assert picture_bytes(back) == picture_bytes(profile)


@pytest.mark.parametrize("at", [10, 1000, -1])
def test_a_flipped_byte_of_a_profile_is_noticed(tmp_path: Path, at: int) -> None:
    shelf = Library(tmp_path)
    keep(learnt_whole().profile, shelf)
    file = tmp_path / "ours.npz"
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)
    with pytest.raises(TechnicianError, match="differs from what its manifest says"):
        shelf.open("ours")


def test_a_manifest_of_another_format_is_refused(tmp_path: Path) -> None:
    shelf = Library(tmp_path)
    keep(learnt_whole().profile, shelf)
    file = shelf.manifest("ours")
    file.write_text(file.read_text("utf-8").replace("format = 1", "format = 9"), "utf-8")
    with pytest.raises(InputRefused, match="format"):
        read_profile(file)


def by_deck(cards: Sequence[tuple[Card, Candidates]], deck: str = ONE) -> list[Sightings]:
    told = ToldReader()
    reader = DeckReader(told, [learnt_whole().profile])
    seen = []
    for card, candidates in cards:
        told.tell(200 + seed_of(card), candidates)
        image = pictured(deck, card, 200 + seed_of(card))
        seen.append(reader.read(image, card_width_px=None))
    return seen


def test_a_doubt_that_the_deck_resolves_is_lifted() -> None:
    for card in (Card.NINE_S, Card.SIX_H, Card.JD):
        other = DECK[(DECK.index(card) + 1) % 52]
        (seen,) = by_deck([(card, {card: 0.8, other: 0.2})])
        assert DECK[int(seen.card_p[0].argmax())] is card
        assert seen.card_p[0].max() >= 0.98


def test_a_reading_that_the_deck_contradicts_is_never_called() -> None:
    for card in (Card.NINE_S, Card.SIX_H, Card.JD):
        other = DECK[(DECK.index(card) + 1) % 52]
        (seen,) = by_deck([(card, {other: 0.94, card: 0.06})])
        assert seen.card_p[0].max() <= 0.98


def test_between_cards_that_a_reading_leaves_open_the_whole_face_decides() -> None:
    """Kings of clubs whose index the networks read as spades, with the deck known."""
    for card in (Card.NINE_S, Card.SIX_H, Card.JD):
        other = DECK[(DECK.index(card) + 1) % 52]
        (seen,) = by_deck([(card, {other: 0.7, card: 0.3})])
        assert DECK[int(seen.card_p[0].argmax())] is card
        assert seen.card_p[0].max() >= 0.998


def test_a_card_beyond_doubt_stays_as_it_was_read() -> None:
    for seen in by_deck([(card, {card: 0.995}) for card in (Card.AS, Card.TD, Card.KC)]):
        assert seen.card_p[0].max() == pytest.approx(0.995)


def test_chances_still_sum_to_at_most_one() -> None:
    for seen in by_deck([(Card.NINE_S, {Card.NINE_S: 0.5, Card.SIX_S: 0.2})]):
        assert seen.card_p.sum() <= 1 + 1e-5


def test_a_card_of_another_deck_fits_worse_than_every_card_of_its_own() -> None:
    cards = [(card, {card: 0.995}) for card in DECK[::9]]
    own = [float(seen.deck_fit[0]) for seen in by_deck(cards) if seen.deck_fit is not None]
    foreign = [
        float(seen.deck_fit[0]) for seen in by_deck(cards, OTHER) if seen.deck_fit is not None
    ]
    assert max(foreign) < min(own)


def fit_found(
    deck: str,
    card: Card | None,
    seed: int,
    image: Image,
    *,
    turn_deg: float = 0.0,
    move_px: float = 0.0,
    size: float = 1.0,
) -> float:
    """Return how a card fits the deck that the finder places askew, beside its place or too large.

    A back is no ``card``.
    """
    quad = outline(load_deck(deck), seed)
    middle = quad.mean(0)
    turn = cv2.getRotationMatrix2D((float(middle[0]), float(middle[1])), turn_deg, size)
    askew = quad @ turn[:, :2].T + turn[:, 2] + [move_px, -move_px]
    row = np.zeros((1, 52), np.float32)
    if card is not None:
        row[0, DECK.index(card)] = 0.999
    found = Sightings(
        np.array([askew], np.float32), np.array([card is not None]), np.ones(1, np.float32), row
    )
    reader = DeckReader(Told(found, 0.98), [learnt_whole().profile])
    width_px = float(np.linalg.norm(quad[1] - quad[0]))
    seen = reader.read(image, card_width_px=width_px)
    assert seen.deck_fit is not None
    return float(seen.deck_fit[0])


@pytest.mark.parametrize(("turn_deg", "move_px"), [(0, 0), (3, 5), (-4, -6), (6, 0), (-6, 2)])
def test_a_back_found_beside_its_place_is_compared_where_its_edges_are(
    turn_deg: float, move_px: float
) -> None:
    for seed in range(300, 306):
        own, other = (
            fit_found(
                deck, None, seed, pictured(deck, None, seed), turn_deg=turn_deg, move_px=move_px
            )
            for deck in (ONE, OTHER)
        )
        assert own >= FOREIGN_BACK_FIT
        assert other < own - 0.05


def test_a_back_whose_edges_are_unclear_is_not_called_foreign() -> None:
    quad = outline(load_deck(OTHER), 300).round().astype(np.int32)
    image = pictured(OTHER, None, 300).copy()
    for at in range(2):  # a hand over two of its sides
        side = np.array([quad[at], quad[at + 1], quad[at + 1], quad[at]])
        cv2.polylines(image, [side], True, image[5, 5].tolist(), 60)
    assert np.isnan(fit_found(OTHER, None, 300, image))


@pytest.mark.parametrize("size", [1.0, 1.06, 1.1])
def test_a_face_found_too_large_is_compared_where_its_edges_are(size: float) -> None:
    for card in (Card.TWO_C, Card.SEVEN_D, Card.KS):
        seed = 200 + seed_of(card)
        own, other = (
            fit_found(deck, card, seed, pictured(deck, card, seed), size=size)
            for deck in (ONE, OTHER)
        )
        assert own >= FOREIGN_FIT > other


def test_a_hand_over_the_corner_that_no_card_covers_makes_no_card_foreign() -> None:
    card, seed = Card.NINE_S, 200 + seed_of(Card.NINE_S)
    quad = outline(load_deck(ONE), seed)
    along = quad[2] - quad[0]
    image = pictured(ONE, card, seed).copy()
    hand = np.array([quad[1], quad[2], quad[3], quad[0] + 0.45 * along])
    cv2.fillConvexPoly(image, cv2.convexHull(hand.round().astype(np.int32)), (110, 140, 190))
    beneath = np.array([quad, quad - 0.7 * along], np.float32)
    rows = np.zeros((2, 52), np.float32)
    rows[0, DECK.index(card)], rows[1, 0] = 0.999, 0.4
    pair = Sightings(beneath, np.ones(2, bool), np.ones(2, np.float32), rows)
    reader = DeckReader(Told(pair, 0.98), [learnt_whole().profile])
    seen = reader.read(image, card_width_px=None)
    assert seen.deck_fit is not None
    assert seen.deck_fit[0] >= FOREIGN_FIT


def test_a_face_that_overlaps_another_and_hardly_fits_says_nothing() -> None:
    card, seed = Card.NINE_S, 200 + seed_of(Card.NINE_S)
    quad, image = outline(load_deck(ONE), seed), pictured(ONE, card, seed)
    row = np.zeros((2, 52), np.float32)
    row[0, DECK.index(card)], row[1, 0] = 0.999, 0.4
    told: list[float] = []
    for moved_px in np.linspace(0, 12, 25):
        moved = quad + moved_px
        pair = np.array([moved, moved - 0.7 * (quad[2] - quad[0])], np.float32)
        found = Sightings(pair, np.ones(2, bool), np.ones(2, np.float32), row)
        reader = DeckReader(Told(found, 0.98), [learnt_whole().profile])
        seen = reader.read(image, card_width_px=60.0)
        assert seen.deck_fit is not None
        told.append(float(seen.deck_fit[0]))
    fits = [fit for fit in told if not np.isnan(fit)]
    assert max(fits) >= FOREIGN_FIT
    assert min(fits) < FOREIGN_COVERED_FIT
    assert len(fits) < len(told)
    assert not any(FOREIGN_COVERED_FIT <= fit < FOREIGN_FIT for fit in fits)


def test_a_card_that_lies_on_another_is_told_by_its_whole_face_and_the_other_is_not() -> None:
    card, seed = Card.KC, 200 + seed_of(Card.KC)
    quad = outline(load_deck(ONE), seed)
    below = quad + 0.2 * (quad[2] - quad[0])
    rows = np.zeros((2, 52), np.float32)
    rows[0, [DECK.index(card), DECK.index(Card.KS)]] = 0.7, 0.3
    rows[1, [DECK.index(Card.SEVEN_D), DECK.index(card)]] = 0.7, 0.3
    pair = Sightings(np.array([quad, below]), np.ones(2, bool), np.ones(2, np.float32), rows)
    reader = DeckReader(Told(pair, 0.98), [learnt_whole().profile])
    seen = reader.read(pictured(ONE, card, seed), card_width_px=None)
    assert DECK[int(seen.card_p[0].argmax())] is card
    assert seen.card_p[0].max() >= 0.98
    assert seen.card_p[1].max() < 0.98


def test_no_deck_and_a_deck_that_lacks_cards_are_not_read_by() -> None:
    lesson = Class()
    with pytest.raises(ValueError, match="whole ones"):
        DeckReader(ToldReader(), [lesson.lesson.learnt().profile])
    with pytest.raises(ValueError, match="at least one"):
        DeckReader(ToldReader(), [])
