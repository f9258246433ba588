"""What the camera's looks at one card say of its face, taken together.

Each look gives every face a likelihood. However sure it is, a look may be plainly wrong, so no
look by itself counts for more than that allows. What makes a camera take one card for another,
a worn print or a gleam, mostly lasts while the card lies as it lies: looks that say the same of
a card that has not moved since count as the surest of them, once. Where they say different
things, or the card was moved or turned between, each is evidence of its own, and likelihoods
multiply. So do those of two cameras, which see a card from two sides and share no error.
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

from models.cards import DECK, Card

MISREAD_P: Final = 0.005
"""How often a look is sure of a face that the card does not have, at worst."""

POSSIBLE_P: Final = 0.01
"""A face that a person is offered is this likely at least."""

_ANYTHING: Final = MISREAD_P / len(DECK)
_LEAST: Final = 1e-60
"""Below this a probability only says never: many looks do not underflow."""


_STEADIER: Final = 10.0
"""How much each further equal look adds once the camera has not always said the same: it errs
then look by look, and does not cling to its error."""

_MOST_RUNS: Final = 32
"""A camera that has changed its mind so often tells nothing more of a card."""

_PLACES: Final = {face: place for place, face in enumerate(DECK)}
"""Each face's place in the deck."""


_CALLED: Final = {card.value: card for card in Card}

_MEANT: Final = {
    shoe_card: (shoe_card,)
    if shoe_card.suited
    else tuple(face for face in DECK if face.rank == shoe_card.rank)
    for shoe_card in Card
}


class Reading:
    """Probabilities of the faces, all equally likely before the first look. It never changes.

    Attributes:
        listed: probability by face of those that any look named, the likeliest first.
        other: the most that any one face has that no look named: a look names the likeliest
            faces, and what it leaves over may all be one more.
        looks: how many looks it rests on.
        runs: the looks that it rests on, those that say the same joined to one; none where it
            is one look.
        summed: whether it is the camera's own sum of every look so far.
        afresh: whether the card was moved or turned before the first of these looks.
        camera: whose look it is; none where it rests on several runs.
    """

    def __init__(
        self,
        listed: tuple[tuple[Card, float], ...],
        other: float,
        looks: int,
        runs: tuple["Reading", ...] = (),
        *,
        summed: bool = False,
        afresh: bool = False,
        camera: str = "",
    ) -> None:
        self.listed: Final = listed
        self.other: Final = other
        self.looks: Final = looks
        self.runs: Final = runs
        self.summed: Final = summed
        self.afresh: Final = afresh
        self.camera: Final = camera

    @classmethod
    def of(
        cls,
        card: Card | None,
        candidates: Mapping[str, float],
        *,
        camera: str = "",
        summed: bool = False,
    ) -> "Reading | None":
        """Take one look: its candidates, or a face without any; ``None`` where it says nothing.

        Args:
            card: the face where it is certain.
            candidates: the probabilities of the likeliest faces.
            camera: whose look it is.
            summed: whether the candidates are the camera's own sum of every look so far.
        """
        named = {called(name): p for name, p in candidates.items()}
        if not named and card is not None:
            named = {card: 1.0}
        if not named:
            return None
        given: dict[Card, float] = {}
        for face, p in named.items():
            faces = meant_by(face)
            for one in faces:
                given[one] = given.get(one, 0.0) + p / len(faces)
        rest = min(max(0.0, 1.0 - sum(given.values(), 0.0)), *given.values(), 1.0)
        doubted = {face: _doubted(p) for face, p in given.items()}
        return _normalised(doubted, _doubted(rest), 1, summed=summed, camera=camera)

    def and_look(self, look: "Reading", *, afresh: bool = False) -> "Reading":
        """Return what this and another look at the same card say together.

        Args:
            look: the other look. A camera's own sum replaces its looks so far.
            afresh: whether the card was moved or turned since.
        """
        runs = list(self.runs or (self,))
        if len(runs) > _MOST_RUNS:
            return self
        if look.summed:
            return _together([*(run for run in runs if run.camera != look.camera), look])
        own = self._last_by(look.camera)
        if own is not None and not afresh and runs[own].likeliest is look.likeliest:
            runs[own] = runs[own]._repeated(look)
        else:
            runs.append(look if look.afresh == afresh else look._as(look.looks, afresh=afresh))
        return _together(runs)

    def _last_by(self, camera: str) -> int | None:
        runs = self.runs or (self,)
        return next((at for at in range(len(runs) - 1, -1, -1) if runs[at].camera == camera), None)

    def _repeated(self, look: "Reading") -> "Reading":
        """Return the looks of one camera that say the same: the surest of them, once."""
        surer = max(self, look, key=lambda one: one.listed[0][1])
        return surer._as(self.looks + look.looks, afresh=self.afresh)

    def _as(self, looks: int, *, afresh: bool) -> "Reading":
        """Return it as what so many looks say."""
        return Reading(
            self.listed,
            self.other,
            looks,
            self.runs,
            summed=self.summed,
            afresh=afresh,
            camera=self.camera,
        )

    def weighed(self, weights: Mapping[Card, float]) -> "Reading":
        """Return one look with the probability of some faces multiplied."""
        joint = {face: p * weights.get(face, 1.0) for face, p in self.listed}
        return _normalised(joint, self.other, self.looks, summed=self.summed, camera=self.camera)

    def agrees(self, shoe_card: Card | None) -> bool:
        """Tell whether the last looks were for ``shoe_card``; for the others', where nothing was.

        One look by itself may be a slip; the next one tells.
        """
        last = self.runs[-1] if self.runs else self
        slip = len(self.runs) > 1 and last.looks == 1
        return self.steady if shoe_card is None else slip or last.p(shoe_card) >= last.listed[0][1]

    @property
    def steady(self) -> bool:
        """Whether all looks name the same face first."""
        return _alike(self.runs or (self,))

    @property
    def likeliest(self) -> Card:
        """The face that it names first."""
        return self.listed[0][0]

    @property
    def possible(self) -> tuple[str, ...]:
        """The faces that are not unlikely, the likeliest first."""
        return tuple(str(face) for face, p in self.listed if p >= POSSIBLE_P)

    def p(self, card: Card) -> float:
        """Return the probability of ``card``; of any suit where it is a rank alone."""
        faces = meant_by(card)
        return min(1.0, sum((self.each(face) for face in faces), 0.0))

    def shares(self, clinging: float = 1.0) -> list[float]:
        """Return each face's part of the whole, in the order of the deck.

        What no look named is shared out among the faces that none did.

        Args:
            clinging: the share of the camera's errors that last from look to look.
        """
        doubt = self._lasting(clinging)
        shares = [self._rest() * doubt] * len(DECK)
        for face, p in self.listed:
            shares[_PLACES[face]] = p if face is self.likeliest else p * doubt
        return shares

    def whole(self) -> float:
        """Return the sum of all faces' shares."""
        unnamed = len(DECK) - len(self.listed)
        return sum([p for _, p in self.listed], self._rest() * unnamed)

    def share(self, face: Card) -> float:
        """Return a face's part of the whole."""
        return next((p for one, p in self.listed if one is face), self._rest())

    def _rest(self) -> float:
        """Return the share of a face that no look named."""
        unnamed = len(DECK) - len(self.listed)
        return max(self.other / max(1, unnamed), min(self.other, _ANYTHING))

    def _lasting(self, clinging: float) -> float:
        """Return how much less likely an error is for having lasted through equal looks."""
        if not self.steady:
            return 1.0
        return clinging ** sum(run.looks > 1 for run in self.runs or (self,))

    def each(self, card: Card) -> float:
        """Return the probability of one face, its suit known."""
        return next((p for face, p in self.listed if face is card), self.other)


def _together(runs: Sequence[Reading]) -> Reading:
    """Multiply what runs of looks say; one by itself is what it is."""
    if len(runs) == 1:
        return runs[0]
    steady = _alike(runs)
    faces = {face for run in runs for face, _ in run.listed}
    strength = [1.0 if steady else _STEADIER ** (run.looks - 1) for run in runs]
    joint = {
        face: prod(
            run.each(face) * (more if face is run.likeliest else 1.0)
            for run, more in zip(runs, strength, strict=True)
        )
        for face in faces
    }
    other = prod(run.other for run in runs)
    return _normalised(joint, other, sum(run.looks for run in runs), tuple(runs))


def _alike(runs: Sequence[Reading]) -> bool:
    return len({run.likeliest for run in runs}) == 1


def called(name: str) -> Card:
    """Return the face of a name, as ``Card(name)`` does, in a tenth of its time."""
    return _CALLED.get(name) or Card(name)


def meant_by(shoe_card: Card) -> tuple[Card, ...]:
    """Return the faces that a word may mean: those of a rank, where it says no suit."""
    return _MEANT[shoe_card]


def _doubted(p: float) -> float:
    return (1.0 - MISREAD_P) * p + _ANYTHING


def _normalised(
    weights: Mapping[Card, float],
    other: float,
    looks: int,
    runs: tuple[Reading, ...] = (),
    *,
    summed: bool = False,
    camera: str = "",
) -> Reading:
    mass = sum(weights.values(), 0.0) + other
    shares = [(face, max(weight / mass, _LEAST)) for face, weight in weights.items()]
    shares.sort(key=lambda share: (-share[1], share[0].value))
    rest = max(other / mass, _LEAST)
    return Reading(tuple(shares), rest, looks, runs, summed=summed, camera=camera)
