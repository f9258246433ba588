"""Change every line of the rules engine in every way mutmut knows, and see what notices.

``python -m lab.mutation`` prints a row a module and the survivors under it; it takes a while.
Needs mutmut 3.8 (``pip install mutmut==3.8.1``). ``PITWATCH_INTERPRETED=1`` must be set: the
compiled form of the engine has no code to exchange.
"""

import argparse
import gc
import os
from collections.abc import Sequence

from lab.mutation.asked import checks
from lab.mutation.judging import Judge, Verdict
from lab.mutation.mutants import MODULES, Mutant, difference, mutants
from lab.mutation.typing_of import refused
from settlement import COMPILED


def _row(module: str, results: Sequence[Verdict]) -> str:
    left = len([verdict for verdict in results if not verdict.by])
    killed = len(results) - left
    share = f"{100 * killed / len(results):.1f}%"
    return " | ".join(map(str, (module, len(results), killed, left, share)))


def _survivor(mutant: Mutant, untyped: frozenset[Mutant]) -> str:
    """Show what a mutant changes, with a word where the type checker refuses it."""
    named = f"{mutant} (refused by mypy)" if mutant in untyped else str(mutant)
    return f"\n{named}\n{difference(mutant)}"


def main() -> None:
    """Judge the mutants of the modules named, or of all."""
    parser = argparse.ArgumentParser(prog="python -m lab.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES, metavar="MODULE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--types", action="store_true", help="print which survivors mypy refuses")
    given = parser.parse_args()
    if COMPILED:
        parser.error("the compiled engine has no code to exchange: set PITWATCH_INTERPRETED=1")
    judge, untyped = Judge(checks()), refused() if given.types else frozenset()
    gc.freeze()
    for module in given.modules:
        print("\nmodule | mutants | noticed | survive | killed")
        results = list(judge.results(mutants(module), given.jobs))
        print(_row(module, results), flush=True)
        for verdict in results:
            if not verdict.by:
                print(_survivor(verdict.mutant, untyped), flush=True)


if __name__ == "__main__":
    main()
