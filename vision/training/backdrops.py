"""The surroundings of the cards in a training scene: felts, prints, chips, hands."""

from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.float32]
"""``(H, W, 3)`` BGR from 0 to 255."""

CROWDED = 0.15
"""Share of the scenes with chips that have many stacks. Chosen, not measured."""


def backdrop(rng: np.random.Generator, size: int) -> Picture:
    """Make a table top: felt, cloth, wood, a gradient or a jumble; printed or plain."""
    kind = rng.random()
    base = _felt_colour(rng) if kind < 0.7 else rng.uniform(10, 245, 3)
    picture = np.broadcast_to(base, (size, size, 3)).astype(np.float32).copy()
    for cell in (2, 7, 23, 90):
        picture += _cloud(rng, size, cell) * rng.uniform(0, 9 if kind < 0.7 else 22)
    if kind > 0.85:
        picture += _grain(rng, size)
    if rng.random() < 0.55:
        _print(rng, picture)
    if rng.random() < 0.15:
        _jumble(rng, picture)
    return picture


def _felt_colour(rng: np.random.Generator) -> NDArray[np.float64]:
    hue = rng.choice([60, 60, 65, 75, 100, 110, 175, 0, 140, 20]) + rng.uniform(-8, 8)
    hsv = np.array([[[hue % 180, rng.uniform(60, 255), rng.uniform(25, 200)]]], np.float32)
    hsv[..., 0] *= 2
    hsv[..., 1:] /= 255
    return np.asarray(cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)[0, 0] * 255, np.float64)


def _cloud(rng: np.random.Generator, size: int, cell: int) -> Picture:
    n = max(2, size // cell)
    coarse = rng.normal(0, 1, (n, n, 1 if rng.random() < 0.7 else 3)).astype(np.float32)
    cloud = cv2.resize(coarse, (size, size), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cloud.reshape(size, size, -1), np.float32)


def _grain(rng: np.random.Generator, size: int) -> Picture:
    lines = rng.normal(0, 1, (size, 8)).astype(np.float32)
    stretched = cv2.resize(lines, (size, size), interpolation=cv2.INTER_CUBIC)
    if rng.random() < 0.5:
        stretched = stretched.T
    return np.asarray(stretched[..., None] * rng.uniform(5, 25), np.float32)


def _print(rng: np.random.Generator, picture: Picture) -> None:
    size = len(picture)
    ink = rng.uniform(60, 255, 3) if rng.random() < 0.7 else rng.uniform(0, 60, 3)
    for _ in range(rng.integers(1, 5)):
        centre = tuple(int(v) for v in rng.integers(-size // 3, size * 4 // 3, 2))
        width = int(rng.integers(1, 5))
        shape = rng.random()
        if shape < 0.4:
            cv2.circle(
                picture, centre, int(rng.integers(15, size)), ink.tolist(), width, cv2.LINE_AA
            )
        elif shape < 0.6:
            end = tuple(int(v) for v in rng.integers(0, size, 2))
            cv2.line(picture, centre, end, ink.tolist(), width, cv2.LINE_AA)
        else:
            _lettering(rng, picture, ink)


def _lettering(rng: np.random.Generator, picture: Picture, ink: NDArray[np.float64]) -> None:
    size = len(picture)
    signs = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    text = "".join(rng.choice(signs, rng.integers(2, 14)))
    layer = np.zeros((size, size), np.uint8)
    at = (int(rng.integers(-40, size // 2)), int(rng.integers(20, size)))
    scale, weight = rng.uniform(0.4, 2.2), int(rng.integers(1, 5))
    cv2.putText(layer, text, at, int(rng.integers(0, 8)), scale, 255, weight, cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D((size / 2, size / 2), rng.uniform(0, 360), 1)
    layer = np.asarray(cv2.warpAffine(layer, turn, (size, size)), np.uint8)
    _blend(picture, layer, ink)


def _blend(picture: Picture, alpha: NDArray[np.uint8], ink: NDArray[np.float64]) -> None:
    share = alpha[..., None].astype(np.float32) / 255
    picture += share * (ink.astype(np.float32) - picture)


def _jumble(rng: np.random.Generator, picture: Picture) -> None:
    size = len(picture)
    for _ in range(rng.integers(3, 25)):
        colour = rng.uniform(0, 255, 3).tolist()
        points = rng.integers(0, size, 2) + rng.normal(0, size / 8, (int(rng.integers(3, 6)), 2))
        cv2.fillPoly(picture, [points.astype(np.int32)], colour, cv2.LINE_AA)


def chips(
    rng: np.random.Generator, picture: Picture, owner: NDArray[np.int16], card_px: float
) -> None:
    """Add a few stacks of chips, sometimes a crowd of them."""
    many = rng.integers(6, 30) if rng.random() < CROWDED else rng.integers(1, 4)
    for _ in range(many):
        stack(rng, picture, owner, card_px, rng.uniform(0, len(picture), 2))


Colour = tuple[float, float, float]


@dataclass(frozen=True)
class ChipKind:
    """What chips of one value look like; ``spot_share`` is how much of the edge spots take."""

    face: Colour
    edge: Colour
    spots: int
    spot_share: float
    inlay: Colour | None
    value: str


def chip_kind(rng: np.random.Generator) -> ChipKind:
    """Choose a kind of chips."""
    inlay = _colour(rng, 150) if rng.random() < 0.6 else None
    value = str(rng.choice(["1", "5", "10", "25", "100", "500", "K", "A"]))
    spots = int(rng.choice([4, 6, 6, 8, 8, 12]))
    return ChipKind(_colour(rng, 0), _colour(rng, 120), spots, rng.uniform(0.3, 0.55), inlay, value)


def _colour(rng: np.random.Generator, low: float) -> Colour:
    blue, green, red = rng.uniform(low, 255, 3).tolist()
    return blue, green, red


def stack(
    rng: np.random.Generator,
    picture: Picture,
    owner: NDArray[np.int16],
    card_px: float,
    at: NDArray[np.float64],
    *,
    kind: ChipKind | None = None,
) -> None:
    """Add a stack of chips, ``at`` in pixels; the covered pixels belong to nobody (-1)."""
    kind = kind or chip_kind(rng)
    centre, edge = _at(at), kind.edge
    radius = max(4, round(card_px * 0.31 * rng.uniform(0.85, 1.1)))
    step_deg = 360 / kind.spots
    start = rng.uniform(0, step_deg)
    cv2.circle(picture, (centre[0] + 2, centre[1] + 2), radius, (15, 15, 15), -1, cv2.LINE_AA)
    cv2.circle(picture, centre, radius, kind.face, -1, cv2.LINE_AA)
    for turn in range(kind.spots):
        angle = start + step_deg * turn
        cv2.ellipse(
            picture,
            centre,
            (radius - 1, radius - 1),
            angle,
            0,
            kind.spot_share * step_deg,
            edge,
            max(1, radius // 4),
        )
    if kind.inlay is not None:
        ink = rng.uniform(0, 120, 3)
        cv2.circle(picture, centre, round(radius * 0.6), kind.inlay, -1, cv2.LINE_AA)
        _stamp(picture, _signs(rng, kind.value, radius * 0.6), centre, ink)
    cv2.circle(picture, centre, round(radius * 0.6), edge, max(1, radius // 12), cv2.LINE_AA)
    cv2.circle(owner, centre, radius, -1, -1)


ALIKE: Final = 0.8
"""How often the next stack of a wager is of the same chips. Chosen, not measured."""


def wager(
    rng: np.random.Generator,
    picture: Picture,
    owner: NDArray[np.int16],
    card_px: float,
    at: NDArray[np.float64],
) -> None:
    """Add a row of stacks about ``at``, in pixels, usually in a printed ring: no card."""
    if rng.random() < 0.7:
        ink = rng.uniform(120, 255, 3) if rng.random() < 0.8 else rng.uniform(0, 90, 3)
        for size in rng.uniform(1.1, 1.6) * np.array([1.0, 0.92]):
            ring = round(card_px * size)
            cv2.circle(picture, _at(at), ring, ink.tolist(), max(1, ring // 25), cv2.LINE_AA)
    angle, pitch, count = rng.uniform(0, 2 * np.pi), rng.uniform(0.6, 0.85), rng.integers(1, 5)
    step = np.array([np.cos(angle), np.sin(angle)]) * pitch * card_px
    kind = chip_kind(rng)
    for number in range(count):
        kind = kind if rng.random() < ALIKE else chip_kind(rng)
        jitter = rng.normal(0, 0.05 * card_px, 2)
        stack(
            rng, picture, owner, card_px, at + step * (number - (count - 1) / 2) + jitter, kind=kind
        )


def _signs(rng: np.random.Generator, text: str, height: float) -> NDArray[np.uint8]:
    """Write a few signs in any direction: how much of each pixel is ink, their middle in its."""
    reach = max(4, round(height * (0.8 + 0.6 * len(text))))
    layer = np.zeros((2 * reach + 1, 2 * reach + 1), np.uint8)
    font, weight = int(rng.integers(0, 5)), max(1, round(height / 9))
    (wide, high), _ = cv2.getTextSize(text, font, 1.0, weight)
    scale = height / max(high, 1)
    low = (round(reach - wide * scale / 2), round(reach + height / 2))
    cv2.putText(layer, text, low, font, scale, 255, weight, cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D((reach, reach), rng.uniform(0, 360), 1)
    return np.asarray(cv2.warpAffine(layer, turn, layer.shape[::-1]), np.uint8)


def _stamp(
    picture: Picture, layer: NDArray[np.uint8], centre: tuple[int, int], ink: NDArray[np.float64]
) -> None:
    """Blend a small layer into a picture, its middle at ``centre``."""
    left, top = centre[0] - layer.shape[1] // 2, centre[1] - layer.shape[0] // 2
    rows = slice(max(0, top), min(len(picture), top + len(layer)))
    columns = slice(max(0, left), min(len(picture), left + len(layer)))
    if rows.start < rows.stop and columns.start < columns.stop:
        part = layer[rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
        _blend(picture[rows, columns], part, ink)


def jottings(rng: np.random.Generator, picture: Picture, card_px: float) -> None:
    """Cover a table top with what is no card: a written page, or the keys of a keyboard."""
    size = len(picture)
    angle, origin = rng.uniform(0, 2 * np.pi), rng.uniform(-0.2, 0.5, 2) * size
    across, down = (
        np.array([np.cos(angle), np.sin(angle)]),
        np.array([-np.sin(angle), np.cos(angle)]),
    )
    keys = rng.random() < 0.5
    pitch = card_px * (rng.uniform(0.2, 0.7) if keys else rng.uniform(0.12, 0.35))
    paper = rng.uniform(0, 255, 3)
    ink = paper + rng.uniform(60, 200) * (1 if paper.mean() < 128 else -1)
    ink = np.clip(ink + rng.normal(0, 15, 3), 0, 255)
    signs = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789aekoqrs")
    rows, columns = int(rng.integers(2, 9)), int(rng.integers(3, 16))
    outline = np.array([[-1, -1], [columns, -1], [columns, rows], [-1, rows]]) * pitch
    sheet = origin + outline[:, :1] * across + outline[:, 1:] * down
    cv2.fillPoly(picture, [sheet.round().astype(np.int32)], paper.tolist(), cv2.LINE_AA)
    cap = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * pitch * rng.uniform(0.36, 0.47)
    key = np.clip(paper + rng.normal(0, 30, 3), 0, 255).tolist()
    for row in range(rows):
        for column in range(columns):
            at = origin + across * column * pitch + down * row * pitch
            if not ((at > 0) & (at < size)).all():
                continue
            if keys:
                corners = at + cap[:, :1] * across + cap[:, 1:] * down
                cv2.fillPoly(picture, [corners.round().astype(np.int32)], key, cv2.LINE_AA)
            text = "".join(rng.choice(signs, 1 if keys else rng.integers(1, 4)))
            height = pitch * rng.uniform(0.3, 0.5)
            _stamp(picture, _signs(rng, text, max(3.0, height)), _at(at), ink)


def limb(
    rng: np.random.Generator, picture: Picture, owner: NDArray[np.int16], card_px: float
) -> None:
    """Add a hand with fingers and sleeve over the scene; the covered pixels belong to nobody."""
    size = len(picture)
    mask = np.zeros((size, size), np.uint8)
    hand = rng.uniform(0.1, 0.9, 2) * size
    side = rng.uniform(0, 2 * np.pi)
    way = np.array([np.cos(side), np.sin(side)])
    thick = card_px * rng.uniform(0.5, 0.9)
    wrist = hand + way * size * 1.5
    cv2.line(
        mask, _at(hand + way * thick), _at(wrist), 255, max(1, round(thick * 0.8)), cv2.LINE_AA
    )
    cv2.circle(mask, _at(hand + way * thick * 0.6), round(thick * 0.65), 255, -1, cv2.LINE_AA)
    for finger in np.linspace(-0.7, 0.7, 5):
        turn = side + np.pi + finger + rng.normal(0, 0.12)
        tip = hand + np.array([np.cos(turn), np.sin(turn)]) * thick * rng.uniform(0.4, 1.3)
        cv2.line(
            mask,
            _at(hand + way * thick * 0.3),
            _at(tip),
            255,
            max(2, round(thick * 0.25)),
            cv2.LINE_AA,
        )
    skin = np.array([rng.uniform(40, 170), rng.uniform(70, 190), rng.uniform(100, 235)])
    lit = skin * (1 + 0.25 * _cloud(rng, size, 30)[..., :1])
    share = mask[..., None].astype(np.float32) / 255
    sleeve = np.hypot(
        *(np.mgrid[0:size, 0:size][::-1] - hand[:, None, None])
    ) > thick * rng.uniform(2, 8)
    lit[sleeve] = rng.uniform(0, 230, 3)
    picture += share * (lit.astype(np.float32) - picture)
    owner[mask > 100] = -1


def _at(point: NDArray[np.float64]) -> tuple[int, int]:
    return round(float(point[0])), round(float(point[1]))
