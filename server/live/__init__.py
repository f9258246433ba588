"""One live table in one process: what ``pitwatch run`` wires together."""
