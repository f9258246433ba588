"""Sweeps of the engine against exact values: ``python -m lab.oracle``, ``lab.oracle.side_bets``."""
