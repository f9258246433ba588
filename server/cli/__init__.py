"""The command line: arguments and help, one file a group of commands."""
