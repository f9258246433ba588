"""One bench a file: what it measures, its command and its options are in its docstring."""
