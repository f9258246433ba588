"""Campaigns of faults: many seeds of what ``tests/faults`` does a few times."""
