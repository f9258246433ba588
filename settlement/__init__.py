"""Pure rules of the game: reconcile, play, judge, pay, post."""
