"""Random rounds against an independent reckoning, as many as asked: legal ones, and mistakes.

``python -m lab.bench.random_rounds --rounds 1000000 --rulebook all`` plays a million legal rounds
under each shipped rulebook and counts those whose settlement or violations are not what the table
knows them to be. ``--mistakes 1000`` commits every mistake that a rulebook can see so often
besides; ``--houses 100`` adds houses whose knobs are set by chance. ``--busy`` plays tables at
which other bettors wager, tokes, coupons and side bets are laid, the floor rules, and the tray
changes.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from models.rulebook import Rulebook
from tests.settlement.plain.busy import Busy
from tests.settlement.plain.checking import disagreements
from tests.settlement.plain.game import Game
from tests.settlement.plain.houses import any_house, with_hole_card
from tests.settlement.plain.slips import WAYS
from tests.settlement.table import IDS, rules
from tests.settlement.test_random_side_bets import with_bets

_TABLE = 50
"""Rounds at one table."""
_SHOWN = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run what the command line asks for; 1 if anything was settled otherwise than expected."""
    asked = _parser().parse_args(argv)
    names = IDS if asked.rulebook == "all" else (asked.rulebook,)
    books = [rules(name) for name in names]
    books += [any_house(f"{asked.seed}:{number}") for number in range(asked.houses)]
    print(f"{'rulebook':20} {'rounds':>10} {'mistakes':>9} {'differ':>7} {'rounds/s':>9}")
    wrong = 0
    with ProcessPoolExecutor(asked.jobs) as pool:
        for book in books:
            wrong += _played(book, asked, pool)
    return 1 if wrong else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=20_000)
    parser.add_argument("--mistakes", type=int, default=0)
    parser.add_argument("--rulebook", choices=("all", *IDS), default="all")
    parser.add_argument("--houses", type=int, default=0)
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=1)
    return parser


def _played(book: Rulebook, asked: argparse.Namespace, pool: ProcessPoolExecutor) -> int:
    tables = -(-asked.rounds // _TABLE)
    seeds = [f"{asked.seed}:{book.id}:{number}" for number in range(tables)]
    started = time.perf_counter()
    play = partial(_legal, book, Busy if asked.busy else Game)
    found = [line for lines in pool.map(play, seeds, chunksize=50) for line in lines]
    rate = tables * _TABLE / (time.perf_counter() - started)
    erred = [(code, seed) for code in WAYS for seed in _seeds(asked)]
    made = 0
    for done, lines in pool.map(partial(_erring, book), erred, chunksize=50):
        made += done
        found += lines
    print(
        f"{book.id:20} {tables * _TABLE:>10,} {made:>9,} {len(found):>7} {rate:>9,.0f}", flush=True
    )
    for line in found[:_SHOWN]:
        print(f"    {line}", flush=True)
    return len(found)


def _seeds(asked: argparse.Namespace) -> Iterator[str]:
    return (f"{asked.seed}:{number}" for number in range(asked.mistakes))


def _legal(book: Rulebook, kind: type[Game], seed: str) -> list[str]:
    book = with_bets(book, seed) if kind is Busy else book
    found = disagreements(book, kind(book, seed).rounds(_TABLE))
    return [f"table {seed}: {line}" for line in found]


def _erring(book: Rulebook, what: tuple[str, str]) -> tuple[int, list[str]]:
    code, seed = what
    book, way = with_hole_card(book), WAYS[code]
    if not way.possible(book, code):
        return 0, []
    game = way(book, seed, code)
    found = list(disagreements(book, game.rounds_until_made()))
    return int(not game.pending), [f"{code}, table {seed}: {line}" for line in found]


if __name__ == "__main__":
    raise SystemExit(main())
