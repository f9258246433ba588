"""The networks: one finds indices and backs in a tile, two read rectified indices and faces.

They consist of blocks of ``ultralytics``; heads and training loop are our own.
"""

import torch
from torch import Tensor, nn
from ultralytics.nn.modules import C3k2, Conv

from vision.corners import PATCH_PX
from vision.languages import SIGNS

DETECTOR_CHANNELS = 14
"""Per cell, four pixels square: heat of left index, right-hand index and back; offset of the
point in cells (2); travel in card widths of 64 px to the card's top (2) and right (2) for an
index; double angle (2), log width over 64 px (1) and vector to the card's middle in 64 px (2)
for a back."""


class Detector(nn.Module):
    """Heat map of index anchors and backs, ``(B, 3, H, W)`` BGR 0..1 to ``(B, 14, H/4, W/4)``."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = Conv(3, 16, 3, 2)
        self.quarter = nn.Sequential(Conv(16, 24, 3, 2), C3k2(24, 32, 1))
        self.eighth = nn.Sequential(Conv(32, 64, 3, 2), C3k2(64, 64, 1))
        self.sixteenth = nn.Sequential(Conv(64, 112, 3, 2), C3k2(112, 112, 1), C3k2(112, 112, 1))
        self.grow = nn.Upsample(scale_factor=2, mode="nearest")
        self.join_eighth = C3k2(112 + 64, 64, 1)
        self.join_quarter = C3k2(64 + 32, 40, 1)
        self.head = nn.Sequential(Conv(40, 48, 3), nn.Conv2d(48, DETECTOR_CHANNELS, 1))
        with torch.no_grad():
            self.head[-1].bias[:3] = -4.5

    def forward(self, tile: Tensor) -> Tensor:
        """Return the head's raw channels; heats are logits."""
        quarter = self.quarter(self.stem(tile))
        eighth = self.eighth(quarter)
        wide = self.join_eighth(torch.cat([self.grow(self.sixteenth(eighth)), eighth], 1))
        return self.head(self.join_quarter(torch.cat([self.grow(wide), quarter], 1)))


def _conv(inward: int, outward: int, *, size: int = 3, stride: int = 1) -> nn.Module:
    """Return convolution, normalisation, rectifier: a third of smoother ones' cost on a CPU."""
    conv = nn.Conv2d(inward, outward, size, stride, size // 2, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outward), nn.ReLU(inplace=True))


class Again(nn.Module):
    """A convolution with a residual connection."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.more = _conv(channels, channels)

    def forward(self, seen: Tensor) -> Tensor:
        """Keep the shape."""
        return seen + self.more(seen)


class Classifier(nn.Module):
    """Reads index patches: ``(B, 3, 64, 40)`` BGR 0..255 to rank (14) and suit (4) logits.

    The fourteenth rank is "not an index". Six more numbers give the patch's misplacement, as in
    ``vision.corners.bend_between``; the last is the logit of a right-hand corner.
    """

    def __init__(self) -> None:
        super().__init__()
        across, down = PATCH_PX[0] // 8, PATCH_PX[1] // 8
        self.look = nn.Sequential(
            nn.PixelUnshuffle(2),
            _conv(12, 24),
            _conv(24, 56, stride=2),
            Again(56),
            _conv(56, 112, stride=2),
            Again(112),
            _conv(112, 32, size=1),
            nn.Flatten(),
            nn.Dropout(0.1),
            nn.Linear(32 * across * down, 128),
            nn.ReLU(),
        )
        self.rank, self.suit, self.bend, self.hand = (nn.Linear(128, n) for n in (14, 4, 6, 1))

    def forward(self, patch: Tensor) -> Tensor:
        """Return ranks, "not an index", suits, bend and hand, after normalising each patch."""
        seen = self.look(levelled(patch))
        return torch.cat([head(seen) for head in (self.rank, self.suit, self.bend, self.hand)], 1)


class LettersReader(nn.Module):
    """Tells the letters of the world apart: ``(B, 3, 64, 40)`` BGR 0..255 to logits of the signs.

    It looks as :class:`Classifier` does; the signs are those of ``vision.languages``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.look = Classifier().look
        self.sign = nn.Linear(128, len(SIGNS))

    def forward(self, patch: Tensor) -> Tensor:
        """Return the signs' logits, after normalising each patch."""
        return self.sign(self.look(levelled(patch)))


class FaceReader(nn.Module):
    """Reads whole cards: ``(B, 3, 104, 76)`` BGR 0..255 to rank (14) and suit (4) logits.

    The fourteenth rank is "no such card".
    """

    def __init__(self) -> None:
        super().__init__()
        self.look = nn.Sequential(
            nn.PixelUnshuffle(4),
            _conv(48, 48),
            Again(48),
            _conv(48, 96, stride=2),
            Again(96),
            _conv(96, 128, stride=2),
            Again(128),
            _conv(128, 40, size=1),
            nn.Flatten(),
            nn.Dropout(0.1),
            nn.Linear(40 * 7 * 5, 160),
            nn.ReLU(),
        )
        self.rank, self.suit = nn.Linear(160, 14), nn.Linear(160, 4)

    def forward(self, face: Tensor) -> Tensor:
        """Return ranks, "no card", and suits, after normalising each face."""
        seen = self.look(levelled(face))
        return torch.cat([self.rank(seen), self.suit(seen)], 1)


def levelled(picture: Tensor) -> Tensor:
    """Normalise each picture of a batch to mean 0 and spread 1."""
    mean = picture.mean((1, 2, 3), keepdim=True)
    spread = (picture - mean).pow(2).mean((1, 2, 3), keepdim=True).sqrt() + 8
    return (picture - mean) / spread
