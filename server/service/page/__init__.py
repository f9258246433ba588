"""The console's page for browsers."""
