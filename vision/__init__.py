"""Frames in, card observations out. torch and ultralytics only in :mod:`vision.training`."""
