"""The console's page, as it is sent to browsers."""
