"""The house edge of every shipped side bet: ``python -m lab.oracle.side_bets``."""

import sys

from tests.oracle.side_bets import TOLERANCE, edge, published


def main() -> int:
    """Print each published edge beside the computed one; 1 where one is too far off."""
    print(f"{'side bet':<32}{'decks':>6} {'soft 17':<8}{'published':>10}{'computed':>11}")
    off = 0
    for one in published():
        found = edge(one.bet, one.decks, one.soft17)
        far = abs(found - one.edge) > TOLERANCE
        off += far
        print(
            f"{one.bet:<32}{one.decks:>6} {one.soft17:<8}{one.edge_percent:>9}%"
            f"{float(100 * found):>10.4f}%{'  too far off' if far else ''}"
        )
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
