"""Learnt decks: the look of each card, and reading and checking cards by it."""
