"""The house edge of every rulebook with a published one: ``python -m lab.oracle.best_play``."""

import sys

from tests.oracle.best_play import TOLERANCE_POINTS, BestPlay, published, rules


def main() -> int:
    """Print each published edge beside the computed one; 1 where one is too far off."""
    print(f"{'rulebook':<44}{'published':>10}{'computed':>11}")
    off = 0
    for one in published():
        found = BestPlay(rules(one)).edge_percent()
        far = abs(found - one.edge_percent) > TOLERANCE_POINTS
        off += far
        print(
            f"{' '.join((one.rulebook, *one.settings)):<44}{one.edge_percent:>9.2f}%"
            f"{found:>10.4f}%{'  too far off' if far else ''}"
        )
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
