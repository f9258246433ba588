"""Devices at the table: cameras, shoe readers, bet plates."""
