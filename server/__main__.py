"""``python -m server`` is ``pitwatch``."""

from server.cli import main

if __name__ == "__main__":
    main()
