"""A viewer's data about a session's felt and cameras. Lengths are millimetres or pixels."""

import msgspec

from models.layout import TableLayout


class Lens(msgspec.Struct, frozen=True):
    """Lens distortion: flat pixels grow about the centre by ``1 + k1 r2 + k2 r4``."""

    focal_px: float
    centre_px: tuple[float, float]
    radial: tuple[float, float]


class ClipView(msgspec.Struct, frozen=True):
    """A round's video."""

    url: str
    from_ns: int
    """The table's time at a player's 0 s."""
    to_ns: int
    frames: tuple[int, ...]
    """Presentation time of each picture, nanoseconds from the start, in order."""


class CameraView(msgspec.Struct, frozen=True, kw_only=True):
    """One camera, and the felt in its picture."""

    name: str
    width_px: int
    height_px: int
    flat_from_mm: tuple[tuple[float, ...], ...]
    """``(3, 3)`` homography from the felt to the pixels of a lens without distortion."""
    lens: Lens | None
    pictures: str
    """Address of its pictures: add ``?at=`` and nanoseconds."""
    start_ns: int
    """The table's time at 0 s of its live video."""
    live: str | None
    """Address of its video during recording; a closed recording has none."""
    clip: ClipView | None
    """The clip of a recorded round."""


class FootageView(msgspec.Struct, frozen=True, kw_only=True):
    """The pictures and videos of a session or a round."""

    layout: TableLayout
    is_own_layout: bool
    """Whether the layout is the table's own; otherwise a shipped one with enough spots."""
    currency: str | None
    cameras: tuple[CameraView, ...]
    missing: tuple[str, ...]
    """The reasons for missing pictures of recorded cameras."""
