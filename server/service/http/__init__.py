"""The HTTP layer around requests: connections, headers, refusals, metrics."""
