"""The house's settings: time zone, formats, words, rulebooks and their citations."""
