"""The page of a session: every round with its evidence, in one self-contained file."""
