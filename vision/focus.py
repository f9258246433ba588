"""The blur of a picture, from its own edges, for any content and light."""

from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

# Chosen, not measured, unless a line says otherwise.
_FINE_PX: Final = 1.0  # sigma of the finer of two Gaussians
_COARSE_PX: Final = 2.4  # sigma of the coarser
_SHARPEST: Final = 0.002
"""Share of the pixels that count as edges: where brightness changes most."""
_BLUREST_PX: Final = 12.0  # sigma: a greater blur is not measured


def blur_px(gray: NDArray[np.uint8], edges: float = _SHARPEST) -> float:
    """Return the blur of a picture's sharpest edges, the sigma of a Gaussian in pixels.

    An edge of blur *s*, filtered by two Gaussians, changes by a ratio that depends on *s* alone. A
    flat picture without edges returns the largest measurable blur.
    """
    picture = gray.astype(np.float32)
    fine, coarse = (_steepness(picture, sigma) for sigma in (_FINE_PX, _COARSE_PX))
    level = np.quantile(coarse, 1 - edges)
    chosen = coarse >= max(float(level), 1e-6)
    if not chosen.any():
        return _BLUREST_PX
    ratio = float(np.median(fine[chosen] / coarse[chosen]))
    if ratio <= 1.0:
        return _BLUREST_PX
    square = (_COARSE_PX**2 - ratio**2 * _FINE_PX**2) / (ratio**2 - 1)
    return float(np.clip(np.sqrt(max(square, 0.0)), 0.0, _BLUREST_PX))


def _steepness(picture: NDArray[np.float32], sigma: float) -> NDArray[np.float32]:
    soft = cv2.GaussianBlur(picture, (0, 0), sigma)
    across = cv2.Sobel(soft, cv2.CV_32F, 1, 0, ksize=3)
    down = cv2.Sobel(soft, cv2.CV_32F, 0, 1, ksize=3)
    return np.asarray(cv2.magnitude(across, down), np.float32)
