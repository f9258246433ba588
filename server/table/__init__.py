"""One table at work, live or in replay."""
