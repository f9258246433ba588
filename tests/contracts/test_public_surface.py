"""Whoever changes what people and programs rely on changes the list of it."""

import runpy
from pathlib import Path


def test_the_list_of_the_public_surface_is_the_programs() -> None:
    """Run ``scripts/public-surface`` where they differ, and read its changes."""
    script = runpy.run_path("scripts/public-surface")
    listed: Path = script["FILE"]
    assert script["surface"]().splitlines() == listed.read_text("utf-8").splitlines()
