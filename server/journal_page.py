"""``pitwatch journal verify``: is the record what was written?"""

from pathlib import Path

from rich.text import Text

from server.console import print_json, screen
from server.wording import counted
from stream.journal import verify_journal


def show_verified(file: Path, *, as_json: bool) -> None:
    """Check a journal and say so; raises ``TechnicianError`` naming the first bad entry."""
    found = verify_journal(file)
    if as_json:
        print_json(
            {
                "file": str(file),
                "entries": found.entries,
                "head": found.head,
                "sealed": found.sealed,
            }
        )
        return
    line = Text("intact", style="bold green")
    line.append(f"  {file}: {counted(found.entries, 'entry', 'entries')}, chain unbroken")
    line.append(f"\nhead {found.head}", style="dim")
    if not found.sealed:
        line.append("\nnot closed in order, so only its entries are proved", style="yellow")
    screen().print(line)
