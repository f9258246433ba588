"""How well real photographs are read: the figures as they are, a line a set."""
