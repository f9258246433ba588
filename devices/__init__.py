"""Everything plugged into the table: cameras, shoe readers, bet plates."""
