"""Pictures and papers of a round."""
