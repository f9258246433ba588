"""Whether the tests of the rules engine would notice a change of any line of it."""
