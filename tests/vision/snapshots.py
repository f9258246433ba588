"""Photographs of one card of a deck at a time, as somebody takes them who shows it round."""

from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from models.cards import Card
from vision.scenes.decks import PX_PER_MM, Deck

SIZE = (640, 480)


@cache
def _cloth(seed: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    coarse = rng.normal(0, 1, (12, 16, 1)).astype(np.float32)
    colour = rng.uniform(25, 120, 3).astype(np.float32)
    waves = cv2.resize(coarse, SIZE, interpolation=cv2.INTER_CUBIC)[..., None]
    return np.asarray(colour + 8 * waves, np.float32)


def snapshot(deck: Deck, card: Card | None, seed: int) -> NDArray[np.uint8]:
    """Photograph a card, or the back, lying on a cloth: turned, askew, shaded and noisy."""
    rng = np.random.default_rng([seed, 11])
    art = deck.back if card is None else deck.faces[card]
    picture = _cloth(seed % 5).copy()
    warp = _view(rng, art.shape[1], art.shape[0])
    reduced = cv2.GaussianBlur(art, (0, 0), 0.8)
    laid = np.asarray(cv2.warpPerspective(reduced, warp, SIZE), np.float32)
    share = laid[..., 3:] / np.float32(255)
    picture += share * (laid[..., :3] - picture)
    shade = np.linspace(rng.uniform(0.75, 1), rng.uniform(0.75, 1), SIZE[0])[None, :, None]
    blurred = cv2.GaussianBlur(picture * shade, (0, 0), rng.uniform(0.4, 1.0))
    noisy = blurred + rng.normal(0, 3, blurred.shape)
    return np.asarray(np.clip(noisy, 0, 255), np.uint8)


FAN_SIZE = (960, 720)
FANNED_DEG = 9.0
"""Degrees between two cards of a fan."""


def fan(deck: Deck, cards: Sequence[Card], seed: int) -> NDArray[np.uint8]:
    """Photograph cards spread as one holds a hand: of all but the last one index is open."""
    picture = cv2.resize(_cloth(seed % 5), FAN_SIZE)
    for card, corners in zip(cards, fanned(deck, len(cards), seed), strict=True):
        art = deck.faces[card]
        warp = cv2.getPerspectiveTransform(_edges(art.shape[1], art.shape[0]), corners)
        laid = cv2.warpPerspective(cv2.GaussianBlur(art, (0, 0), 0.8), warp, FAN_SIZE)
        laid = np.asarray(laid, np.float32)
        picture += laid[..., 3:] / np.float32(255) * (laid[..., :3] - picture)
    noise = np.random.default_rng([seed, 13]).normal(0, 3, picture.shape)
    noisy = cv2.GaussianBlur(picture, (0, 0), 0.6) + noise
    return np.asarray(np.clip(noisy, 0, 255), np.uint8)


def fanned(deck: Deck, count: int, seed: int) -> NDArray[np.float32]:
    """Where the cards of a fan lie, ``(count, 4, 2)`` pixels, the last one on top."""
    rng = np.random.default_rng([seed, 12])
    height, width = deck.back.shape[:2]
    scale = rng.uniform(0.65, 0.8) * 4 / PX_PER_MM
    pivot = np.array([FAN_SIZE[0] / 2, FAN_SIZE[1] * 0.85]) + rng.uniform(-30, 30, 2)
    first = -FANNED_DEG * (count - 1) / 2 + rng.uniform(-8, 8)
    angles = np.deg2rad(first + FANNED_DEG * np.arange(count) + rng.normal(0, 0.7, count))
    held = (_edges(width, height) - [width / 2, height * 0.95]) * scale
    turns = [np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) for a in angles]
    return np.asarray([held @ turn + pivot for turn in turns], np.float32)


def _edges(width: int, height: int) -> NDArray[np.float32]:
    return np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32) - 0.5


def aslant(deck: Deck, card: Card) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Photograph a card from low beside a table; return its corners too, ``(4, 2)`` pixels."""
    art = deck.faces[card]
    height, width = art.shape[:2]
    corners = np.array([(210, 150), (405, 160), (420, 365), (185, 350)], np.float32)
    whole = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32) - 0.5
    warp = cv2.getPerspectiveTransform(whole, corners)
    laid = np.asarray(cv2.warpPerspective(cv2.GaussianBlur(art, (0, 0), 0.8), warp, SIZE), float)
    share = laid[..., 3:] / 255
    picture = _cloth(2) * (1 - share) + laid[..., :3] * share
    return np.asarray(np.clip(picture, 0, 255), np.uint8), corners


def outline(deck: Deck, seed: int) -> NDArray[np.float32]:
    """Where the card lies in a snapshot, ``(4, 2)`` pixels, clockwise from its own top left."""
    height, width = deck.back.shape[:2]
    warp = _view(np.random.default_rng([seed, 11]), width, height)
    card = np.array([[[0, 0], [width, 0], [width, height], [0, height]]], np.float32) - 0.5
    return np.asarray(cv2.perspectiveTransform(card, warp)[0], np.float32)


def _view(rng: np.random.Generator, width: int, height: int) -> NDArray[np.float64]:
    scale = rng.uniform(0.55, 0.95) * 4 / PX_PER_MM
    angle = rng.uniform(0, 2 * np.pi)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, s], [-s, c]])
    outline = (np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) - 0.5) * [width, height] * scale
    corners = outline @ turn + np.array(SIZE) / 2 + rng.uniform(-25, 25, 2)
    corners += rng.normal(0, 3, corners.shape)
    art = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32) - 0.5
    warp = cv2.getPerspectiveTransform(art, corners.astype(np.float32))
    return np.asarray(warp, np.float64)
