"""The vocabulary of the table: cards, money, events, rulebooks, layout, errors. No I/O."""
