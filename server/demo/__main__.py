"""``python -m server.demo`` is ``make demo``."""

from server.demo.showing import main

if __name__ == "__main__":
    main()
