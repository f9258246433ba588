"""Decks learnt once: what each card of a deck looks like, and reading and judging cards by it."""
