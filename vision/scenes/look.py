"""The settings that vary between two films of the same performance."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from models.errors import OperatorError

Felt: TypeAlias = Literal["green", "blue", "red", "burgundy", "grey", "teal", "sand"]
FELTS: tuple[Felt, ...] = ("green", "blue", "red", "burgundy", "grey", "teal", "sand")


@dataclass(frozen=True, slots=True)
class Look:
    """How a table is filmed: its cloth and cards, its camera, its light and its people.

    Attributes:
        deck: id of the deck's art (:mod:`vision.scenes.decks`).
        fps: frames a second.
        zoom: 1 fits the whole felt into the picture.
        shift_px: offset of the felt's middle from the picture's.
        rotation_deg: the picture turned clockwise about its middle.
        tilt_deg: the camera's angle from straight down: towards the players (x-axis), towards the
            dealer's left (y-axis).
        distortion: OpenCV's first radial coefficient; below 0 bulges like a wide lens.
        light_slope: how much brighter the bright side of the felt is than its middle.
        light_from_deg: where the light comes from; 0 is the dealer's left, 90 the players.
        glare: strength of the lamp's reflection, 0 to 1, and where it lies in the picture, in
            shares of its width and height.
        shadow: how dark shadows are, 0 to 1.
        noise_sigma: the sensor's noise, in grey levels.
        blur_px: the lens's softness, a Gaussian's sigma.
        exposure_ms: exposure of a frame: it blurs moving things.
        lettering: the printed words: over the dealer's rule, the rule, on the insurance line.
        markers: whether the layout's markers are stuck to the felt.
        seed: decides everything else: weave, noise, chips' turns, who sits where.

    Raises:
        OperatorError: a value that no camera or table has.
    """

    deck: str = "casino-jumbo"
    felt: Felt = "green"
    width_px: int = 1920
    height_px: int = 1080
    fps: float = 15
    zoom: float = 1.0
    shift_px: tuple[float, float] = (0.0, 0.0)
    rotation_deg: float = 0.0
    tilt_deg: tuple[float, float] = (0.0, 0.0)
    distortion: float = 0.0
    brightness: float = 1.0
    warmth: float = 0.03
    light_slope: float = 0.12
    light_from_deg: float = 215.0
    glare: float = 0.35
    glare_at: tuple[float, float] = (0.36, 0.3)
    shadow: float = 0.45
    noise_sigma: float = 2.0
    blur_px: float = 0.6
    exposure_ms: float = 6.0
    dealing: Literal["shoe", "pitch"] = "shoe"
    sleeve: Literal["black", "white", "vest"] = "black"
    skin: int = 1
    lettering: tuple[str, str, str] = (
        "BLACKJACK PAYS 3 TO 2",
        "DEALER MUST DRAW TO 16 AND STAND ON ALL 17s",
        "INSURANCE PAYS 2 TO 1",
    )
    markers: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name, (least, most) in _BOUNDS.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise _unlike_a_table(name, str(value), f"between {least} and {most}")
        if self.felt not in FELTS:
            raise _unlike_a_table("felt", self.felt, f"one of {', '.join(FELTS)}")


# Least and most, in the unit of the field's name.
_BOUNDS = {
    "width_px": (160, 7680),
    "height_px": (90, 4320),
    "fps": (1, 240),
    "zoom": (0.2, 5),
    "rotation_deg": (-180, 180),
    "distortion": (-0.3, 0.3),
    "brightness": (0.1, 3),
    "warmth": (-0.5, 0.5),
    "light_slope": (0, 1),
    "glare": (0, 1),
    "shadow": (0, 1),
    "noise_sigma": (0, 40),
    "blur_px": (0, 8),
    "exposure_ms": (0, 40),
    "skin": (0, 5),
    "seed": (0, 2**63),
}


def _unlike_a_table(name: str, found: str, expected: str) -> OperatorError:
    return OperatorError(
        f"a film cannot be shot with {found}", where=name, way_out=f"Choose {expected}"
    )


def varied_look(seed: int, *, decks: tuple[str, ...], felts: tuple[Felt, ...] = FELTS) -> Look:
    """Draw a plausible look from ``seed``: one of ``decks`` on one of ``felts``."""
    rng = np.random.default_rng((seed, 7))
    span = rng.uniform
    return Look(
        deck=decks[int(rng.integers(len(decks)))],
        felt=felts[int(rng.integers(len(felts)))],
        zoom=span(0.97, 1.0),
        shift_px=(span(-12, 12), span(-8, 8)),
        rotation_deg=span(-1.5, 1.5),
        tilt_deg=(span(-4, 4), span(-3, 3)),
        brightness=span(0.85, 1.12),
        warmth=span(-0.04, 0.08),
        light_slope=span(0.0, 0.25),
        light_from_deg=span(0, 360),
        glare=span(0.0, 0.6),
        glare_at=(span(0.15, 0.85), span(0.15, 0.7)),
        shadow=span(0.25, 0.6),
        noise_sigma=span(0.8, 3.0),
        blur_px=span(0.4, 0.8),
        exposure_ms=span(3, 9),
        sleeve=("black", "white", "vest")[int(rng.integers(3))],
        skin=int(rng.integers(6)),
        seed=seed,
    )
