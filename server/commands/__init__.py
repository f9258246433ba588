"""What each command does and prints."""
