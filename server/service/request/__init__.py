"""What every route asks of a request: who, what they may see, and the parts of the service."""
