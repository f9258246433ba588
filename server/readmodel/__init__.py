"""The content of the journals, kept ready for reading."""
