"""The shipped session: five rounds of 120 s, with a dealer's mistake and a wrong payment."""

from pathlib import Path
from typing import Final

SESSION: Final = Path(__file__).parent / "session"
