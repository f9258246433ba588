"""The effects of light and a camera on a training scene, widely varied."""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.training.backdrops import Picture


def photograph(
    rng: np.random.Generator, scene: Picture, severity: float = 1.0
) -> NDArray[np.uint8]:
    """Light a scene, blur it, add noise and compress it as a camera would."""
    harsh = severity * rng.random() ** 1.5
    picture = _light(rng, _paler(rng, scene), harsh)
    if rng.random() < 0.25:
        picture = _glare(rng, picture)
    if rng.random() < 0.25:
        picture = _shadow(rng, picture)
    picture = _blur(rng, picture, harsh)
    noise = rng.standard_normal(picture.shape, np.float32)
    picture += noise * np.float32(rng.uniform(0, 3 + 11 * harsh))
    seen = np.clip(picture, 0, 255).astype(np.uint8)
    if rng.random() < 0.2:
        soft = cv2.GaussianBlur(seen, (0, 0), rng.uniform(0.7, 1.5))
        gain = rng.uniform(0.3, 1.3)
        seen = np.asarray(cv2.addWeighted(seen, 1 + gain, soft, -gain, 0), np.uint8)
    if rng.random() < 0.75:
        seen = _compress(rng, seen)
    return np.asarray(seen, np.uint8)


def _paler(rng: np.random.Generator, scene: Picture) -> Picture:
    """Desaturate some scenes, partly or fully: grey cameras, and poor ones."""
    if rng.random() > 0.2:
        return scene
    grey = scene @ np.array([[0.114], [0.587], [0.299]], np.float32)
    share = np.float32(1.0 if rng.random() < 0.5 else rng.uniform(0.2, 0.9))
    return np.asarray(scene + share * (grey - scene), np.float32)


def _light(rng: np.random.Generator, scene: Picture, harsh: float) -> Picture:
    size = len(scene)
    if rng.random() < 0.5:
        scene = 255 * np.power(np.clip(scene / 255, 0, 1), np.exp(rng.normal(0, 0.3)))
    cast = np.exp(rng.normal(0, 0.02 + 0.13 * harsh, 3))
    gain = np.exp(rng.normal(-0.12, 0.12 + 0.3 * harsh))
    slope = rng.normal(0, 0.05 + 0.2 * harsh, 2)
    y, x = np.mgrid[0:size, 0:size] / size - 0.5
    ramp = np.clip(1 + slope[0] * x + slope[1] * y, 0.3, 1.7)[..., None]
    lift = rng.uniform(0, 25) * harsh
    return np.asarray(scene * (cast * gain) * ramp + lift, np.float32)


def _glare(rng: np.random.Generator, picture: Picture) -> Picture:
    size = len(picture)
    y, x = np.mgrid[0:size, 0:size].astype(np.float32)
    centre, reach = rng.uniform(0, size, 2), rng.uniform(0.05, 0.35, 2) * size
    spot = np.exp(-(((x - centre[0]) / reach[0]) ** 2) - ((y - centre[1]) / reach[1]) ** 2)
    return np.asarray(picture + (spot * rng.uniform(20, 140))[..., None], np.float32)


def _shadow(rng: np.random.Generator, picture: Picture) -> Picture:
    size = len(picture)
    mask = np.zeros((size, size), np.float32)
    points = rng.uniform(-0.3, 1.3, (4, 2)) * size
    cv2.fillPoly(mask, [points.astype(np.int32)], 1.0)
    soft = np.asarray(cv2.GaussianBlur(mask, (0, 0), rng.uniform(1.5, 14)), np.float32)
    return np.asarray(picture * (1 - soft * rng.uniform(0.15, 0.6))[..., None], np.float32)


def _blur(rng: np.random.Generator, picture: Picture, harsh: float) -> Picture:
    kind = rng.random()
    if kind < 0.15:
        length = int(rng.integers(2, 4 + round(5 * harsh)))
        kernel = np.zeros((length, length), np.float32)
        angle = rng.uniform(0, np.pi)
        middle = (length - 1) / 2
        reach = np.array([np.cos(angle), np.sin(angle)]) * middle
        start, end = np.round(middle - reach).astype(int), np.round(middle + reach).astype(int)
        cv2.line(kernel, start.tolist(), end.tolist(), 1.0)
        picture = np.asarray(cv2.filter2D(picture, -1, kernel / kernel.sum()), np.float32)
    elif kind < 0.75:
        reach_px = rng.uniform(0.3, 0.7 + 0.9 * harsh)
        picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), reach_px), np.float32)
    if rng.random() < 0.2:
        size, share = len(picture), rng.uniform(0.55, 0.95)
        small = cv2.resize(picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
        whole = cv2.resize(small, (size, size), interpolation=cv2.INTER_LINEAR)
        picture = np.asarray(whole, np.float32)
    return picture


def _compress(rng: np.random.Generator, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    quality = int(rng.integers(22, 96))
    _, packed = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)
