"""Who may do what, and what they did."""
