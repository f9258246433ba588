"""What the journals come to, kept ready to be read."""
