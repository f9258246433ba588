"""The page of a session: every round with what it rests on, in one file of its own."""
