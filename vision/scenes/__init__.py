"""Simulated pictures of a table: deck art, felt, chips, hands, light and lens, from a seed."""
