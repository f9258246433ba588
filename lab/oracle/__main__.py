"""The engine held against exact values: ``python -m lab.oracle``.

Each rule set of FILE has a fixed strategy and its exact worth. Players who follow it are dealt
first rounds of fresh shoes; the facts go through the engine, and what the engine settles is
averaged. The engine also has to find every round legal: a violation fails the run and is shown.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from models.errors import InputRefused, OperatorError, PitwatchError
from tests.oracle.measuring import Asked, Block, Measured, RoundFaulted, blocks, measured, played
from tests.oracle.rule_sets import SHIPPED, RuleSet, read

HOLDS, REFUSED, DIFFERS = 0, 2, 3

_EPILOG: Final = """\
A line of FILE is one rule set, as JSON:
  name          what --name calls it
  decks         1 to 8
  soft17        "H17" the dealer hits soft 17, "S17" he stands
  double        "any2", "9-11" or "10-11": the first two cards that may be doubled
  double_soft   whether soft hands may be doubled; where totals are named, an ace counting 1
  das           double after split
  max_hands     the most hands one may be split into
  rsa           re-split aces (a split ace always gets one card)
  late_surrender  only where the dealer looks: it does not stand against a blackjack
  bj_pay        1.5 for 3:2, 1.2 for 6:5
  peek          optional, true: the dealer looks for a blackjack before the players act; false:
                doubles and splits are lost to one as well
  ev_pct_TD     the exact worth of the strategy, in % of the first wager
  td            the strategy: for h4 ... h20 (hard), s12 ... s21 (soft), p1 ... p10 (pairs), three
                words: first decision, with three or more cards, with two cards after a split;
                each has a letter for the dealer's 2 3 4 5 6 7 8 9 T A: H hit, S stand,
                D double or else hit, P split, R surrender. A pair that is split is split again
                as often as it may be.

exit status: 0 every mean lies within three standard errors of the exact value; 3 one does not, or
the engine found fault with a round; 2 the file or the command is refused, by line and field.

example, about 20 million hands of one set on two cores, to be stopped and gone on with at will:
  python -m lab.oracle tests/oracle/rule_sets.jsonl --name 6d_h17_das \\
      --rounds 20000000 --jobs 2 --keep blocks.jsonl
"""

_HEAD: Final = (
    f"{'rule set':<28}{'hands':>12}{'mean %':>10}{'s.e.':>9}{'exact %':>10}"
    f"{'off, s.e.':>11}{'hands/core s':>14}"
)


class Kept:
    """Blocks already played, in a file that grows a line a block; or nowhere."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._blocks: dict[Asked, Block] = {}
        if path is not None and path.exists():
            for line, text in enumerate(path.read_bytes().splitlines(), 1):
                block = _block(text, path, line)
                self._blocks[block.asked] = block

    def among(self, asked: Iterable[Asked]) -> list[Block]:
        """Return those of the blocks asked for that are kept."""
        return [self._blocks[block] for block in asked if block in self._blocks]

    def kept(self, blocks_: Iterable[Block]) -> Iterator[Block]:
        """Write each block down as it comes, and pass it on."""
        for block in blocks_:
            if self._path is not None:
                with self._path.open("ab") as file:
                    file.write(msgspec.json.encode(block) + b"\n")
            yield block


def _block(text: bytes, path: Path, line: int) -> Block:
    try:
        return msgspec.json.decode(text, type=Block)
    except msgspec.DecodeError as fault:
        raise InputRefused(
            source=str(path), line=line, field="line", expected="a block", found=str(fault)
        ) from fault


def measure(rule_set: RuleSet, asked: Iterable[Asked], jobs: int, kept: Kept) -> Measured:
    """Play what is asked of one rule set and not yet kept, and sum it all up."""
    wanted = tuple(asked)
    had = kept.among(wanted)
    done = {block.asked for block in had}
    left = [block for block in wanted if block not in done]
    return measured(rule_set, [*had, *kept.kept(played(rule_set, left, jobs))])


def row(measured: Measured) -> str:
    """Write one rule set's line of the table."""
    verdict = "" if measured.holds else "  <- beyond three"
    return (
        f"{measured.name:<28}{measured.hands:>12,}{measured.mean_pct:>+10.4f}{measured.error_pct:>9.4f}"
        f"{measured.exact_pct:>+10.4f}{measured.errors_off:>+11.2f}"
        f"{measured.hands_a_core_second:>14,.0f}{verdict}"
    )


def main(words: list[str] | None = None) -> int:
    """Run the command; return its exit status."""
    options = _options().parse_args(words)
    try:
        chosen = _chosen(read(options.file), options.name, options.file)
        kept = Kept(options.keep)
    except PitwatchError as refused:
        print(refused, file=sys.stderr)
        return REFUSED
    print(_HEAD, flush=True)
    held = True
    for rule_set in chosen:
        asked = blocks(rule_set, options.rounds, options.spots, options.seed)
        try:
            result = measure(rule_set, asked, options.jobs, kept)
        except RoundFaulted as fault:
            print(f"{rule_set.name}: {fault}", flush=True)
            held = False
            continue
        print(row(result), flush=True)
        held = held and result.holds
    return HOLDS if held else DIFFERS


def _chosen(sets: tuple[RuleSet, ...], names: list[str], file: Path) -> tuple[RuleSet, ...]:
    known = {rule_set.name for rule_set in sets}
    for name in names:
        if name not in known:
            raise OperatorError(
                f"no rule set is called {name!r}",
                where=str(file),
                way_out=f"It has {', '.join(sorted(known))}",
            )
    return tuple(rule_set for rule_set in sets if not names or rule_set.name in names)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lab.oracle",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", nargs="?", type=Path, default=SHIPPED, metavar="FILE",
        help="rule sets, JSON Lines (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--name", action="append", default=[], help="only this set; may be given again"
    )
    parser.add_argument(
        "--rounds", type=_rounds, default=200_000,
        help="rounds a set, each from a fresh shoe (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--spots", type=_spots, default=1,
        help="spots played in a round, 1 to 7: as many hands for each round, but with one dealer"
        " in common they count less than as many rounds (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=1, help="other cards (default: %(default)s)")
    parser.add_argument(
        "--jobs", type=_jobs, default=1, help="processes side by side (default: %(default)s)"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FILE",
        help="write down what is played, and go on from what was written before",
    )  # fmt: skip
    return parser


def _rounds(text: str) -> int:
    return _number(text, 100, None)


def _spots(text: str) -> int:
    return _number(text, 1, 7)


def _jobs(text: str) -> int:
    return _number(text, 1, 64)


def _number(text: str, least: int, most: int | None) -> int:
    limits = f"{least} or more" if most is None else f"{least} to {most}"
    if not text.isdecimal() or int(text) < least or (most is not None and int(text) > most):
        raise argparse.ArgumentTypeError(f"expected {limits}, found {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
