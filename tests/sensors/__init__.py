"""Sensors that err, by a seed: the tests and the lab hear simulated sessions through them."""
