"""Where objects are wired together: configuration, command line, reports."""
