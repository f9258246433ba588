"""``python -m pitwatch`` is ``pitwatch``."""

from pitwatch import main

if __name__ == "__main__":
    main()
