"""The style of a generated deck."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Style:
    """The style of a generated deck. Colours are RGB."""

    font: Path
    rank_height: float = 7.0
    rank_width: float = 5.5
    """Largest width of a rank; wider ones are squeezed."""
    bold: float = 0.0
    """Thickness added around a rank's strokes."""
    suit_height: float = 5.5
    index_x: float = 5.5
    index_top: float = 4.0
    gap: float = 1.2
    suit_beside: bool = False
    four_indices: bool = False
    ten_narrow: bool = True
    colours: tuple[tuple[int, int, int], ...] = (
        (15, 15, 15),
        (205, 20, 30),
        (205, 20, 30),
        (15, 15, 15),
    )
    paper: tuple[int, int, int] = (252, 252, 250)
    pip_height: float = 13.0
    pip_shape: float = 0.0
    """Shape of the suits, from 0, plain, to 1, curled."""
    suits: int = 0
    """Seed of the suits' outlines; 0 for the usual ones."""
    signs: Path | None = None
    """A typeface that supplies the suits' signs; ``None`` for generated ones."""
    shading: int = 0
    """Seed of the ink's paling across a sign; 0 for even ink."""
    ranks: int = 0
    """Seed of the ranks' outlines; 0 for the typeface's own."""
    court: int = 0
    """Seed of the court panels' ornament."""
    figures: bool = False
    """Whether courts show figures beside a large pip on clear ground, not ornament only."""
    frame: bool = True
    letters: tuple[str, str, str, str] = ("A", "J", "Q", "K")
    """Signs of ace, jack, queen and king."""
    back: int = 0
    """Seed of the back's design."""
    back_colour: tuple[int, int, int] = (160, 25, 35)
    back_border: float = 3.5

    def sign(self, rank: str) -> str:
        """Return what stands in the corner of a card of that rank."""
        signs = dict(zip("AJQK", self.letters, strict=True)) | {"T": "10"}
        return signs.get(rank, rank)
