"""A request's common parts: the person, their view, and the parts of the service."""
