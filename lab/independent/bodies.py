"""The shapes of things on a table, as meshes; runs inside Blender too, so it needs only NumPy.

Millimetres, z upwards. Every function returns vertices ``(N, 3)``, faces as tuples of indices, and
what the faces show: a texture coordinate a corner, or the number of a material a face.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.float64]
Face: TypeAlias = tuple[int, ...]
Bend: TypeAlias = tuple[float, float, float]
"""Millimetres by which a card's long edges' middles, its short edges' middles, and one pair of its
corners against the other, stand up."""

CARD_MM: Final = (63.5, 88.9)
CARD_THICK_MM: Final = 0.32
CORNER_MM: Final = 3.4
CHIP_MM: Final = 39.0  # across
CHIP_THICK_MM: Final = 3.3
FRONT, BACK, EDGE = 0, 1, 2
_SPOTS: Final = 6  # edge spots of a chip


@dataclass(frozen=True)
class Mesh:
    """A surface: ``uv`` holds the places in the texture of each face's corners, in order."""

    points: Points
    faces: list[Face]
    materials: list[int]
    uv: list[tuple[float, float]]


def bent(bend: Bend, u: Points, v: Points) -> Points:
    """Return how high a card's under side is above its lowest point; ``u``, ``v`` from -1 to 1."""
    along, over, twist = bend
    share = np.linspace(-1, 1, 9)
    whole = _lifted(along, over, twist, *np.meshgrid(share, share))
    return np.asarray(_lifted(along, over, twist, u, v) - whole.min(), np.float64)


def _lifted(along: float, over: float, twist: float, u: Points, v: Points) -> Points:
    return along * u**2 + over * v**2 + twist * u * v


def card(bend: Bend) -> Mesh:
    """Return a card face up about its middle, its top edge towards -y of the felt (+y here)."""
    width, height = CARD_MM
    arc = CORNER_MM * (1 - np.cos(np.linspace(0, np.pi / 2, 4)))
    middle = np.linspace(CORNER_MM, height - CORNER_MM, 9)
    y = np.concatenate([arc[:-1], middle, height - arc[::-1][1:]]) - height / 2
    inset = np.clip(CORNER_MM - (height / 2 - np.abs(y)), 0, CORNER_MM)
    half = width / 2 - CORNER_MM + np.sqrt(CORNER_MM**2 - inset**2)
    share = np.linspace(-1, 1, 9)
    across, rows = len(share), len(y)
    x = share[None, :] * half[:, None]
    down = np.broadcast_to(y[:, None], x.shape)
    z = bent(bend, x / (width / 2), down / (height / 2))
    top = np.stack([x, down, z + CARD_THICK_MM], axis=-1).reshape(-1, 3)
    under = np.stack([x, down, z], axis=-1).reshape(-1, 3)
    flat = np.stack([x / width + 0.5, down / height + 0.5], axis=-1).reshape(-1, 2)
    count = rows * across
    faces: list[Face] = []
    materials: list[int] = []
    uv: list[tuple[float, float]] = []
    for row in range(rows - 1):
        for column in range(across - 1):
            one = row * across + column
            quad = (one, one + 1, one + across + 1, one + across)
            faces += [quad, tuple(count + at for at in reversed(quad))]
            materials += [FRONT, BACK]
            uv += [_at(flat, at) for at in quad]
            uv += [(1 - a, b) for a, b in (_at(flat, at) for at in reversed(quad))]
    rim = [*range(across), *(row * across + across - 1 for row in range(1, rows))]
    rim += [*range(count - 2, count - across - 1, -1)]
    rim += [row * across for row in range(rows - 2, 0, -1)]
    for one, other in zip(rim, [*rim[1:], rim[0]], strict=True):
        faces.append((other, one, count + one, count + other))
        materials.append(EDGE)
        uv += [(0.0, 0.0)] * 4
    return Mesh(np.concatenate([top, under]), faces, materials, uv)


def _at(flat: Points, index: int) -> tuple[float, float]:
    return float(flat[index, 0]), float(flat[index, 1])


def chip(turn_rad: float, at_mm: tuple[float, float, float]) -> Mesh:
    """Return a chip: its top and bottom (material 0), its edge (1) with lighter spots (2)."""
    ring = 48
    angle = np.arange(ring) / ring * 2 * np.pi + turn_rad
    around = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    bevel = [(CHIP_MM / 2 - 0.5, 0.0), (CHIP_MM / 2, 0.5)]
    bevel += [(CHIP_MM / 2, CHIP_THICK_MM - 0.5), (CHIP_MM / 2 - 0.5, CHIP_THICK_MM)]
    rings = [np.column_stack([around * radius, np.full(ring, z)]) for radius, z in bevel]
    faces: list[Face] = []
    materials: list[int] = []
    uv: list[tuple[float, float]] = []
    for level in range(len(rings) - 1):
        for step in range(ring):
            low, high = level * ring, (level + 1) * ring
            after = (step + 1) % ring
            faces.append((low + step, low + after, high + after, high + step))
            spot = (step * _SPOTS / ring) % 1.0 < 0.3
            materials.append(2 if spot else 1)
            uv += [(0.0, 0.0)] * 4
    last = (len(rings) - 1) * ring
    faces += [tuple(range(last, last + ring)), tuple(range(ring - 1, -1, -1))]
    materials += [0, 0]
    flat = np.stack([np.cos(angle - turn_rad), np.sin(angle - turn_rad)], axis=-1) / 2 + 0.5
    uv += [_at(flat, step) for step in range(ring)]
    uv += [_at(flat, step) for step in range(ring - 1, -1, -1)]
    return Mesh(np.concatenate(rings) + np.array(at_mm), faces, materials, uv)


def cup(radius_mm: float, tall_mm: float, filled_mm: float) -> Mesh:
    """Return an open cup: its wall (material 0) and what is in it (1)."""
    ring = 40
    angle = np.arange(ring) / ring * 2 * np.pi
    around = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    wall = [(radius_mm * 0.8, 0.0), (radius_mm, tall_mm), (radius_mm - 2.0, tall_mm)]
    wall.append((radius_mm * (0.8 + 0.2 * filled_mm / tall_mm) - 2.0, filled_mm))
    rings = [np.column_stack([around * radius, np.full(ring, z)]) for radius, z in wall]
    faces: list[Face] = []
    for low in range(0, (len(wall) - 1) * ring, ring):
        for step in range(ring):
            after = (step + 1) % ring
            faces.append((low + step, low + after, low + ring + after, low + ring + step))
    surface = tuple(range((len(wall) - 1) * ring, len(wall) * ring))
    return Mesh(np.concatenate(rings), [*faces, surface], [0] * len(faces) + [1], [])


def box(size_mm: tuple[float, float, float]) -> Mesh:
    """Return a box that stands on its middle."""
    x, y, z = size_mm[0] / 2, size_mm[1] / 2, size_mm[2]
    corners = [(-x, -y), (x, -y), (x, y), (-x, y)]
    points = np.array([(a, b, level) for level in (0.0, z) for a, b in corners])
    faces: list[Face] = [(3, 2, 1, 0), (4, 5, 6, 7)]
    faces += [(at, (at + 1) % 4, (at + 1) % 4 + 4, at + 4) for at in range(4)]
    return Mesh(points, faces, [0] * 6, [(0.0, 0.0)] * 24)


def capsule(start: Points, end: Points, start_mm: float, end_mm: float) -> Mesh:
    """Return a round bar with rounded ends, thicker at one end than at the other."""
    axis = end - start
    length = float(np.linalg.norm(axis))
    axis = axis / length
    side = np.cross(axis, (0.0, 0.0, 1.0) if abs(axis[2]) < 0.9 else (1.0, 0.0, 0.0))
    side = side / np.linalg.norm(side)
    other = np.cross(axis, side)
    bow = np.linspace(0, math.pi / 2, 5)
    along = [(-math.cos(a) * start_mm, math.sin(a) * start_mm) for a in bow[1:]]
    along += [(length + math.sin(a) * end_mm, math.cos(a) * end_mm) for a in bow[:-1]]
    ring = 14
    angle = np.arange(ring) / ring * 2 * np.pi
    around = np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * other
    points = [start + axis * at + around * radius for at, radius in along]
    tips = np.array([start - axis * start_mm, end + axis * end_mm])
    faces: list[Face] = []
    for level in range(len(along) - 1):
        for step in range(ring):
            low, high, after = level * ring, (level + 1) * ring, (step + 1) % ring
            faces.append((low + step, low + after, high + after, high + step))
    first, last, count = 0, (len(along) - 1) * ring, len(along) * ring
    faces += [(first + (step + 1) % ring, first + step, count) for step in range(ring)]
    faces += [(last + step, last + (step + 1) % ring, count + 1) for step in range(ring)]
    return Mesh(np.concatenate([*points, tips]), faces, [0] * len(faces), [])


def joined(parts: list[Mesh]) -> Mesh:
    """Return several meshes as one."""
    faces: list[Face] = []
    base = 0
    for part in parts:
        faces += [tuple(base + at for at in face) for face in part.faces]
        base += len(part.points)
    return Mesh(
        np.concatenate([part.points for part in parts]),
        faces,
        [number for part in parts for number in part.materials],
        [place for part in parts for place in part.uv],
    )


# A right hand seen from above, its fingertips at the origin, the arm along -y. Each finger from its
# knuckle: the joints' places and the radius there.
_WRIST: Final = (
    (-16.0, -172.0, 50.0),
    (-2.0, -176.0, 52.0),
    (10.0, -176.0, 52.0),
    (20.0, -172.0, 48.0),
)
_KNUCKLES: Final = (
    (-24.0, -88.0, 42.0),
    (-1.0, -93.0, 46.0),
    (21.0, -89.0, 43.0),
    (41.0, -79.0, 36.0),
)
_RADII: Final = (
    (10.5, 9.5, 8.4, 7.2),
    (11.0, 9.8, 8.6, 7.4),
    (10.4, 9.2, 8.0, 6.9),
    (9.2, 8.0, 7.0, 6.0),
)
_THUMB_MM: Final = (16.0, 13.0, 10.5, 8.5)

_BENT: Final = (
    ((-22.0, -44.0, 42.0), (-17.0, -17.0, 26.0), (-12.0, 1.0, 9.0)),
    ((3.0, -42.0, 45.0), (6.0, -12.0, 28.0), (8.0, 7.0, 9.0)),
    ((27.0, -46.0, 42.0), (29.0, -20.0, 26.0), (28.0, -3.0, 10.0)),
    ((49.0, -50.0, 34.0), (50.0, -32.0, 22.0), (47.0, -17.0, 10.0)),
)
_FLAT: Final = (
    ((-27.0, -46.0, 30.0), (-27.0, -22.0, 20.0), (-27.0, -2.0, 12.0)),
    ((-1.0, -44.0, 32.0), (0.0, -16.0, 21.0), (0.0, 8.0, 12.0)),
    ((25.0, -44.0, 30.0), (27.0, -18.0, 20.0), (28.0, 2.0, 12.0)),
    ((49.0, -48.0, 26.0), (54.0, -28.0, 18.0), (58.0, -12.0, 12.0)),
)
_POINT: Final = (
    ((-18.0, -46.0, 40.0), (-9.0, -18.0, 24.0), (0.0, 2.0, 9.0)),
    ((2.0, -58.0, 26.0), (1.0, -74.0, 12.0), (0.0, -92.0, 16.0)),
    ((24.0, -56.0, 24.0), (22.0, -72.0, 11.0), (20.0, -88.0, 15.0)),
    ((44.0, -52.0, 20.0), (41.0, -66.0, 10.0), (38.0, -80.0, 14.0)),
)
POSTURES: Final = {
    "hold": (
        _BENT,
        ((-42.0, -128.0, 34.0), (-58.0, -92.0, 26.0), (-50.0, -58.0, 17.0), (-36.0, -34.0, 9.0)),
    ),
    "flat": (
        _FLAT,
        ((-40.0, -130.0, 34.0), (-60.0, -98.0, 24.0), (-66.0, -66.0, 18.0), (-66.0, -44.0, 14.0)),
    ),
    "point": (
        _POINT,
        ((-40.0, -128.0, 34.0), (-48.0, -96.0, 24.0), (-36.0, -70.0, 18.0), (-16.0, -60.0, 18.0)),
    ),
}
_ELBOW: Final = (6.0, -430.0, 96.0)
_SHOULDER: Final = (10.0, -1500.0, 170.0)


def hand(posture: str) -> Mesh:
    """Return the skin of a hand and forearm, as overlapping bars to be melted into one surface."""
    fingers, thumb = POSTURES[posture]
    bars: list[Mesh] = []
    for wrist, knuckle, joints, radii in zip(_WRIST, _KNUCKLES, fingers, _RADII, strict=True):
        bars.append(_bar(wrist, knuckle, 17.0, radii[0] + 3.0))
        chain = (knuckle, *joints)
        pairs = zip(chain, chain[1:], radii, radii[1:], strict=False)
        bars += [_bar(one, other, thick, thin) for one, other, thick, thin in pairs]
    for one, other in pairwise(_KNUCKLES):
        bars.append(_bar(one, other, 12.0, 11.0))
    palm = [tuple((np.array(a) + np.array(b)) / 2) for a, b in zip(_WRIST, _KNUCKLES, strict=True)]
    bars += [_bar(one, other, 15.0, 15.0) for one, other in pairwise(palm)]
    bars.append(_bar(_WRIST[1], thumb[0], 18.0, _THUMB_MM[0]))
    bars += [
        _bar(one, other, thick, thin)
        for one, other, thick, thin in zip(thumb, thumb[1:], _THUMB_MM, _THUMB_MM[1:], strict=False)
    ]
    bars.append(_bar((-6.0, -176.0, 50.0), (-2.0, -440.0, 96.0), 22.0, 36.0))
    bars.append(_bar((10.0, -176.0, 50.0), (12.0, -440.0, 96.0), 22.0, 36.0))
    return joined(bars)


def nails(posture: str) -> list[tuple[Points, Points, float]]:
    """Return the nails: each one's middle, the direction of its finger, and half its width."""
    fingers, thumb = POSTURES[posture]
    found = []
    for chain, radius in [
        *((joints[-2:], radii[3]) for joints, radii in zip(fingers, _RADII, strict=True)),
        (thumb[-2:], _THUMB_MM[3]),
    ]:
        before, tip = np.array(chain[0]), np.array(chain[1])
        axis = (tip - before) / np.linalg.norm(tip - before)
        up = np.array([0.0, 0.0, 1.0]) - axis * axis[2]
        up = up / max(1e-6, float(np.linalg.norm(up)))
        found.append((tip + up * radius * 0.85 + axis * 1.5, axis, radius * 0.75))
    return found


def sleeve(bare_mm: float) -> Mesh:
    """Return a sleeve that leaves this much of the forearm bare, up to beyond the picture."""
    start = np.array([2.0, -190.0 - bare_mm, 58.0 + bare_mm * 0.16])
    elbow, shoulder = np.array(_ELBOW) + np.array((0, -40, 8)), np.array(_SHOULDER)
    return joined([capsule(start, elbow, 44.0, 58.0), capsule(elbow, shoulder, 58.0, 88.0)])


def cuff(bare_mm: float) -> Mesh:
    """Return the shirt's cuff at the end of such a sleeve."""
    start = np.array([1.5, -176.0 - bare_mm, 55.0 + bare_mm * 0.16])
    return capsule(start, start + np.array((0.4, -34.0, 5.5)), 37.0, 40.0)


def _bar(one: object, other: object, one_mm: float, other_mm: float) -> Mesh:
    return capsule(np.asarray(one, float), np.asarray(other, float), one_mm, other_mm)
