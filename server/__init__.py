"""The application: configuration, command line, live table, service, reports."""
