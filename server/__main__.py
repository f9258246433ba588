"""``python -m server`` is ``pitwatch``."""

from server.commands.app import main

if __name__ == "__main__":
    main()
