"""Frames in, card observations out. Only :mod:`vision.training` uses torch and ultralytics."""
