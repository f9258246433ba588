"""A shoe game told by hand, as the reckoning reads it."""

from settlement.reckoning import Inference
from tests.settlement import felt_scene


class Scene(felt_scene.Scene):
    """A shoe game, one thing after another."""

    inference: Inference = "reckoning"
