"""Pictures and reports of a round."""
