"""Cameras: a table's pictures, each with the time it was taken."""
