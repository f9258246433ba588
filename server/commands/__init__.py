"""The work and output of each command."""
