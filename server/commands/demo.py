"""``make demo``: the shipped session from pixels and bytes to payouts, with a page.

It succeeds only if every round matches the truth, and the dealer's mistake and the wrong payment in
it are named.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from models.errors import PitwatchError
from models.judgements import RoundResult, Violation
from server.commands.replay import Outputs, play_and_write, print_tables
from server.demo import SESSION
from server.house.wording import with_pips
from server.process.exit_status import Exit
from server.process.terminal import screen
from server.table.comparison import Comparison, tally
from server.table.replay import ReplayOptions

REPORT: Final = Path("report.html")
ROUNDS: Final = 5
PAYMENT: Final = "wrong_payout"


def main() -> None:
    """Run the demo; exit with 0 only if it showed everything expected."""
    try:
        sys.exit(run())
    except PitwatchError as refusal:
        print(f"pitwatch: {refusal}", file=sys.stderr)
        sys.exit(Exit.REFUSED)


def run() -> Exit:
    """Replay the demo session, print its results, and return the exit status."""
    outputs = Outputs(report=REPORT, force=True)
    replayed, stopwatch = play_and_write(ReplayOptions(SESSION, pictures=True), outputs)
    console = screen()
    print_tables(console, replayed, stopwatch, outputs)
    console.print()
    return closing(console, replayed.rounds, replayed.comparisons or (), REPORT)


def closing(
    console: Console,
    rounds: Sequence[RoundResult],
    comparisons: Sequence[Comparison],
    report: Path,
) -> Exit:
    """Print in a few lines what was expected, and whether it was shown."""
    counted = tally(comparisons)
    found = [one for result in rounds for one in result.mistakes]
    payments = [violation for violation in found if violation.code == PAYMENT]
    mistakes = [violation for violation in found if violation.spot is None]
    shown = (
        (
            f"{counted.exact} of {ROUNDS} rounds settled exactly as they happened",
            counted.exact == counted.rounds == ROUNDS,
        ),
        _caught("the dealer's mistake", mistakes),
        _caught("the wrong payment", payments),
        (f"the report is at {report}", report.is_file()),
    )
    for text, good in shown:
        mark = Text("✓ " if good else "✗ ", style="bold green" if good else "bold red")
        console.print(mark.append(text, style="bold"))
    console.print("see it in your browser: .venv/bin/pitwatch console")
    return Exit.CLEAN if all(good for _, good in shown) else Exit.FINDINGS


def _caught(what: str, violations: list[Violation]) -> tuple[str, bool]:
    if not violations:
        return f"{what} was not caught", False
    each = (f"{one.code}: {with_pips(one.detail)}" for one in violations)
    return f"{what} was caught: {'; '.join(each)}", True


if __name__ == "__main__":
    main()
