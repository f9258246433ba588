"""Many sessions: settled again, exported, taken out as proof."""
