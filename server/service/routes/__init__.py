"""The routes; none imports another."""
