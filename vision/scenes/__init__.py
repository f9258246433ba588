"""Pictures of a table: deck art, felt, chips, hands, light and lens, drawn from a seed."""
