"""The table of odds says what was counted."""

import ast
from itertools import pairwise

import pytest

from lab.bench.prices import PRICES, Price
from lab.bench.record import RESULTS, ROOT, load

TABLE = ROOT / "settlement" / "reckoning" / "odds.py"


def said() -> dict[str, str]:
    """Return what the table says of each of its numbers."""
    body = ast.parse(TABLE.read_text("utf-8")).body
    return {
        node.target.id: " ".join(text.value.value.split())
        for node, text in pairwise(body)
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


@pytest.mark.parametrize("price", PRICES, ids=[one.what for one in PRICES])
def test_a_price_that_something_shows_says_its_count(price: Price) -> None:
    (run,) = load(RESULTS / "prices.json").runs
    (claim,) = [one for one in run.claims if one.claim == f"{price.name}: {price.what}"]
    count = f"{claim.value:,}" if claim.of is None else f"{claim.value:,} of {claim.of:,}"
    assert count in said()[price.name]
