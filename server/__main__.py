"""``python -m server`` is ``pitwatch``."""

from server.cli.app import main

if __name__ == "__main__":
    main()
