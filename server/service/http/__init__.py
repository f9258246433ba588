"""What surrounds a request: connections, headers, refusals, meters."""
