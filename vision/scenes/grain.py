"""The noise of a simulated camera's sensor."""

import cv2
import numpy as np

from vision.scenes.look import Look
from vision.scenes.sprites import Image


class Grain:
    """The sensor's noise: one field, at another offset for every frame."""

    _SPARE = 64

    def __init__(self, look: Look) -> None:
        self._seed, self._size = look.seed, (look.height_px, look.width_px)
        self._silent = look.noise_sigma <= 0
        if self._silent:
            return
        rng = np.random.default_rng((look.seed, 3))
        shape = look.height_px + self._SPARE, look.width_px + self._SPARE
        grey = rng.standard_normal(shape, np.float32)[..., None]
        colour = rng.standard_normal((*shape, 3), np.float32)
        noise = np.rint((0.85 * grey + 0.5 * colour) * look.noise_sigma)
        self._more = np.clip(noise, 0, 255).astype(np.uint8)
        self._less = np.clip(-noise, 0, 255).astype(np.uint8)

    def on(self, picture: Image, index: int) -> Image:
        """Return the picture with the noise of frame ``index``."""
        if self._silent:
            return picture.copy()
        y, x = np.random.default_rng((self._seed, 4, index)).integers(0, self._SPARE, 2)
        part = np.s_[y : y + self._size[0], x : x + self._size[1]]
        noisy = np.asarray(cv2.add(picture, self._more[part]), np.uint8)
        cv2.subtract(noisy, self._less[part], noisy)
        return noisy
