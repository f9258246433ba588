"""Change every line of the rules engine in every way mutmut knows, and see what notices.

``python -m tests.mutation`` prints a row a module and lists the survivors; it takes a while.
Needs mutmut 3.8 (``pip install mutmut==3.8.1``). ``PITWATCH_INTERPRETED=1`` must be set: the
compiled form of the engine has no code to exchange.
"""

import argparse
import gc
import os
from collections.abc import Sequence

from settlement import COMPILED
from tests.mutation.asked import checks
from tests.mutation.judging import Judge, Verdict
from tests.mutation.mutants import MODULES, Mutant, difference, mutants
from tests.mutation.typing_of import refused


def _row(module: str, verdicts: Sequence[Verdict], untyped: frozenset[Mutant]) -> str:
    noticed = [verdict.mutant for verdict in verdicts if verdict.by]
    left = [v.mutant for v in verdicts if not v.by and v.mutant not in untyped]
    killed = len(verdicts) - len(left)
    share = f"{100 * killed / len(verdicts):.1f}%"
    cells = (module, len(verdicts), len(noticed), killed - len(noticed), len(left), share)
    return " | ".join(map(str, cells))


def main() -> None:
    """Judge the mutants of the modules named, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES, metavar="MODULE")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    if COMPILED:
        parser.error("the compiled engine has no code to exchange: set PITWATCH_INTERPRETED=1")
    judge, untyped = Judge(checks()), refused()
    gc.freeze()
    survivors: list[Mutant] = []
    print("module | mutants | noticed | refused by mypy only | survive | killed")
    for module in given.modules:
        verdicts = list(judge.verdicts(mutants(module), given.jobs))
        survivors += [v.mutant for v in verdicts if not v.by and v.mutant not in untyped]
        print(_row(module, verdicts, untyped), flush=True)
    for mutant in survivors:
        print(f"\n{mutant}\n{difference(mutant)}")


if __name__ == "__main__":
    main()
