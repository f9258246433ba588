"""The program as a process: exit status, signals, files, terminal."""
