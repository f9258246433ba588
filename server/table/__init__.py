"""One table at work, live or replayed."""
