"""Film a performance with a simulated camera over the table."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from models.layout import Point, TableLayout
from vision.scenes.decks import Deck, load_deck
from vision.scenes.felt import draw_felt
from vision.scenes.grain import Grain
from vision.scenes.hands import Reach, Sleeve, arm_patches
from vision.scenes.lens import Lens, Light, reference_points
from vision.scenes.look import Look
from vision.scenes.paths import HandPath, Surroundings, eased, hand_paths
from vision.scenes.performance import CardMove, ChipMove, Performance, Place
from vision.scenes.props import Props
from vision.scenes.sprites import Box, Image, Patch, grown

__all__ = ["Hands", "Look", "film", "frame_count", "reference_points", "still", "stills"]

_NS = 1_000_000_000  # nanoseconds in a second
_CLOTHES: tuple[Sleeve, ...] = ("denim", "wool", "bare", "black", "white")


def film(
    performance: Performance, layout: TableLayout, look: Look, deck: Deck | None = None
) -> Iterator[Image]:
    """Yield the frames of a performance, ``(H, W, 3)`` uint8 BGR.

    Frame *k* shows the table at *k* / ``look.fps`` seconds. The same arguments give the same
    pixels. ``deck`` replaces the shipped deck that the look names.

    Raises:
        OperatorError: the look names a deck that is not there.
    """
    table = _Table(performance, layout, look, deck or load_deck(look.deck))
    for index in range(frame_count(performance, look)):
        yield table.picture(int(index * _NS / _rate(look)), index)


def frame_count(performance: Performance, look: Look) -> int:
    """Return the number of frames that :func:`film` yields."""
    return int(-(-performance.duration_ns * _rate(look) // _NS))


def still(
    performance: Performance,
    at_ns: int,
    layout: TableLayout,
    look: Look,
    deck: Deck | None = None,
) -> Image:
    """Return one frame, ``(H, W, 3)`` uint8 BGR: the table at ``at_ns`` since the start."""
    return next(stills(performance, (at_ns,), layout, look, deck))


def stills(
    performance: Performance,
    moments_ns: Iterable[int],
    layout: TableLayout,
    look: Look,
    deck: Deck | None = None,
) -> Iterator[Image]:
    """Yield the frames at some moments, in order of time, as :func:`still` gives each."""
    table = _Table(performance, layout, look, deck or load_deck(look.deck))
    for at_ns in moments_ns:
        yield table.picture(at_ns, round(at_ns * _rate(look) / _NS))


class Hands:
    """The areas of the felt that hands and arms cover, at any time of a performance."""

    def __init__(self, performance: Performance, layout: TableLayout, look: Look) -> None:
        self._table = _Table(performance, layout, look, load_deck(look.deck))
        self._size = (look.height_px, look.width_px)

    def over(self, at_ns: int) -> NDArray[np.bool_]:
        """Mark the pixels that a hand or an arm covers, without its shadow: ``(H, W)``."""
        mask = np.zeros(self._size, np.bool_)
        for patch in self._table.arms(at_ns):
            part = mask[patch.top : patch.bottom, patch.left : patch.right]
            part |= patch.keep.min(axis=2) < _HIDES
        return mask


def _rate(look: Look) -> Fraction:
    return Fraction(look.fps).limit_denominator(1001)


@dataclass
class _Lying:
    """The things on the felt, in the order in which they cover each other."""

    cards: dict[int, Patch] = field(default_factory=dict)
    chips: dict[int, Patch] = field(default_factory=dict)
    rack: list[Patch] = field(default_factory=list)

    def __iter__(self) -> Iterator[Patch]:
        yield from self.rack
        yield from self.cards.values()
        yield from self.chips.values()

    def slide_under(self, card_id: int, patch: Patch, upper: int | None) -> None:
        """Lay a card on top of the others, or directly beneath card ``upper``."""
        above = list(self.cards)
        above = above[above.index(upper) :] if upper in self.cards else []
        self.cards[card_id] = patch
        for other in above:
            self.cards[other] = self.cards.pop(other)

    def over(self, card_id: int) -> Iterator[Patch]:
        """Yield the card and everything above it."""
        ids = list(self.cards)
        for other in ids[ids.index(card_id) :] if card_id in self.cards else ():
            yield self.cards[other]


class _Table:
    """The filmed table.

    Resting things are drawn once, on ``_sharp``; ``_soft`` is the same through the lens. Each frame
    redraws only moving parts, then adds the sensor's noise.
    """

    def __init__(
        self, performance: Performance, layout: TableLayout, look: Look, deck: Deck
    ) -> None:
        self._look = look
        self._lens, self._light = Lens(layout, look), Light(look)
        self._around = Surroundings(layout)
        self._props = Props(deck, self._lens, self._light, look)
        self._cues = _Cues(performance)
        self._paths = hand_paths(performance, self._around)
        self._base = _empty_table(layout, look).copy()
        self._dress(performance)
        self._lying = _Lying()
        self._discarded = 0
        self._sharp, self._stage = self._base.copy(), self._base.copy()
        self._soft = self._through_lens(self._base)
        self._shown = self._soft.copy()
        self._touched: list[Box] = []
        self._grain = Grain(look)

    def picture(self, at_ns: int, index: int) -> Image:
        """Return the picture at a time no earlier than the previous one."""
        self._advance(at_ns)
        self._restore()
        for patch in self._moving(at_ns):
            patch.lay(self._stage)
            self._touched.append(grown(patch.box, _BLUR_PX, self._lens.size_px))
        for box in self._touched:
            self._refocus(self._stage, self._shown, box)
        return self._grain.on(self._lens.bend(self._shown), index)

    def _advance(self, at_ns: int) -> None:
        changed: list[Box] = []
        for starts, move in self._cues.until(at_ns):
            if isinstance(move, CardMove):
                changed += self._card_cue(move, starts=starts)
            else:
                changed += self._chip_cue(move, starts=starts)
        for box in changed:
            self._repaint(box)

    def _card_cue(self, move: CardMove, *, starts: bool) -> list[Box]:
        if starts:
            gone = self._lying.cards.pop(move.card_id, None)
            return [gone.box] if gone else []
        if move.end is None:
            return self._discard(move)
        face = move.card if move.face_after == "up" else None
        patch = self._props.card(face, move.end)
        if patch is None:
            return []
        self._lying.slide_under(move.card_id, patch, move.under)
        return [patch.box]

    def _discard(self, move: CardMove) -> list[Box]:
        if move.by not in (None, "dealer"):
            return []
        self._discarded += 1
        self._lying.rack = self._props.discards(self._discarded, self._around.rack)
        return [patch.box for patch in self._lying.rack]

    def _chip_cue(self, move: ChipMove, *, starts: bool) -> list[Box]:
        if starts:
            gone = self._lying.chips.pop(move.stack_id, None)
            return [gone.box] if gone else []
        patch = self._props.stack(move.stack_id, move.chips, move.end) if move.end else None
        if patch is None:
            return []
        self._lying.chips[move.stack_id] = patch
        return [patch.box]

    def _repaint(self, box: Box) -> None:
        left, top, right, bottom = box
        self._sharp[top:bottom, left:right] = self._base[top:bottom, left:right]
        for patch in self._lying:
            part = patch.within(box)
            if part:
                part.lay(self._sharp)
        self._stage[top:bottom, left:right] = self._sharp[top:bottom, left:right]
        wide = grown(box, _BLUR_PX, self._lens.size_px)
        self._refocus(self._sharp, self._soft, wide)
        left, top, right, bottom = wide
        self._shown[top:bottom, left:right] = self._soft[top:bottom, left:right]

    def _restore(self) -> None:
        for left, top, right, bottom in self._touched:
            part = np.s_[top:bottom, left:right]
            self._stage[part] = self._sharp[part]
            self._shown[part] = self._soft[part]
        self._touched = []

    def _moving(self, at_ns: int) -> Iterator[Patch]:
        for move in self._cues.active:
            if isinstance(move, CardMove):
                yield from self._carried(move, at_ns)
        for move in self._cues.active:
            if isinstance(move, ChipMove):
                yield from self._pushed(move, at_ns)
        yield from self.arms(at_ns)

    def arms(self, at_ns: int) -> Iterator[Patch]:
        """Yield the hands and arms over the felt, each with its shadow."""
        for path in self._paths:
            yield from self._arm(path, at_ns)

    def _carried(self, move: CardMove, at_ns: int) -> Iterator[Patch]:
        share = (at_ns - move.from_ns) / max(1, move.until_ns - move.from_ns)
        start, end = self._around.come(move), self._around.go(move)
        place = _between(start, end, eased(share))
        ahead = _between(start, end, eased(share + _share_of(self._look, move)))
        smear = ahead.x_mm - place.x_mm, ahead.y_mm - place.y_mm
        face = move.card if _face(move, share) == "up" else None
        turning = abs(np.cos(np.pi * share)) if move.face_before != move.face_after else 1.0
        lift = 0.0 if move.under is not None else float(np.sin(np.pi * share))
        patch = self._props.card(face, place, turning=float(turning), lift=lift, smear_mm=smear)
        if patch is None:
            return
        yield patch
        for upper in self._lying.over(move.under) if move.under is not None else ():
            part = upper.within(patch.box)
            if part:
                yield part

    def _pushed(self, move: ChipMove, at_ns: int) -> Iterator[Patch]:
        share = eased((at_ns - move.from_ns) / max(1, move.until_ns - move.from_ns))
        (x0, y0), (x1, y1) = self._around.chips_from(move), self._around.chips_to(move)
        place = x0 + (x1 - x0) * share, y0 + (y1 - y0) * share
        patch = self._props.stack(move.stack_id, move.chips, place)
        if patch:
            yield patch

    def _arm(self, path: HandPath, at_ns: int) -> list[Patch]:
        (x, y), pointing = path.at(at_ns)
        if path.by != "dealer" and (x, y) == path.home:
            return []
        (ahead_x, ahead_y), _ = path.at(at_ns + _NS // 200)
        shoulder = self._around.shoulder(path.by, (x, y))
        reach = Reach(
            tip_mm=_grip((x, y), shoulder),
            shoulder_mm=shoulder,
            speed_mm_s=(200 * (ahead_x - x), 200 * (ahead_y - y)),
            skin=self._skin(path.by),
            sleeve=self._sleeve(path.by),
            pointing=pointing,
            left=path.by == "dealer",
        )
        return arm_patches(reach, self._lens, self._light, self._look)

    def _dress(self, performance: Performance) -> None:
        """Draw the resting hands: the dealer's other one, and the players' at the rail."""
        mouth = self._around.mouth
        if self._look.dealing == "pitch":
            deck = self._props.card(None, Place(mouth.x_mm, mouth.y_mm - 20, 20))
            if deck:
                deck.lay(self._base)
        tip = mouth.x_mm + 70.0, mouth.y_mm - 40.0
        self._rest("dealer", tip, (0.5 * mouth.x_mm + 190.0, -520.0))
        chance = np.random.default_rng((self._look.seed, 8))
        for by in sorted({move.by for move in performance.chips} - {None, "dealer"}, key=str):
            aside, turned = chance.uniform((85, 60), (125, 220))
            tip, shoulder = self._around.at_rail(str(by), float(aside), float(turned))
            if chance.random() < _RESTS:
                self._rest(str(by), tip, shoulder)

    def _rest(self, by: str, tip: Point, shoulder: Point) -> None:
        reach = Reach(tip, shoulder, (0.0, 0.0), self._skin(by), self._sleeve(by))
        for patch in arm_patches(reach, self._lens, self._light, self._look):
            patch.lay(self._base)

    def _skin(self, by: str) -> int:
        return self._look.skin if by == "dealer" else self._look.seed + sum(map(ord, by))

    def _sleeve(self, by: str) -> Sleeve:
        if by == "dealer":
            return self._look.sleeve
        return _CLOTHES[(self._look.seed + sum(map(ord, by))) % len(_CLOTHES)]

    def _refocus(self, source: Image, target: Image, box: Box) -> None:
        left, top, right, bottom = box
        wide = grown(box, _BLUR_PX, self._lens.size_px)
        seen = self._through_lens(source[wide[1] : wide[3], wide[0] : wide[2]])
        inner = np.s_[top - wide[1] : bottom - wide[1], left - wide[0] : right - wide[0]]
        target[top:bottom, left:right] = seen[inner]

    def _through_lens(self, sharp: Image) -> Image:
        if self._look.blur_px < 0.25:
            return sharp.copy()
        size = 2 * _BLUR_PX - 1
        return np.asarray(cv2.GaussianBlur(sharp, (size, size), self._look.blur_px), np.uint8)


_BLUR_PX = 3
"""Pixels. The reach of the lens's blur."""
_HIDES = 64
"""Of 255. A patch that transmits less hides what lies beneath; no shadow does."""
_RESTS = 0.7
"""Share of the players with a hand on the rail."""


class _Cues:
    """The moves in the order of their starts and ends."""

    def __init__(self, performance: Performance) -> None:
        moves: list[CardMove | ChipMove] = [*performance.cards, *performance.chips]
        # Ends come before starts, to make room; a move without duration must start first.
        cues = [
            (move.until_ns, 2 if move.until_ns == move.from_ns else 0, at, move)
            for at, move in enumerate(moves)
        ]
        cues += [(move.from_ns, 1, at, move) for at, move in enumerate(moves)]
        self._cues = sorted(cues, key=lambda cue: cue[:3])
        self._next = 0
        self.active: list[CardMove | ChipMove] = []

    def until(self, at_ns: int) -> Iterator[tuple[bool, CardMove | ChipMove]]:
        """Yield each start (true) and end (false) up to a time, once."""
        while self._next < len(self._cues) and self._cues[self._next][0] <= at_ns:
            _, kind, _, move = self._cues[self._next]
            self._next += 1
            if kind == 1:
                self.active.append(move)
            else:
                self.active.remove(move)
            yield kind == 1, move


@lru_cache(maxsize=2)
def _empty_table(layout: TableLayout, look: Look) -> Image:
    """Return the lit felt before anything lies on it; several films and stills may share it."""
    return Light(look).on_cloth(draw_felt(layout, look, Lens(layout, look)))


def _between(start: Place, end: Place, share: float) -> Place:
    turn = (end.angle_deg - start.angle_deg + 180) % 360 - 180
    return Place(
        start.x_mm + (end.x_mm - start.x_mm) * share,
        start.y_mm + (end.y_mm - start.y_mm) * share,
        start.angle_deg + turn * share,
    )


def _share_of(look: Look, move: CardMove) -> float:
    """Return the share of a move's duration that one exposure lasts."""
    return look.exposure_ms * 1e6 / max(1, move.until_ns - move.from_ns)


def _face(move: CardMove, share: float) -> str:
    return move.face_after if share >= 0.5 else move.face_before


def _grip(place: tuple[float, float], shoulder: tuple[float, float]) -> tuple[float, float]:
    """Return the fingertips' place on the held thing: slightly past its nearer edge."""
    x, y = shoulder[0] - place[0], shoulder[1] - place[1]
    far = float(np.hypot(x, y)) or 1.0
    return place[0] + 14 * x / far, place[1] + 14 * y / far
