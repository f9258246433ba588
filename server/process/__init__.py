"""How the program runs on its machine: exit status, signals, files, terminal."""
