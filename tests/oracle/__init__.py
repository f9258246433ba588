"""The engine held against exact expected values of blackjack that were reckoned elsewhere."""
