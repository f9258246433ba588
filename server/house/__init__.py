"""The house's own: time zone, formats, words, rulebooks and their citations."""
