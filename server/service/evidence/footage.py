"""What a viewer is told of a session's felt and cameras. Lengths are millimetres or pixels."""

import msgspec

from models.layout import TableLayout


class Lens(msgspec.Struct, frozen=True):
    """How a lens bends the picture: flat pixels grow about the centre by ``1 + k1 r2 + k2 r4``."""

    focal_px: float
    centre_px: tuple[float, float]
    radial: tuple[float, float]


class ClipView(msgspec.Struct, frozen=True):
    """A round's video."""

    url: str
    from_ns: int
    """The table's time where a player stands at 0 s."""
    to_ns: int
    frames: tuple[int, ...]
    """When each of its pictures is shown, nanoseconds from its start, in order."""


class CameraView(msgspec.Struct, frozen=True, kw_only=True):
    """One camera, and how the felt lies in its picture."""

    name: str
    width_px: int
    height_px: int
    flat_from_mm: tuple[tuple[float, ...], ...]
    """``(3, 3)`` homography from the felt to the pixels of a lens that bends nothing."""
    lens: Lens | None
    pictures: str
    """Where its picture of a time is: add ``?at=`` and nanoseconds."""
    start_ns: int
    """The table's time where its live video stands at 0 s."""
    live: str | None
    """Where its video is while it is recorded; of a closed recording there is none."""
    clip: ClipView | None
    """Of a round that was recorded."""


class FootageView(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to see of a session or a round."""

    layout: TableLayout
    is_own_layout: bool
    """Whether the layout is the table's own; otherwise a shipped one with enough spots."""
    currency: str | None
    cameras: tuple[CameraView, ...]
    missing: tuple[str, ...]
    """Why there is no picture of a camera that was recorded."""
