"""A simulated table that deals, errs and pays from a seed, and writes sessions."""
